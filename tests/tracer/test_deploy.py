"""Launch lines as people write them: what starts an engine, with what, and what the file does not say."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from qtrace.tracer.deploy import dockerfile, documents, shell
from qtrace.tracer.deploy.found import Found, release_of
from qtrace.tracer.deploy.pairing import paired
from qtrace.tracer.deploy.repository import reader

MODULE = "vllm.entrypoints.openai.api_server"
DATA = Path(__file__).parent.parent / "data" / "deploy"


def read(name: str) -> list[Found]:
    found = reader(name)
    assert found is not None
    return list(found((DATA / name).read_text(encoding="utf-8")))


def line(found: Found) -> tuple[int, str]:
    return found.line, said(found)


def said(found: Found) -> str:
    return " ".join(word.text for word in found.words)


def only(text: str) -> Found:
    (found,) = shell.launches(text)
    return found


def test_a_script() -> None:
    first, container, module, last = read("run.sh")
    assert line(first) == (
        7,
        "vllm serve meta-llama/Llama-3.1-8B --quantization fp8 --kv-cache-dtype fp8 --port 8000 "
        "--tensor-parallel-size $TP",
    )
    assert first.environment == {"VLLM_USE_DEEP_GEMM": "0", "VLLM_LOGGING_LEVEL": "DEBUG"}
    assert first.unsaid == ("--tensor-parallel-size $TP",)
    assert line(container) == (12, "vllm serve --model meta-llama/Llama-3.1-8B -q gptq")
    assert container.release == "0.26.0"
    assert container.environment == {"VLLM_USE_V1": "1", "HF_TOKEN": "?"}  # and none of the host's
    assert line(module) == (
        13,
        "python3 -m vllm.entrypoints.openai.api_server --model X --quantization awq",
    )
    assert (line(last), last.unsaid) == ((14, "vllm serve Y $EXTRA"), ("$EXTRA",))


def test_a_dockerfile_starts_its_entry_point_with_its_command() -> None:
    (found,) = read("Dockerfile")
    assert line(found) == (
        3,
        "python3 -m vllm.entrypoints.openai.api_server --quantization fp8 --model m -q fp8",
    )
    assert (found.release, found.environment) == ("0.33.0", {"VLLM_MLA_DISABLE": "1"})


def test_stages_of_a_dockerfile() -> None:
    text = """ARG TAG=v0.26.0
FROM vllm/vllm-openai:${TAG} AS base
ENV VLLM_A=1 \\
    VLLM_B=2
