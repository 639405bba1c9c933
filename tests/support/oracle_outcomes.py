"""Where the recordings of three releases end, in few words, to hold `qtrace diff` against.

    python tests/support/oracle_outcomes.py FOLDER     writes tests/data/oracle/outcomes.json.gz

FOLDER has `vllm-VERSION.json.gz` of each release. Kept are the names of kernels (of the layer method and
scheme where there is none), the chosen attention backend, and what a method asks of device and dtype.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from oracle_premises import QUESTIONS

from qtrace.report.names import short

FILE = Path(__file__).parent.parent / "data" / "oracle" / "outcomes.json.gz"
RELEASES = ("0.20.0", "0.26.0", "0.33.0")
REFUSED = ["refused"]
STANDARDS = {
    "fp8[ckpt per-tensor static]": "fp8-static",
    "fp8[ckpt per-tensor dynamic]": "fp8-dynamic",
    "fp8[ckpt block 128x128]": "fp8-block",
    "awq[w4 g128 zp]": "awq-w4",
    "awq_marlin[w4 g128 zp]": "awq-w4",
    "gptq[w4 g128]": "gptq-w4",
    "gptq_marlin[w4 g128]": "gptq-w4",
    "gptq_marlin[w8 g128]": "gptq-w8",
    "gptq_marlin[w4 g128 desc_act]": "gptq-w4-desc-act",
    "compressed-tensors[W4A16 g128]": "ct-w4a16",
    "compressed-tensors[W8A16 channel]": "ct-w8a16",
    "compressed-tensors[W8A8 int8 dyn]": "ct-w8a8-int8",
    "compressed-tensors[W8A8 fp8 dyn]": "ct-w8a8-fp8",
    "compressed-tensors[W8A8 fp8 static]": "ct-w8a8-fp8-static",
    "compressed-tensors[W8A8 fp8 block]": "ct-w8a8-fp8-block",
    "compressed-tensors[W8A16 fp8]": "ct-w8a16-fp8",
    "compressed-tensors[W4A8 fp8 g128]": "ct-w4a8-fp8",
    "compressed-tensors[NVFP4 W4A4]": "ct-nvfp4",
    "compressed-tensors[NVFP4 W4A16]": "ct-nvfp4a16",
    "compressed-tensors[MXFP4 W4A4]": "ct-mxfp4",
    "compressed-tensors[MXFP4 W4A16]": "ct-mxfp4a16",
    "modelopt[FP8]": "modelopt-fp8",
    "modelopt_fp4[NVFP4]": "modelopt-nvfp4",
    "mxfp4": "mxfp4",
    "gpt_oss_mxfp4": "mxfp4",
    "bitsandbytes[nf4]": "bitsandbytes-nf4",
    "experts_int8": "experts-int8",
    "fbgemm_fp8": "fbgemm-fp8",
    "fp_quant": "fp-quant",
    "inc[w4 g128 auto_round:auto_gptq]": "auto-round-w4",
    "quark[w_fp8 per-tensor a_fp8 static]": "quark-fp8",
    "quark[w_mxfp4 a_mxfp4]": "quark-mxfp4",
    "quark[w_int8 a_int8]": "quark-int8",
}
"""The standard checkpoint that a label of the recordings is about. Left out: `moe_wna16[gptq w4]`, whose
config names the modules that are quantized, which the standard one does not; `modelopt_mxfp8[MXFP8]`, which
the engine refuses before it has a method; labels without a standard checkpoint.
"""


def method(label: str) -> str:
    """The flag that a label goes with."""
    return str(QUESTIONS["linear"][label]["method"])


def outcome(recorded: Any) -> list[str]:
    """The names of a recorded end, in order of the alphabet."""
    if isinstance(recorded, str) or "error" in recorded:
        return REFUSED
    named = recorded["kernels"].values() or (recorded["quant_method"], recorded.get("scheme"))
    return sorted(short(name) for name in named if name)


def backend(recorded: Any) -> list[str]:
    """The attention backend that is chosen."""
    chosen = recorded.get("chosen") if isinstance(recorded, dict) else None
    return [short(chosen)] if isinstance(chosen, str) and "." in chosen else REFUSED


def _release(recorded: Any) -> Iterator[tuple[str, Any]]:
    known = next(iter(recorded["bare"].values()))["methods"]
    gates = {name: told for name, told in known.items() if isinstance(told, dict)}
    yield "gates", {name: [told["min_capability"], told.get("act_dtypes")] for name, told in gates.items()}
    yield (
        "linear",
        {
            profile: {
                capability: {
                    label: outcome(cells["linear"][label]) for label in STANDARDS if label in cells["linear"]
                }
                for capability, cells in by_capability.items()
            }
            for profile, by_capability in recorded.items()
        },
    )
    yield (
        "kv",
        {
            capability: {
                name: backend(cell)
                for name, cell in cells["kv"].items()
                if name[0] != "_" and ":" not in name
            }
            for capability, cells in recorded["bare"].items()
        },
    )


def main(folder: str) -> None:
    told = {
        version: dict(
            _release(json.loads(gzip.decompress((Path(folder) / f"vllm-{version}.json.gz").read_bytes())))
        )
        for version in RELEASES
    }
    FILE.write_bytes(gzip.compress(json.dumps(told, separators=(",", ":")).encode(), 9, mtime=0))


if __name__ == "__main__":
    main(*sys.argv[1:])
