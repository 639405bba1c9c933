"""In which dtypes the checkpoint holds what is loaded into a parameter, from the headers of its tensors."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ..report.model import Parameter
from .engines.vllm_names import NUMBER, fused_layer

if TYPE_CHECKING:
    from .engines.walk import Walk

HEADER = {
    "F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16", "F8_E4M3": "float8_e4m3fn",
    "F8_E5M2": "float8_e5m2", "F8_E8M0": "float8_e8m0fnu", "I64": "int64", "I32": "int32", "I16": "int16",
    "I8": "int8", "U8": "uint8", "BOOL": "bool",
}  # fmt: skip
"""Names of dtypes in a header of safetensors (its README, "Format"), and in torch."""


def stored(walk: Walk, layer: str, parameters: tuple[Parameter, ...]) -> tuple[Parameter, ...]:
    """A layer's parameters, each with the dtypes of the tensors that are loaded into it."""
    held = _held(walk, layer) if walk.scenario.tensors and parameters else {}
    return tuple(replace(p, stored=tuple(held.get(p.name, ()))) for p in parameters)


def _held(walk: Walk, layer: str) -> dict[str, dict[str, None]]:
    """By parameter, the dtypes of the tensors of the modules that become `layer`."""
    fused, place, out = walk.fused(), NUMBER.search(layer), dict[str, dict[str, None]]()
    engines_name = cache(lambda module: walk.renamed(module))
    for name, row in walk.scenario.tensors.items():
        module, _, parameter = name.rpartition(".")
        if place is not None and place[0] not in name:
            continue
        known = engines_name(module)
        if known is not None and fused_layer(known, fused) == layer:
            dtype = str(row.get("dtype"))
            out.setdefault(parameter, {})[HEADER.get(dtype, dtype)] = None
    return out
