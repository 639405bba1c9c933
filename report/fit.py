"""Shape gates: sizes of a layer that must divide evenly, or that are rounded up."""

from __future__ import annotations

from msgspec import Struct

from .predicate import Always, Predicate, Site

Size = int | str
"""Elements; a size that is not known is its symbolic term, as in `hidden_size // 2`."""


class Fit(Struct, frozen=True, kw_only=True):
    """One `size % multiple` that the engine looks at, or one size that it rounds up to a multiple."""

    layer: str
    """The layer whose size it is: `down_proj`."""
    dimension: str
    """How the source calls the size: `input_size_per_partition`."""
    size: Size
    multiple: Size
    padded: Size | None = None
    """The size after rounding up; None where the remainder is only looked at."""
    function: str
    """The symbol of the function that asks."""
    site: Site | None = None
    guard: Predicate = Always()
    """When it is asked at all."""

    def left(self) -> int | None:
        """What is left over when the size is divided; None where that is not known."""
        if isinstance(self.size, int) and isinstance(self.multiple, int) and self.multiple:
            return self.size % self.multiple
        return None

    def growth(self) -> float | None:
        """How much rounding up adds, as a share of the size; None where that is not known."""
        if isinstance(self.size, int) and isinstance(self.padded, int) and self.size > 0:
            return (self.padded - self.size) / self.size
        return None

    def __str__(self) -> str:
        if self.padded is not None:
            return f"{self.dimension} {self.size} -> {self.padded} (a multiple of {self.multiple})"
        return f"{self.dimension} {self.size} % {self.multiple}"
