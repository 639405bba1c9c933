"""The standard grid: the questions that a snapshot has answers to.

Not every combination: each plane of the grid varies what its question hangs on, and leaves the rest unknown.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..devices import on_platform
from ..scenario import Scenario
from ..standard import model_for, standards
from .file import Known

CUDA: tuple[dict[str, Any], ...] = (
    {},
    *({"capability": capability} for capability in (75, 80, 86, 89, 90, 100, 120)),
)
"""CUDA devices: an unknown one, and the capabilities that are sold most."""
TYPICAL = tuple(device for device in CUDA if device.get("capability") in (None, 90))
"""Those that stand for the others where something else is varied."""
ELSEWHERE: tuple[dict[str, Any], ...] = (
    {"platform": "rocm", "arch": "gfx942"},
    {"platform": "cpu", "cpu": on_platform(None, "cpu").cpu},
)
"""Devices of other platforms."""
WHEEL = {"profile": "wheel"}
"""With the packages that the release installs."""
DECODE = {"rows": 1}
"""A forward that decodes for one request."""
HALF = "float16"
"""What the weights are in where a release's method takes nothing else."""
EXPERTS = "experts"
ATTENTION = "attention"


def groups(known: Known) -> Iterator[list[Scenario]]:
    """The questions, those whose answers are alike together; those without a checkpoint bring their own."""
    devices = tuple({**device, "cuda": known.cuda} for device in CUDA)
    typical = tuple({**device, "cuda": known.cuda} for device in TYPICAL)
    for flag in known.flags:
        yield [_open(quantization=flag, **device) for device in devices]
        yield [_open(quantization=flag, kv_cache_dtype="fp8", **device) for device in typical]
        yield [_open(quantization=flag, dtype=HALF, **device) for device in typical]
    for dtype in known.cache_dtypes:
        yield [_open(layer=ATTENTION, kv_cache_dtype=dtype, **device) for device in typical]
    varied = (*devices, *({**device, **more} for more in (WHEEL, DECODE) for device in typical), *ELSEWHERE)
    for config in (None, *(standard.config for standard in standards())):
        yield [_given("linear", config, **given) for given in varied]
        yield [_given(EXPERTS, config, **device) for device in devices]


def _open(**given: Any) -> Scenario:
    return Scenario(whole=False, **given)


def _given(layer: str, config: dict[str, Any] | None, **given: Any) -> Scenario:
    model = dict(model_for(layer).config)
    if config is not None:
        model["quantization_config"] = config
    return Scenario(layer=layer, model=model, **given)
