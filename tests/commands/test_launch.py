"""A pasted launch line: taken apart, put together with what stands before it, and answered."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest
from asking import EXAMPLE, qtrace

from qtrace.commands.environment import shown
from qtrace.commands.launch import Launch, taken_apart, with_line
from qtrace.commands.static import configure
from qtrace.report.errors import UsageError
from qtrace.tracer.library import Library


def together(library: Library, before: str, line: str) -> argparse.Namespace:
    """The arguments of `static --at S BEFORE -- LINE`."""
    parser = argparse.ArgumentParser()
    configure(parser)
    args = parser.parse_args(["--at", "S", *before.split()])
    return with_line(args, library, taken_apart(line.split()), "cuda")


@pytest.mark.parametrize(
    ("line", "launch"),
    [
        ("vllm serve M -q fp8", Launch({}, "vllm", None, ("serve", "M", "-q", "fp8"))),
        ("A=1 B= /opt/bin/vllm serve M", Launch({"A": "1", "B": ""}, "vllm", None, ("serve", "M"))),
        ("env A=b=c vllm serve", Launch({"A": "b=c"}, "vllm", None, ("serve",))),
        (
            "python3.12 -u -m vllm.entrypoints.openai.api_server --model M",
            Launch({}, "vllm", "vllm.entrypoints.openai.api_server", ("--model", "M")),
        ),
    ],
)
def test_a_line_is_taken_apart(line: str, launch: Launch) -> None:
    assert taken_apart(line.split()) == launch


def test_an_empty_word_is_a_value_and_what_is_left_of_a_broken_line_is_not() -> None:
    launch = taken_apart(["vllm", "serve", "M", "\\", " ", "-q", "", "\n"])
    assert launch.arguments == ("serve", "M", "-q", "")


@pytest.mark.parametrize(
    "line", ["", "A=1", "vllm", "vllm bench", "python x.py", "python -m http.server", "ls"]
)
def test_a_line_that_starts_no_server_is_refused(line: str) -> None:
    with pytest.raises(UsageError, match="starts no server"):
        taken_apart(line.split())


def test_what_the_line_says_becomes_the_question(library: Library) -> None:
    args = together(
        library,
        "--device h100 --env C=3",
        f"A=1 vllm serve {EXAMPLE} -q fp8 -tp 2 --dtype half --kv_cache_dtype fp8 --enforce-eager --port 80",
    )
    assert (args.quantization, args.tp, args.dtype, args.kv_cache_dtype) == ("fp8", 2, "float16", "fp8")
    assert (args.model, args.device, args.env) == (str(EXAMPLE), "h100", ["C=3", "A=1"])
    assert (args.ignored, args.server) == (("--enforce-eager",), ("--port",))


def test_the_same_value_on_both_sides_is_no_conflict(library: Library) -> None:
    assert together(library, "-q fp8 --env A=1", "A=1 vllm serve M -q fp8").env == ["A=1"]


def test_a_model_that_is_not_here_may_be_given_by_its_config(library: Library) -> None:
    assert together(library, f"--model {EXAMPLE}", "vllm serve meta-llama/L").model == str(EXAMPLE)
    assert together(library, "", "vllm serve meta-llama/L").elsewhere == "L"


@pytest.mark.parametrize(
    ("before", "line", "message"),
    [
        ("-q awq", "vllm serve M -q fp8", "--quantization is awq before -- and fp8 after it"),
        ("--tp 2", "vllm serve M -tp 1", "--tensor-parallel-size is 2 before -- and 1 after it"),
        ("--dtype float16", "vllm serve M --dtype auto", "--dtype is float16 before -- and auto after it"),
        ("--env A=1", "A=2 vllm serve M", "A has one value in --env and another after --"),
        ("--model /x", f"vllm serve {EXAMPLE}", "the model is /x before --"),
        ("", "vllm serve ~nosuchuser/x", "the model ~nosuchuser/x is no path"),
        ("", f"vllm serve {'x' * 300}", "is no path"),
        ("", "vllm serve M -tp two", "--tensor-parallel-size two: give a number"),
        ("", "vllm serve M --config f.yaml", "the file that --config names is not read"),
        ("", "python -m vllm.entrypoints.cli.main serve M --quantisation x", "has no --quantisation"),
    ],
)
def test_what_contradicts_or_cannot_be_read_is_an_error(
    library: Library, before: str, line: str, message: str
) -> None:
    with pytest.raises(UsageError) as caught:
        together(library, before, line)
    assert message in str(caught.value)


def test_a_pasted_line_is_answered_and_its_secrets_are_not_told(vllm_sdist: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.json"
    line = f"HF_TOKEN=hf_secret VLLM_API_KEY=sk_secret vllm serve {EXAMPLE} -q fp8 -tp 2 --api-key sk_secret"
    own = (
        "--at",
        str(vllm_sdist),
        "--device",
        "h100",
        "--packages",
        "bare",
        "--layer",
        "o_proj",
        "-o",
        str(out),
    )
    done = qtrace(*own, "--", *line.split(), "--max-num-seqs", "8")
    assert done.returncode == 0, done.stderr
    assert "secret" not in out.read_text()
    question = json.loads(out.read_text())["question"]
    assert question["asked"] == {
        "quantization": "fp8",
        "device": "h100",
        "model": "llama-3.1-8b-fp8",
        "tp": 2,
        "layer": "o_proj",
        "packages": "bare",
        "env": ["HF_TOKEN=(hidden)", "VLLM_API_KEY=(hidden)"],
    }
    assert "not considered, though it may change the answer: --max-num-seqs" in question["assumed"]
    assert "options of the server, which no engine argument holds: --api-key" in question["assumed"]


def test_neither_engine_nor_line_is_one_line(vllm_sdist: Path) -> None:
    done = qtrace("--at", str(vllm_sdist))
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "give ENGINE, or a launch line after --" in done.stderr


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("VLLM_USE_DEEP_GEMM=0", "VLLM_USE_DEEP_GEMM=0"),
        ("CUDA_VISIBLE_DEVICES=0,1", "CUDA_VISIBLE_DEVICES=0,1"),
        ("VLLM_DISABLED_KERNELS=AKernel,BKernel", "VLLM_DISABLED_KERNELS=AKernel,BKernel"),
        ("ANY=?", "ANY=?"),
        ("VLLM_API_KEY=abc", "VLLM_API_KEY=(hidden)"),
        ("HF_TOKEN=abc", "HF_TOKEN=(hidden)"),
        ("VLLM_HOST_IP=10.0.0.7", "VLLM_HOST_IP=(hidden)"),
        ("VLLM_HOST_IP=gpunode7", "VLLM_HOST_IP=(hidden)"),
        ("VLLM_DP_MASTER_IP=ip-10-0-0-7", "VLLM_DP_MASTER_IP=(hidden)"),
        ("VLLM_ANY=ip-10-0-0-7", "VLLM_ANY=(hidden)"),
        ("VLLM_ANY=node7:8000", "VLLM_ANY=(hidden)"),
        ("VLLM_ANY=fe80::1", "VLLM_ANY=(hidden)"),
        ("VLLM_ANY=::1", "VLLM_ANY=(hidden)"),
        ("VLLM_RPC_BASE_PATH=x", "VLLM_RPC_BASE_PATH=(hidden)"),
        ("VLLM_CONFIG_ROOT=me", "VLLM_CONFIG_ROOT=(hidden)"),
        ("VLLM_TORCH_PROFILER_DIR=me", "VLLM_TORCH_PROFILER_DIR=(hidden)"),
        ("VLLM_S3_ENDPOINT_URL=x", "VLLM_S3_ENDPOINT_URL=(hidden)"),
        ("CUDA_HOME=me", "CUDA_HOME=(hidden)"),
        ("VLLM_SKIP_P2P_CHECK=1", "VLLM_SKIP_P2P_CHECK=1"),
        ("VLLM_PROFILE=-1", "VLLM_PROFILE=-1"),
        ("VLLM_MODE=two-step", "VLLM_MODE=two-step"),
        ("VLLM_CACHE_ROOT=/home/me", "VLLM_CACHE_ROOT=(hidden)"),
        ("PATH=x", "PATH=(hidden)"),
    ],
)
def test_environment_values_are_shown_for_a_few_harmless_names_only(setting: str, told: str) -> None:
    assert shown(setting) == told