CMD ["--model", "m"]
FROM base
ENV VLLM_B=3
CMD ["sh", "-c", "vllm serve n -q ${Q:-fp8}"]
FROM python:3.12
CMD vllm serve o
FROM vllm/vllm-openai:v0.33.0
ENTRYPOINT ["/start.sh"]
CMD ["--model", "p"]
"""
    first, second, third = dockerfile.launches(text)
    assert line(first) == (5, "vllm serve --model m")
    assert (first.release, first.environment) == ("0.26.0", {"VLLM_A": "1", "VLLM_B": "2"})
    assert said(second) == "vllm serve n -q fp8" and second.release == "0.26.0"
    assert second.environment["VLLM_A"] == "1"
    assert (line(third), third.environment) == ((10, "vllm serve o"), {})


def test_a_compose_file() -> None:
    served, shelled = read("compose.yaml")
    assert line(served) == (
        7,
        "vllm serve --model Qwen/Qwen3-8B --quantization fp8 --kv-cache-dtype fp8_e5m2",
    )
    assert served.environment == {"VLLM_USE_DEEP_GEMM": "1", "HF_TOKEN": "?"}
    assert served.release == "0.26.0"
    assert (line(shelled), shelled.environment) == ((13, "vllm serve Z -q awq --dtype half"), {"A": "1"})


def test_a_manifest_that_helm_fills_in() -> None:
    script, image, words = read("k8s.yaml")
    assert line(script) == (13, "vllm serve mistral --quantization $TEMPLATE --tensor-parallel-size 2")
    assert script.unsaid == ("--quantization $TEMPLATE",)
    assert script.environment == {"VLLM_ATTENTION_BACKEND": "FLASHINFER", "HF": "?"}
    assert script.release == "0.33.0"
    assert line(image) == (21, "vllm serve --model m --quantization=compressed-tensors")
    assert image.release is None
    assert line(words) == (24, "vllm serve big --kv-cache-dtype fp8")


def test_values_of_a_chart_and_the_engines_own_config() -> None:
    (values,) = read("values.yaml")
    assert line(values) == (
        10,
        "vllm serve meta-llama/Llama-3.1-8B-Instruct --dtype bfloat16 --tensor-parallel-size 2 "
        "--quantization fp8 --disable-log-requests",
    )
    assert values.release == "0.20.0"
    (config,) = read("engine.yaml")
    assert line(config) == (
        2,
        "vllm serve Qwen/Q --quantization awq --enforce-eager --tensor-parallel-size 2",
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("exec nohup vllm serve M -q fp8 2>&1 | tee log", "vllm serve M -q fp8"),
        ("cd /x && /opt/venv/bin/vllm serve M -q fp8 > /dev/null &", "/opt/venv/bin/vllm serve M -q fp8"),
        ("Q=awq\nvllm serve M --quantization=$Q", "vllm serve M --quantization=awq"),
        ("vllm serve M -q ${Q:-fp8}", "vllm serve M -q fp8"),
        ("bash -lc 'vllm serve M -q fp8 --kv-cache-dtype fp8'", "vllm serve M -q fp8 --kv-cache-dtype fp8"),
        (
            """vllm serve M --hf-overrides '{"a": "b c"}' -q fp8""",
            'vllm serve M --hf-overrides {"a": "b c"} -q fp8',
        ),
        ("podman run -e A=1 docker.io/vllm/vllm-openai:latest --model M", "vllm serve --model M"),
        ("vllm serve $MODEL -q fp8", "vllm serve $MODEL -q fp8"),
    ],
)
def test_ways_to_write_a_line(text: str, words: str) -> None:
    assert said(only(text)) == words


@pytest.mark.parametrize(
    "text",
    [
        "# vllm serve M",
        "echo vllm",
        "pip install vllm",
        "vllm bench serve",
        "docker pull vllm/vllm-openai:v0.26.0",
        "echo vllm serve M",
        "pkill -f 'vllm serve'",
        "until pgrep -f vllm serve; do sleep 1; done",
        'echo "unclosed vllm serve',
        "vllm-openai serve",
    ],
)
def test_what_starts_nothing(text: str) -> None:
    assert list(shell.launches(text)) == []


@pytest.mark.parametrize(
    ("text", "words", "unsaid"),
    [
        ("vllm serve M --port $(p) -q fp8", "vllm serve M --port $(p) -q fp8", "--port $(p)"),
        ("vllm serve $(MODEL) -q fp8", "vllm serve $(MODEL) -q fp8", "$(MODEL)"),
        ("vllm serve M --api-key a#b -q fp8", "vllm serve M --api-key a#b -q fp8", ""),
        ("vllm serve M --x '{\"a > b\": 1}'", 'vllm serve M --x {"a > b": 1}', ""),
        ('vllm serve "$@" -q fp8', "vllm serve $@ -q fp8", "$@"),
        ('vllm serve M "${ARGS[@]}"', "vllm serve M ${ARGS[@]}", "${ARGS[@]}"),
        ("vllm serve M --enforce-eager $MORE", "vllm serve M --enforce-eager $MORE", "--enforce-eager $MORE"),
        ('ARGS="-q fp8 --dtype half"\nvllm serve M $ARGS', "vllm serve M -q fp8 --dtype half", ""),
        ('EXTRA=""\nvllm serve M $EXTRA', "vllm serve M", ""),
        ("if old; then Q=awq; fi\nvllm serve M -q $Q", "vllm serve M -q $Q", "-q $Q"),
        ("if old\nthen\nQ=awq\nfi\nvllm serve M -q $Q", "vllm serve M -q $Q", "-q $Q"),
        ("Q=fp8\n[ x ] && Q=awq\nvllm serve M -q $Q", "vllm serve M -q $Q", "-q $Q"),
        ("Q=fp8\nread Q\nvllm serve M -q $Q", "vllm serve M -q $Q", "-q $Q"),
        ("Q=fp\nQ+=8\nvllm serve M -q $Q", "vllm serve M -q $Q", "-q $Q"),
        ("x && Q=awq\nvllm serve M -q ${Q:-fp8}", "vllm serve M -q ${Q:-fp8}", "-q ${Q:-fp8}"),
        (f"python3 -u -m {MODULE} -q fp8", f"python3 -u -m {MODULE} -q fp8", ""),
        (f"docker run --entrypoint python3 vllm/vllm-openai -m {MODULE}", f"python3 -m {MODULE}", ""),
    ],
)  # fmt: skip
def test_what_a_file_does_not_say_stays_as_it_is_written(text: str, words: str, unsaid: str) -> None:
    found = only(text)
    assert (said(found), "; ".join(found.unsaid)) == (words, unsaid)


@pytest.mark.parametrize(
    ("text", "environment"),
    [
        ("export VLLM_A=1 VLLM_B=2\nvllm serve M", {"VLLM_A": "1", "VLLM_B": "2"}),
        ("export VLLM_A=1\nexport VLLM_A=2\nvllm serve M", {"VLLM_A": "?"}),
        ("if x; then\n  export VLLM_A=1\nfi\nvllm serve M", {"VLLM_A": "?"}),
        ("export VLLM_A=1\nunset VLLM_A\nvllm serve M", {"VLLM_A": "?"}),
        ("docker run -e VLLM_A --env=VLLM_B=1 vllm/vllm-openai --model M", {"VLLM_A": "?", "VLLM_B": "1"}),
        ("VLLM_A=1 bash -c 'vllm serve M'", {"VLLM_A": "1"}),
        ("env -u VLLM_A VLLM_B=$B vllm serve M", {"VLLM_A": "?", "VLLM_B": "?"}),
    ],
)
def test_the_environment_of_a_start(text: str, environment: dict[str, str]) -> None:
    assert only(text).environment == environment


def from_yaml(text: str) -> list[Found]:
    return list(documents.launches(text))


def test_a_folded_command_is_one_command() -> None:
    image = "image: vllm/vllm-openai:v0.33.0\n"
    text = f"{image}command: >\n  vllm serve M -q fp8\n    --dtype float16\n    --port 1\n"
    (found,) = from_yaml(text)
    assert said(found) == "vllm serve M -q fp8 --dtype float16 --port 1"


def test_what_helm_puts_into_a_list_is_not_left_out() -> None:
    head = "containers:\n- image: vllm/vllm-openai:v0.26.0\n  args:\n  - --model\n  - M\n"
    (found,) = from_yaml(f"{head}  {{{{- toYaml .Values.extraArgs | nindent 2 }}}}\n")
    assert said(found) == "vllm serve --model M $TEMPLATE"
    either = (
        "  {{- if .Values.x }}\n  - --quantization=fp8\n  {{- else }}\n  - --quantization=awq\n  {{- end }}\n"
    )
    (found,) = from_yaml(head + either)
    assert said(found) == "vllm serve --model M $TEMPLATE $TEMPLATE" and len(found.unsaid) == 2


def test_merge_keys_an_image_in_parts_and_what_is_none_of_ours() -> None:
    merged = """
