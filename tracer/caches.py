"""The cache of an attention layer as a fact: from the engine's values to the report's words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..report.model import Cache, Scale, ScaleSource
from .engines.vllm_attention import Attention
from .engines.vllm_cache import Allocated
from .engines.vllm_scales import Origin, is_loaded
from .evaluate.atoms import describe
from .evaluate.unions import alternatives, settle
from .evaluate.values import MISSING, Instance, Value
from .outcomes import dtype_name, shape_sizes

if TYPE_CHECKING:
    from .evaluate.machine import Machine
    from .guards import Guard


def cache_fact(m: Machine, found: Attention, made: Allocated, guard: Guard) -> Cache:
    """What is allocated on the paths of `guard`."""
    m.live = guard
    mode = _member(m, made.mode)
    size, page = settle(m, made.block_size), settle(m, made.page_bytes)
    return Cache(
        format=_text(m, made.format) or "?",
        mode=mode if _number(m, made.mode) != 0 else None,
        dtype=dtype_name(settle(m, made.dtype)),
        shape=() if made.shape is MISSING else shape_sizes(m, settle(m, made.shape)),
        layout=_text(m, made.layout),
        order=_order(m, made.order),
        block_size=size if isinstance(size, int) else None,
        token_bytes=page // size if isinstance(size, int) and isinstance(page, int) else None,
        layers=layers if isinstance(layers := settle(m, found.layers), int) else None,
        scales=tuple(_scales(m, found.origins, guard)) if _number(m, made.mode) != 0 else (),
    )


def _text(m: Machine, value: Value) -> str | None:
    """A text, or those that it can be; None where nothing is known."""
    found = (atom for _, atom in alternatives(m, value) if atom is not MISSING)
    return " or ".join(dict.fromkeys(a if isinstance(a, str) else describe(a) for a in found)) or None


def _member(m: Machine, value: Value) -> str | None:
    """The name of an enum's member."""
    value = settle(m, value)
    return str(value.attrs["name"]) if isinstance(value, Instance) and "name" in value.attrs else None


def _number(m: Machine, value: Value) -> Value:
    value = settle(m, value)
    return value.attrs.get("value") if isinstance(value, Instance) else None


def _order(m: Machine, value: Value) -> tuple[int, ...]:
    value = settle(m, value)
    known = isinstance(value, tuple) and all(isinstance(axis, int) for axis in value)
    return value if known else ()


def _scales(m: Machine, origins: list[Origin], guard: Guard) -> Iterator[Scale]:
    for origin in origins:
        part = origin.guard & guard
        if not part.is_false:
            source = _source(origin)
            told = origin.value if source is ScaleSource.DEFAULT else None
            yield Scale(
                name=origin.name,
                source=source,
                value=float(told) if told is not None else None,
                tensors=origin.tensors if source is ScaleSource.CHECKPOINT else (),
                guard=m.space.predicate(m.space.simplify(part, guard)),
            )


def _source(origin: Origin) -> ScaleSource:
    if origin.computed:
        return ScaleSource.COMPUTED
    if not isinstance(origin.value, int | float):
        return ScaleSource.UNKNOWN
    loaded = is_loaded(origin.value)
    return ScaleSource.CHECKPOINT if loaded else ScaleSource.DEFAULT
