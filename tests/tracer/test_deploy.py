"""Launch lines as people write them: what starts an engine, with what, and what the file does not say."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from qtrace.tracer.deploy import documents, shell
from qtrace.tracer.deploy.found import Found, release_of
from qtrace.tracer.deploy.pairing import paired

DATA = Path(__file__).parent.parent / "data" / "deploy"


def read(name: str) -> list[Found]:
    text = (DATA / name).read_text(encoding="utf-8")
    return list((documents if name.endswith(".yaml") else shell).launches(text))


def line(found: Found) -> tuple[int, str]:
    return found.line, " ".join(found.words)


def only(text: str) -> Found:
    (found,) = shell.launches(text)
    return found


def test_a_script() -> None:
    first, container, module, last = read("run.sh")
    assert line(first) == (
        7,
        "vllm serve meta-llama/Llama-3.1-8B --quantization fp8 --kv-cache-dtype fp8 --port 8000",
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
    assert (last.line, last.words, last.unsaid) == (14, ("vllm", "serve", "Y"), ("$EXTRA",))


def test_a_dockerfile_starts_what_its_base_serves() -> None:
    entry, command = read("Dockerfile")
    assert (entry.line, entry.release, entry.environment) == (3, "0.33.0", {"VLLM_MLA_DISABLE": "1"})
    assert line(command) == (4, "vllm serve --model m -q fp8")


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
    assert line(script) == (13, "vllm serve mistral --tensor-parallel-size 2")
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
        1,
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
    assert " ".join(only(text).words) == words


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
        list(documents.launches("a: 1\n b: [\n"))
    deep = "[" * 5000
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
        (was and was.words[-1], now and now.words[-1])
        for _, was, now in paired(starts("a", "b", "c"), starts("a", "x", "c", "d"))
    ]
    assert pairs == [("a", "a"), ("b", "x"), ("c", "c"), (None, "d")]
    gone = [(was and was.words[-1], now) for _, was, now in paired(starts("a"), {})]
    assert gone == [("a", None)]
