"""`qtrace static sglang`: an answer of the other engine, and what is not read yet."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from asking import EXAMPLE, qtrace

SDIST = Path(__file__).parent.parent.parent / ".cache" / "sglang-0.5.10.tar.gz"


def test_a_chain_of_sglang_is_a_report_like_any_other() -> None:
    asked = ("sglang", "--at", str(SDIST), "--model", str(EXAMPLE), "--device", "h100", "--packages", "bare")
    done = qtrace(*asked, "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["question"]["engine"] == report["pins"][0]["engine"] == "sglang"
    (chain,) = report["chains"]
    assert chain["layers"] == ["qkv_proj", "o_proj", "gate_up_proj", "down_proj"]
    (outcome,) = chain["outcomes"]
    assert outcome["ops"][-1] == "sgl_kernel.fp8_scaled_mm"
    sites = {hop["symbol"].rpartition(".")[2]: hop.get("site") for hop in chain["hops"]}
    assert sites["--quantization"] == {"path": "sglang/srt/server_args.py", "line": 3841}
    assert sites["apply_fp8_linear"]["path"] == "sglang/srt/layers/quantization/fp8.py"
    # The kernel that Python writes goes on to the name that a profile shows.
    (kernel,) = (one for one in report["operators"] if one["symbol"].endswith("._static_quant_fp8"))
    assert [hop["symbol"] for hop in kernel["hops"]] == ["_static_quant_fp8"]


def test_a_kernel_that_looks_for_tuned_files_is_told_without_them() -> None:
    """On a named device the Triton kernel asks for such a file, which is not read of SGLang."""
    blocks = {"quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": [128, 128]}
    model = json.loads((EXAMPLE / "config.json").read_text()) | {"quantization_config": blocks}
    asked = ("sglang", "--at", str(SDIST), "--model", json.dumps(model), "--device", "b200")
    done = qtrace(*asked, "--packages", "wheel", "--layer", "o_proj", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    ends = report["chains"][0]["outcomes"]
    assert any(op.endswith("._w8a8_block_fp8_matmul") for end in ends for op in end["ops"])
    # Neither the build of torch nor a tuned file is made up where nothing tells.
    assert "cuda" not in report["question"]["resolved"] and not report.get("tuned")
    assert "torch is built for one of CUDA 12.6, 12.8, 12.9, 13.0" in report["question"]["assumed"]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--layer", "experts"), "--layer experts: of SGLang qtrace reads linear layers"),
        (("--kv-cache-dtype", "fp8_e4m3"), "--kv-cache-dtype: qtrace does not read SGLang's cache yet"),
        (("--device", "mi300x"), "--platform rocm: qtrace reads SGLang for CUDA"),
    ],
)
def test_what_is_not_read_yet_is_one_line(args: tuple[str, ...], said: str) -> None:
    done = qtrace("sglang", "--at", str(SDIST), "--model", str(EXAMPLE), *args)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith(f"qtrace: {said}")


def test_arguments_that_are_made_anew_are_said_to_be_so(tmp_path: Path) -> None:
    home = tmp_path / "sglang" / "srt"
    home.mkdir(parents=True)
    (tmp_path / "sglang" / "__init__.py").touch()
    (home / "server_args.py").write_text("ServerArgs = msgspec.defstruct('ServerArgs', [])\n")
    done = qtrace("sglang", "--at", str(tmp_path), "--model", str(EXAMPLE), "--device", "h100")
    assert done.returncode == 2
    assert "made in a way that this qtrace cannot follow yet" in done.stderr
    assert "Traceback" not in done.stderr
