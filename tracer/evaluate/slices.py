"""Places in a sequence: whole numbers and slices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .atoms import describe, is_open, plain
from .typenames import type_name
from .values import Unknown, Value

if TYPE_CHECKING:
    from ..tree import Node
    from .machine import Machine


class SliceValue:
    """A slice with known ends."""

    __slots__ = ("value",)

    def __init__(self, parts: tuple[Any, ...]) -> None:
        self.value = slice(*parts)


def make_slice(m: Machine, a: Value, b: Value, c: Value, node: Node | None) -> Value:
    parts = tuple(map(plain, (a, b, c)))
    if all(p is None or isinstance(p, int) for p in parts):
        return SliceValue(parts)
    return m.unknown("a slice", node)


def as_index(m: Machine, value: Value) -> Value:
    """A place in a sequence: a whole number, a slice or an unknown; TypeError for anything else."""
    at = plain(value)
    if isinstance(at, int | SliceValue | Unknown) or is_open(m, at):
        return at if isinstance(at, int | SliceValue) else m.unknown(describe(at))
    return m.fail("TypeError", f"indices must be integers or slices, not {type_name(at)}")
