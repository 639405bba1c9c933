"""A layer that a question is about, as its model would make it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..evaluate.values import Value

if TYPE_CHECKING:
    from ..guards import Guard


class Asked(NamedTuple):
    """One layer to build: what it is called, its class, and what that is given."""

    name: str
    cls: Value
    args: tuple[Value, ...]
    kwargs: dict[str, Value]
    path: str
    """Where the model keeps it, in its own names."""
    doubt: str | None
    """What must hold for it to be the layer that the checkpoint's names speak of."""
    apart: str | None
    """What must hold for it to stand for its like in all blocks."""
    guard: Guard | None = None
    """The paths on which the model has it, where the model was asked."""
