"""`qtrace flag`: who reads a name, in every voice, and what is said of a name that nobody has."""

from __future__ import annotations

import json
from pathlib import Path

from shell import qtrace

NAME = "capture_torch_profiler"


def test_a_flag_without_a_reader_is_a_warning_that_stops_nobody(vllm_sdist: Path) -> None:
    done = qtrace("flag", "vllm", NAME, "--at", str(vllm_sdist), "--device", "h100")
    text = done.stdout.decode()
    assert done.returncode == 0
    assert "field  ProfilerConfig.capture_torch_profiler" in text
    assert "✗ built where not use_v2_model_runner: does not hold, asks for VLLM_USE_V2_MODEL_RUNNER" in text
    assert "QT111 flag.no_reader" in text
    strict = qtrace("flag", "vllm", NAME, "--at", str(vllm_sdist), "--device", "h100", "--fail-on", "warning")
    assert strict.returncode == 1


def test_what_its_readers_do_is_told_as_json_and_markdown(vllm_sdist: Path) -> None:
    asked = ("flag", "vllm", "VLLM_USE_DEEP_GEMM", "--at", str(vllm_sdist))
    told = json.loads(qtrace(*asked, "--json").stdout)["readers"]
    assert [reader["role"] for reader in told["readers"]] == ["decides"] * 4
    text = qtrace(*asked, "--format", "markdown").stdout.decode()
    assert "**4 readers of `VLLM_USE_DEEP_GEMM`**" in text and "`is_deep_gemm_supported`" in text


def test_a_name_that_nobody_has_is_one_line(vllm_sdist: Path) -> None:
    done = qtrace("flag", "vllm", "VLLM_NO_SUCH", "--at", str(vllm_sdist))
    assert (done.returncode, done.stdout) == (2, b"")
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith(
        "qtrace: VLLM_NO_SUCH: vllm 0.33.0 has no engine argument, field of a configuration or"
    )
