"""`qtrace static --library`: a library's own decision, at the revision that a release takes (case 12)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from asking import EXAMPLE, qtrace
from deepgemm import NEW, OLD, checkout

BLOCKS = {"quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": [128, 128]}
MODEL = json.dumps({**json.loads((EXAMPLE / "config.json").read_text()), "quantization_config": BLOCKS})


def asked(at: str, device: str, *args: str) -> dict[str, Any]:
    done = qtrace(
        "vllm", "--at", at, "--device", device, "--model", MODEL, "--packages", "wheel", *args, "--json"
    )
    assert done.returncode in (0, 1), done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def refusals(report: dict[str, Any]) -> list[tuple[str, str]]:
    found = [one for one in report["findings"] if one["name"] == "kernel.selector_vs_dispatch"]
    return [(one["level"], one["message"]) for one in found]


@pytest.mark.parametrize(
    ("version", "commit", "device", "fires"),
    [
        ("0.24.0", OLD, "sm_120", True),
        pytest.param("0.24.0", OLD, "sm_100", False, marks=pytest.mark.full),
        pytest.param("0.24.0", OLD, "sm_90", False, marks=pytest.mark.full),
        pytest.param("0.26.0", NEW, "sm_120", False, marks=pytest.mark.full),
        # Another copy of the package than that of the release.
        pytest.param("0.26.0", OLD, "sm_120", True, marks=pytest.mark.full),
    ],
)
def test_deepgemm_on_sm_120(
    vllm_sdist: Path, tmp_path: Path, version: str, commit: str, device: str, fires: bool
) -> None:
    at = str(vllm_sdist.with_name(f"vllm-{version}.tar.gz"))
    report = asked(at, device, "--library", f"deepgemm={checkout(tmp_path / 'dg', commit)}")
    (code,) = report["libraries"]
    assert code["commit"] == commit
    assert (code["taken"][0]["revision"] == commit) is (version == "0.24.0" or commit == NEW)
    found = refusals(report)
    assert len(found) == fires
    for level, message in found:
        assert level == "error"
        assert message.startswith(
            "DeepGemmFp8BlockScaledMMKernel is taken and calls vllm.third_party.deep_gemm."
        )
        assert "Unsupported architecture or scaling factor types" in message


def test_before_deepgemm_was_taken_on_sm_120_nothing_fires() -> None:
    report = asked("0.20.0", "sm_120")
    assert not refusals(report)
    assert "deep_gemm" not in json.dumps(report["operators"])


def test_a_library_that_the_build_does_not_take_is_a_wrong_word() -> None:
    done = qtrace("vllm", "--at", "0.33.0", "-q", "fp8", "--device", "h100", "--library", "nope")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("qtrace: --library nope: the release's build takes ")
