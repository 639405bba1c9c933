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
