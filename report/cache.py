"""The KV cache that an attention layer gets: what it holds, how it lies in memory, and its scales."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from .predicate import Always, Predicate

PLAIN = frozenset({"bfloat16", "float16", "float32", "float64"})
"""Dtypes of tensors that hold keys and values as they are."""


class ScaleSource(StrEnum):
    """Where the number comes from by which keys or values are divided before they are stored."""

    CHECKPOINT = "checkpoint"
    """A tensor of the checkpoint."""
    COMPUTED = "computed"
    """Computed while the engine runs."""
    DEFAULT = "default"
    """Nothing gives one, so the engine's own default stays."""
    UNKNOWN = "unknown"
    """Could not be read."""


class Scale(Struct, frozen=True, kw_only=True):
    """One scale of the cache, under a guard over what is unknown."""

    name: str
    """`k_scale`, `v_scale`."""
    source: ScaleSource
    value: float | None = None
    """Where the source gives a number: 1.0 by default."""
    tensors: tuple[str, ...] = ()
    """The checkpoint's tensors that are loaded into it, where the checkpoint is at hand."""
    guard: Predicate = Always()

    def __str__(self) -> str:
        told = f"{self.name}: {self.source}"
        return told if self.value is None else f"{told} {self.value}"


class Cache(Struct, frozen=True, kw_only=True):
    """What the engine allocates for the keys and values of one layer on one rank."""

    format: str
    """What is stored, in the flag's words, after all that the engine and the checkpoint change: `fp8`."""
    mode: str | None = None
    """The engine's name of the way in which it quantizes: `FP8_PER_TENSOR`; None where it does not, and where
    that could not be read.
    """
    dtype: str
    """The dtype of the tensor as torch names it: `uint8` where that only holds bytes."""
    shape: tuple[int | str, ...] = ()
    """Elements a dimension; `num_blocks` is known only when the engine has measured its memory."""
    layout: str | None = None
    """The engine's name of the order in memory: `NHD`."""
    order: tuple[int, ...] = ()
    """The dimensions of `shape` from the outermost in memory to the innermost."""
    block_size: int | None = None
    """Tokens in a block."""
    token_bytes: int | None = None
    """Bytes that one token takes."""
    layers: int | None = None
    """Layers of the model that have such a cache."""
    scales: tuple[Scale, ...] = ()
    """Empty where nothing is quantized."""

    @property
    def plain(self) -> bool:
        """Whether the tensor holds the numbers as they are; the mode alone may be one that was not read."""
        return self.mode is None and self.dtype in PLAIN

    def __str__(self) -> str:
        return f"{self.format} as {self.dtype}[{', '.join(map(str, self.shape))}]"
