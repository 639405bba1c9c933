"""Kernels that were measured on GPUs, and the scenarios in which the recorder measured them."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from qtrace.report.model import Outcome
from qtrace.report.names import short
from qtrace.tracer.answer import report, walked
from qtrace.tracer.engines.release import cuda_of
from qtrace.tracer.library import Library
from qtrace.tracer.scenario import Scenario

Release = Callable[[str], Library]
"""Opens a release of vLLM by its version."""

DATA = Path(__file__).parent.parent / "data" / "measured"

GPUS = {
    "a100_sxm": ("cuda", 80),
    "h100_sxm": ("cuda", 90),
    "h200_sxm": ("cuda", 90),
    "b200_sxm": ("cuda", 100),
    "gb200": ("cuda", 100),
    "b60": ("xpu", None),
}
"""Platform and compute capability by the recorder's name of the GPU."""

NVFP4 = {
    "num_bits": 4, "type": "float", "strategy": "tensor_group", "group_size": 16, "symmetric": True,
    "dynamic": False,
}  # fmt: skip


def compressed(form: str, weights: dict[str, Any], inputs: dict[str, Any] | None) -> dict[str, Any]:
    """A config of compressed-tensors with one group for all linear layers."""
    group = {"format": form, "weights": weights, "input_activations": inputs, "targets": ["Linear"]}
    return {"quant_method": "compressed-tensors", "format": form, "config_groups": {"group_0": group}}


LINEAR: dict[str, dict[str, Any] | None] = {
    "bfloat16": None,
    "fp8": {"quant_method": "fp8", "activation_scheme": "dynamic"},
    "fp8_block": {"quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": [128, 128]},
    "nvfp4": compressed("nvfp4-pack-quantized", NVFP4, NVFP4),
}
"""Quantization config by the recorder's name of the dtype: what it builds its layer with."""

HELD = {
    "FlashInferFp8BlockScaledMMKernel": "flashinfer.gemm.fp8_blockscale_gemm_sm90",
    "DeepGemmFp8BlockScaledMMKernel": "vllm.third_party.deep_gemm.fp8_gemm_nt",
}
"""The operator by which a kernel is known where another one holds several and picks by the rows: the recorder
labels such a layer with the class of the one that it picks.
"""


class Group(NamedTuple):
    """Points that were measured with one label."""

    release: str
    gpu: str
    op: str
    dtype: str
    kernel: str
    points: int


class Line(NamedTuple):
    """Points of one linear layer that were measured with one label."""

    gpu: str
    dtype: str
    kernel: str
    n: int
    k: int
    rows: tuple[int, ...]


def groups() -> list[Group]:
    return [Group(**{**row, "points": int(row["points"])}) for row in _table("groups.csv")]


def lines() -> list[Line]:
    return [
        Line(
            row["gpu"],
            row["dtype"],
            row["kernel"],
            int(row["n"]),
            int(row["k"]),
            tuple(map(int, row["rows"].split())),
        )
        for row in _table("linear-0.24.0.csv")
    ]


def _table(name: str) -> Iterator[dict[str, Any]]:
    with (DATA / name).open(newline="") as stream:
        yield from csv.DictReader(stream)


def linear(
    library: Library, gpu: str, dtype: str, n: int, k: int, rows: int | None = None
) -> tuple[Outcome, ...]:
    """qtrace's outcomes for the layer that the recorder builds: a `RowParallelLinear` from k inputs to n
    outputs, on one rank.
    """
    return _linear(library, *GPUS[gpu], dtype, n, k, rows)


@cache
def _linear(
    library: Library, platform: str, capability: int | None, dtype: str, n: int, k: int, rows: int | None
) -> tuple[Outcome, ...]:
    checkpoint: dict[str, Any] = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "torch_dtype": "bfloat16",
        "hidden_size": n,
        "intermediate_size": k,
        "num_hidden_layers": 1,
    }
    if LINEAR[dtype] is not None:
        checkpoint["quantization_config"] = LINEAR[dtype]
    scenario = Scenario(
        platform=platform,
        capability=capability,
        model=checkpoint,
        layer="down_proj",
        rows=rows,
        profile="wheel",
        cuda=cuda_of(library),
    )
    (chain,) = report(walked(library, scenario), {}).chains
    return chain.outcomes


def label(outcome: Outcome) -> str:
    """How the recorder would label a linear layer with this outcome."""
    if outcome.refusal is not None:
        return str(outcome.refusal)
    kernels = [short(kernel.symbol) for kernel in outcome.kernels]
    if len(kernels) == 1:
        return kernels[0]
    if not kernels:
        return " ".join(outcome.ops)  # an unquantized layer goes by the function it calls
    return " ".join(name for name, op in HELD.items() if name in kernels and op in outcome.ops)
