"""What a cache holds, said in rows of a label and a text: the same words in every voice."""

from __future__ import annotations

from collections.abc import Iterator

from .cache import Cache, Scale, ScaleSource
from .predicate import Always

WORDS = {
    ScaleSource.CHECKPOINT: "from the checkpoint",
    ScaleSource.COMPUTED: "computed while running",
    ScaleSource.DEFAULT: "the default: no scale is loaded",
    ScaleSource.UNKNOWN: "not known",
}


def cache_rows(cache: Cache) -> Iterator[tuple[str, str]]:
    """Format, tensor, layout, block, bytes a token, and each scale."""
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