x-base: &base
  image: vllm/vllm-openai:v0.26.0
  environment: {VLLM_A: "1"}
services:
  a:
    <<: *base
    command: --model M
"""
    (found,) = from_yaml(merged)
    assert (found.release, found.environment, said(found)) == (
        "0.26.0",
        {"VLLM_A": "1"},
        "vllm serve --model M",
    )
    (found,) = from_yaml("image: {repository: vllm/vllm-openai, tag: v0.9.0}\nargs: [--model, M]\n")
    assert found.release == "0.9.0"
    for other in (
        "# vllm\nrepos:\n- hooks:\n  - id: ruff\n    args: [-q, --fix]\n",
        "# not vllm\ncontainers:\n- image: lmsysorg/sglang\n  args: [--model-path, M, --quantization, fp8]\n",
        "containers:\n- image: vllm/vllm-openai:v0.33.0\n  command: [sleep, infinity]\n",
        "containers:\n- image: vllm/vllm-openai:v0.33.0\n  command: [huggingface-cli, download, M]\n",
    ):
        assert from_yaml(other) == [], other


def test_kubernetes_puts_in_its_own_environment_and_nothing_else() -> None:
    text = """
containers:
- image: vllm/vllm-openai:v0.33.0
  args: [--model, M, --quantization, $(METHOD), --port, $(PORT)]
  envFrom: [{configMapRef: {name: c}}]
  env:
  - {name: METHOD, value: awq}
