"""`qtrace static` below the operator: from snapshot and source, against a binary, refused by C++."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from asking import EXAMPLE, qtrace
from binaries import FLASHMLA, marlin

INT8 = {
    "quant_method": "compressed-tensors",
    "format": "int-quantized",
    "config_groups": {
        "group_0": {
            "targets": ["Linear"],
            "weights": {"num_bits": 8, "type": "int", "symmetric": True, "strategy": "channel"},
            "input_activations": {
                "num_bits": 8,
                "type": "int",
                "symmetric": True,
                "strategy": "token",
                "dynamic": True,
            },
        }
    },
    "ignore": ["lm_head"],
}
GPTQ = {"quant_method": "gptq", "bits": 4, "group_size": 128, "desc_act": False, "sym": True}


def model(quantization: dict[str, Any]) -> str:
    return json.dumps(
        {**json.loads((EXAMPLE / "config.json").read_text()), "quantization_config": quantization}
    )


def asked(*args: str) -> dict[str, Any]:
    done = qtrace("vllm", *args, "--json")
    assert done.returncode in (0, 1), done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def test_a_snapshot_tells_what_the_source_tells(vllm_sdist: Path) -> None:
    args = ("-q", "fp8", "--device", "h100", "--model", str(EXAMPLE))
    recorded, read = asked("--at", "0.33.0", *args), asked("--at", str(vllm_sdist), *args)
    assert recorded["operators"] == read["operators"]
    ends = {
        hop["symbol"] for one in read["operators"] for hop in one["hops"] if hop["kind"] == "global_kernel"
    }
    assert ends == {"vllm::scaled_fp8_quant_kernel_strided_group_shape"}


UNIT = {("0.33.0", "sm_90"), ("0.33.0", "sm_100")}
INT8_CASES = [
    pytest.param(version, device, id=f"{version}-{device}", marks=() if case in UNIT else pytest.mark.full)
    for version in ("0.20.0", "0.26.0", "0.33.0")
    for device in ("sm_89", "sm_90", "sm_100", "sm_120")
    for case in [(version, device)]
]


@pytest.mark.parametrize(("version", "device"), INT8_CASES)
def test_int8_is_taken_where_csrc_refuses_it(version: str, device: str) -> None:
    raises = device in ("sm_100", "sm_120")
    report = asked("--at", version, "--device", device, "--model", model(INT8))
    assert report["chains"][0]["outcomes"][0]["kernels"][0]["symbol"].endswith(
        "CutlassInt8ScaledMMLinearKernel"
    )
    found = [finding for finding in report["findings"] if finding["name"] == "kernel.selector_vs_dispatch"]
    assert [finding["verdict"] for finding in found] == (["fail"] if raises else [])
    assert not raises or "Int8 not supported on SM" in found[0]["message"]


def test_a_kernel_that_python_writes_has_the_name_of_a_profile() -> None:
    awq = {"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": True, "version": "gemm"}
    report = asked("--at", "0.33.0", "--device", "mi300x", "--model", model(awq), "--dtype", "float16")
    written = [one for one in report["operators"] if one["symbol"].startswith("vllm.")]
    assert written and all(one["hops"][0]["kind"] == "triton_kernel" for one in written)
    assert {one["hops"][0]["symbol"] for one in written} <= {
        one["symbol"].rpartition(".")[2] for one in written
    }


def test_a_binary_is_held_against_the_kernels(tmp_path: Path) -> None:
    package = tmp_path / "vllm"
    package.mkdir()
    (package / "_moe_C.abi3.so").write_bytes(marlin())
    args = ("--at", "0.33.0", "--device", "a100", "--model", model(GPTQ), "--binary", str(package))
    report = asked(*args)
    assert report["binary"] == {"name": "vllm", "libraries": 1, "kernels": 1}
    images = [
        hop["image"] for one in report["operators"] for hop in one["hops"] if hop["kind"] == "global_kernel"
    ]
    # The folder holds a kernel of Marlin for experts alone: those of dense layers are missing.
    assert images and all(image["compatibility"] == "missing" and not image["code"] for image in images)
    found = [finding for finding in report["findings"] if finding["name"] == "kernel.selector_vs_dispatch"]
    assert [(finding["confidence"], finding["seen"]) for finding in found] == [
        ("certain", "missing: no such kernel")
    ]
    assert "no kernel image is available" in found[0]["message"]


@pytest.mark.parametrize(
    ("name", "args", "says"),
    [
        ("no.whl", (), "no.whl"),
        ("empty", (), "empty"),
        (str(FLASHMLA), ("--platform", "rocm", "--device", "mi300x"), "leave it out on other platforms"),
        ("installed", (), "vllm is not installed beside qtrace; give a wheel or a folder"),
    ],
)
def test_a_binary_that_is_none_is_one_line(
    name: str, args: tuple[str, ...], says: str, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "no.whl").write_bytes(b"no wheel")
    path = tmp_path / name
    device = args or ("--device", "h100")
    binary = str(path) if path.exists() else name
    done = qtrace("vllm", "--at", "0.33.0", *device, "--model", model(GPTQ), "--binary", binary)
    lines = [line for line in done.stderr.splitlines() if not line.startswith("qtrace: vllm 0.33.0")]
    assert (done.returncode, len(lines), done.stdout) == (2, 1, "")
    assert says in lines[0]
