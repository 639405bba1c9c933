"""What the checkpoint says of itself, as far as rules hold it against what the engine makes of it."""

from __future__ import annotations

from msgspec import Struct


class Excluded(Struct, frozen=True, kw_only=True):
    """A module that the checkpoint's quantization config names as not quantized."""

    name: str
    """As written there."""
    module: str
    """The engine's name for it, after the model class's renaming."""

    def __str__(self) -> str:
        return self.name if self.name == self.module else f"{self.name} (the engine's {self.module})"


class Checkpoint(Struct, frozen=True, kw_only=True):
    """The checkpoint's own words; None where it says nothing."""

    method: str | None = None
    """`quant_method` of its quantization config."""
    dtype: str | None = None
    """The dtype that its config.json states."""
    activations: bool | None = None
    """Whether its scheme quantizes activations too; None where its config has no words for that."""
    excluded: tuple[Excluded, ...] = ()
    """Names without a pattern in them."""
