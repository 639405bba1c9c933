"""The KV cache of an attention layer on the page: what is allocated, what a token costs, and its scales."""

from __future__ import annotations

from collections.abc import Iterator

from ..cache import Cache, Scale, ScaleSource
from ..outcome import Outcome
from ..predicate import Always
from .page import Page, Tone

WORDS = {
    ScaleSource.CHECKPOINT: "from the checkpoint",
    ScaleSource.COMPUTED: "computed while running",
    ScaleSource.DEFAULT: "the default: no scale is loaded",
    ScaleSource.UNKNOWN: "not known",
}


def caches(page: Page, outcomes: tuple[Outcome, ...]) -> None:
    """One table for all outcomes that keep keys and values in the same cache."""
    tables: dict[Cache, list[int]] = {}
    for number, outcome in enumerate(outcomes, 1):
        if outcome.cache is not None:
            tables.setdefault(outcome.cache, []).append(number)
    for cache, numbers in tables.items():
        page.blank()
        of = f" of outcome {', '.join(map(str, numbers))}" if len(outcomes) > 1 else ""
        page.line((f"  cache{of}", Tone.HEAD))
        for label, text in _rows(cache):
            page.wrap(text, f"    {label:<9}")


def _rows(cache: Cache) -> Iterator[tuple[str, str]]:
    yield "holds", cache.format + _mode(cache)
    yield "tensor", f"{cache.dtype} [{', '.join(map(str, cache.shape))}]"
    if cache.layout:
        yield "layout", cache.layout + _order(cache)
    if cache.block_size is not None:
        yield "block", f"{cache.block_size} tokens"
    if cache.token_bytes is not None:
        yield "token", _bytes(cache, cache.token_bytes)
    for scale in cache.scales:
        yield scale.name, _scale(scale)


def _mode(cache: Cache) -> str:
    """How it is quantized; nothing where that was not read."""
    return f", quantized as {cache.mode}" if cache.mode else ", not quantized" if cache.plain else ""


def _order(cache: Cache) -> str:
    """The sizes in the order in memory, where that is another than the shape's."""
    if len(cache.order) != len(cache.shape) or list(cache.order) == sorted(cache.order):
        return ""
    return f": in memory [{', '.join(str(cache.shape[axis]) for axis in cache.order)}]"


def _bytes(cache: Cache, one: int) -> str:
    every = f", {one * cache.layers:,} in {cache.layers} layers" if cache.layers is not None else ""
    return f"{one:,} bytes a layer{every}, on each rank"


def _scale(scale: Scale) -> str:
    text = WORDS[scale.source]
    text = text if scale.value is None else f"{scale.value}, {text}"
    text = f"{text}: {', '.join(scale.tensors)}" if scale.tensors else text
    return text if scale.guard == Always() else f"{text}, when {scale.guard}"
