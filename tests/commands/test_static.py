"""`qtrace static` as people run it: a process, its output, its exit code."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from asking import EXAMPLE, qtrace

from qtrace.report.codec import json_schema

GPTQ = {"quant_method": "gptq", "bits": 4, "group_size": 128, "desc_act": True, "sym": True}


def ask(sdist: Path, *args: str, seed: str = "0") -> subprocess.CompletedProcess[str]:
    return qtrace("vllm", "--at", str(sdist), *args, seed=seed)


def test_a_real_question_is_answered(vllm_sdist: Path) -> None:
    done = ask(vllm_sdist, "-q", "fp8", "--device", "h100", "--model", str(EXAMPLE), "--packages", "wheel")
    assert done.returncode == 0, done.stderr
    assert "Fp8Config → Fp8LinearMethod → CutlassFP8ScaledMMLinearKernel" in done.stdout
    assert "torch.ops._C.cutlass_scaled_mm" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100


def test_the_same_question_gives_the_same_bytes_without_a_path(vllm_sdist: Path) -> None:
    args = ("-q", "fp8", "--device", "sm_89", "--model", str(EXAMPLE), "--json")
    first, second = ask(vllm_sdist, *args, seed="1"), ask(vllm_sdist, *args, seed="2")
    assert first.returncode == 0, first.stderr
    assert first.stdout == second.stdout
    assert str(vllm_sdist.parent) not in first.stdout
    assert str(EXAMPLE.parent) not in first.stdout


def test_the_report_follows_its_schema(vllm_sdist: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.json"
    done = ask(vllm_sdist, "-q", "fp8", "--device", "9.0", "--model", str(EXAMPLE), "-o", str(out))
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    report: dict[str, Any] = json.loads(out.read_text())
    jsonschema.validate(report, json_schema())
    assert out.stat().st_size < 300_000


def test_a_refusal_is_an_answer_with_exit_1(vllm_sdist: Path) -> None:
    done = ask(
        vllm_sdist, "-q", "gptq", "--device", "a100", "--model", json.dumps(GPTQ), "--packages", "bare"
    )
    assert done.returncode == 1, done.stderr
    assert "GPTQ group activation ordering (desc_act=True) is no longer supported" in done.stdout
    assert "gptq_utils.py:33" in done.stdout
    assert done.stderr == ""


def test_the_rewritten_flag_is_told(vllm_sdist: Path) -> None:
    model = json.dumps({**GPTQ, "desc_act": False})
    done = ask(vllm_sdist, "-q", "gptq", "--device", "a100", "--model", model, "--packages", "bare", "--json")
    report = json.loads(done.stdout)
    assert report["question"]["resolved"]["quantization"] == "auto_gptq"
    assert [f["name"] for f in report["findings"]][:1] == ["quant.flag_rewritten"]


def test_what_is_not_given_stays_open_with_its_condition(vllm_sdist: Path) -> None:
    done = ask(vllm_sdist, "-q", "fp8", "--model", str(EXAMPLE), "--packages", "bare", "--json")
    report = json.loads(done.stdout)
    kernels = {
        k["symbol"].rpartition(".")[2]: o["guard"]
        for c in report["chains"]
        for o in c["outcomes"]
        for k in o["kernels"]
    }
    assert done.returncode == 0
    assert kernels["MarlinFP8ScaledMMLinearKernel"] == {
        "type": "member",
        "name": "capability",
        "values": [75, 80, 86, 87],
    }
    assert kernels["CutlassFP8ScaledMMLinearKernel"]["values"] == [89, 90, 100, 103, 110, 120, 121]
    assert report["question"]["unknown"] == ["capability"]


def test_a_refusal_on_some_devices_is_a_condition_of_the_steps_behind_it(vllm_sdist: Path) -> None:
    done = ask(vllm_sdist, "-q", "fp8", "--dtype", "bfloat16", "--layer", "o_proj", "--model", str(EXAMPLE))
    assert done.returncode == 0, done.stderr
    words = " ".join(done.stdout.split())
    assert "Your {str(current_platform.get_device_name())} GPU has compute capability 7.5." in words
    assert "when not (capability in (70, 75))" in words


def test_a_product_s_name_is_the_answer_to_the_engine_s_question_for_it(vllm_sdist: Path) -> None:
    done = ask(vllm_sdist, "-q", "fp8", "--device", "t4", "--dtype", "bfloat16", "--model", str(EXAMPLE))
    assert done.returncode == 1, done.stderr
    assert "Your Tesla T4 GPU has compute capability 7.5." in " ".join(done.stdout.split())
    assert "device_name=Tesla T4  compute_units=40" in done.stdout


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (
            ("-q", "nope", "--device", "h100", "--model", str(EXAMPLE)),
            2,
            "--quantization nope: vllm 0.33.0 knows awq,",
        ),
        (("-q", "fp8", "--device", "h1000"), 2, "unknown device 'h1000'"),
        (("-q", "fp8", "--device", "9.9"), 2, "no compute capability 9.9"),
        (("--device", "h100", "--platform", "rocm"), 2, "contradicts --device h100"),
        (("--platform", "cpu", "--cuda", "12.9"), 2, "contradicts the platform cpu"),
        (("-q", "fp8", "--model", "{}"), 2, "not a model's config.json"),
        (("-q", "fp8", "--model", "/no/such/folder"), 2, "no such folder or file"),
        (("-q", "fp8", "--model", "{not json"), 2, "is not JSON"),
        (("-q", "fp8", "--tp", "0"), 2, "give a positive number"),
        (("-q", "fp8", "--env", "NAME"), 2, "NAME=VALUE"),
        (("-q", "fp8", "--tokens", "some"), 2, "decode or prefill"),
        (("-q", "fp8", "--cuda", "new"), 2, "such as 12.9"),
        (
            ("--kv-cache-dtype", "fp9"),
            2,
            "--kv-cache-dtype fp9: vllm 0.33.0 knows auto, float16, bfloat16, fp8,",
        ),
    ],
)
def test_bad_input_is_one_line(vllm_sdist: Path, args: tuple[str, ...], code: int, words: str) -> None:
    done = ask(vllm_sdist, *args)
    assert done.returncode == code
    assert words in done.stderr
    assert done.stderr.count("\n") == bool(words)
    assert "Traceback" not in done.stderr


def test_no_source_is_one_line() -> None:
    done = qtrace("vllm", "--at", "/no/such/source")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)


def test_another_engine_is_one_line(vllm_sdist: Path) -> None:
    done = qtrace("llama.cpp", "--at", str(vllm_sdist))
    said = "qtrace: unknown engine 'llama.cpp': qtrace reads vllm, sglang\n"
    assert (done.returncode, done.stderr) == (2, said)