"""
    (found,) = from_yaml(text)
    assert said(found) == "vllm serve --model M --quantization awq --port $(PORT)"
    assert found.unsaid == ("--port $(PORT)",) and found.notes == ("envFrom ...",)


@pytest.mark.parametrize(
    ("text", "unsaid"),
    [
        ("\n".join(f"A{n + 1}=$A{n}$A{n}" for n in range(60)) + "\nvllm serve $A60", ["$A60"]),
        ("A0=xx\n" + "\n".join(f"A{n + 1}=$A{n}$A{n}" for n in range(60)) + "\nvllm serve $A60", ["$A60"]),
        ("vllm serve M " + "${a:-" * 8000, [("${a:-" * 2000)]),
        ("vllm serve M " + "$(" * 8000, [("$(" * 5000)]),
    ],
)
def test_hostile_shell_comes_to_an_end(text: str, unsaid: list[str]) -> None:
    assert [word for found in shell.launches(text) for word in found.unsaid] == unsaid


@pytest.mark.parametrize(
    "text",
    [
        "vllm: 1\n# " + "{{" * 20000,
        "vllm: &a0 [x]\n" + "".join(f"k{n}: &a{n + 1} [*a{n}, *a{n}]\n" for n in range(60)),
    ],
)
def test_hostile_yaml_comes_to_an_end(text: str) -> None:
    assert list(documents.launches(text)) == []


def test_a_variable_that_is_set_twice_is_not_known() -> None:
    found = list(shell.launches("Q=fp8\nif x; then\nQ=awq\nfi\nvllm serve M -q $Q"))
    assert [each.unsaid for each in found] == [("-q $Q",)]


def test_tags_of_images() -> None:
    tags = {
        "vllm/vllm-openai:v0.26.0": "0.26.0",
        "vllm/vllm-openai:v0.26.0-cu129": "0.26.0",
        "reg.example.com/vllm/vllm-openai:0.33.0rc1": "0.33.0rc1",
        "vllm/vllm-openai:latest": None,
        "vllm/vllm-openai": None,
        "python:3.12": None,
    }
    assert {image: release_of(image) for image in tags} == tags


def test_yaml_that_is_none_is_told_with_its_line() -> None:
    with pytest.raises(documents.NotYamlError, match="line 2"):
        list(documents.launches("vllm: 1\n b: [\n"))
    deep = "vllm: " + "[" * 5000
    with pytest.raises(documents.NotYamlError):
        list(documents.launches(deep))


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    list(shell.launches(f"vllm serve M {text}"))
    try:
        list(documents.launches(f"command: vllm serve M\n{text}"))
    except documents.NotYamlError as problem:
        assert "\n" not in str(problem)


def test_starts_are_paired_by_their_words_then_by_their_order() -> None:
    def starts(*lines: str) -> dict[str, list[Found]]:
        return {"run.sh": list(shell.launches("\n".join(f"vllm serve {line}" for line in lines)))}

    pairs = [
        (was and was.words[-1].text, now and now.words[-1].text)
        for _, was, now in paired(starts("a", "b", "c"), starts("a", "x", "c", "d"))
    ]
    assert pairs == [("a", "a"), ("b", "x"), ("c", "c"), (None, "d")]
    gone = [(was and was.words[-1].text, now) for _, was, now in paired(starts("a"), {})]
    assert gone == [("a", None)]
