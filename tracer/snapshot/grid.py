"""The standard grid: the questions that a snapshot has answers to.

Not every combination: each plane of the grid varies what its question hangs on, and leaves the rest unknown.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from ..scenario import Scenario
from ..standard import model_for, standards
from .file import Known

DEVICES: tuple[dict[str, Any], ...] = (
    {},
    *({"capability": capability} for capability in (75, 80, 89, 90, 100, 120)),
)
"""CUDA devices: an unknown one, and the capabilities that are sold most."""
PACKAGES = (None, "wheel")
EXPERTS = "experts"
ATTENTION = "attention"


def around(known: Known) -> Iterator[dict[str, Any]]:
    """Every device with every set of packages."""
    for device, profile in product(DEVICES, PACKAGES):
        yield {**device, "profile": profile, "cuda": known.cuda}


def groups(known: Known) -> Iterator[list[Scenario]]:
    """The questions, those whose answers are alike together; those without a checkpoint bring their own."""
    for flag, dtype in product(known.flags, (None, "fp8")):
        yield [_open(quantization=flag, kv_cache_dtype=dtype, **near) for near in around(known)]
    for layer in ("linear", EXPERTS):
        for config in (None, *(standard.config for standard in standards())):
            yield [_given(layer, config, **near) for near in around(known)]
    for dtype in known.cache_dtypes:
        yield [_open(layer=ATTENTION, kv_cache_dtype=dtype, **near) for near in around(known)]


def _open(**given: Any) -> Scenario:
    return Scenario(whole=False, **given)


def _given(layer: str, config: dict[str, Any] | None, **given: Any) -> Scenario:
    model = dict(model_for(layer).config)
    if config is not None:
        model["quantization_config"] = config
    return Scenario(layer=layer, model=model, **given)
