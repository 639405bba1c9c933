"""What the recordings of the engine's own answers take for granted, and what an answer here may be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from qtrace.tracer.engines import entering, vllm
from qtrace.tracer.engines.vllm_walk import Walk
from qtrace.tracer.evaluate.machine import Machine
from qtrace.tracer.library import Library
from qtrace.tracer.models.tensors import DTYPES
from qtrace.tracer.scenario import Scenario

DATA = Path(__file__).parent.parent / "data" / "oracle"
QUESTIONS = json.loads((DATA / "questions.json").read_text())
QUANTIZATION = "vllm.model_executor.layers.quantization"

MOCKED = dict.fromkeys(("bitsandbytes", "gguf"), True)
"""Packages that the recording puts a mock in place of, whatever the profile."""

LEFT_OUT = dict.fromkeys(("tokenspeed_mla",), False)
"""Packages that a release ships and the recording has not."""


class Open(str):
    """An answer that hangs on a condition, which it names."""


def dtype(capability: int) -> str:
    return "float16" if capability < 80 else "bfloat16"


def machine(library: Library, profile: str, capability: int) -> tuple[Machine, Walk]:
    """CUDA 12.9, a llama checkpoint, and for `wheel` flashinfer's compiled kernels."""
    scenario = Scenario(
        capability=capability,
        profile=profile,
        dtype=dtype(capability),
        cuda=12090,
        model={"model_type": "llama", "architectures": ["LlamaForCausalLM"]},
        packages=MOCKED | LEFT_OUT | ({"flashinfer_cubin": True} if profile == "wheel" else {}),
        shape=(4096, 4096),
    )
    m = vllm.machine(library, scenario)
    return m, Walk(m, scenario)


def config_class(m: Machine, method: str) -> Any:
    return entering.call(m, f"{QUANTIZATION}.get_quantization_config", method)


def act_dtype(capability: int) -> Any:
    return DTYPES[dtype(capability)]
