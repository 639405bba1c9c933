"""What a walk keeps besides calls and choices: log lines, objects with their arguments, new tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from ...report.predicate import Site
    from ..guards import Guard
    from .values import Instance, Value


class Said(NamedTuple):
    """A line that the engine would log."""

    level: str
    text: str
    function: str
    """The function that logs it."""
    site: Site | None
    guard: Guard
    phase: str


class Made(NamedTuple):
    """An object of a watched class, and what its constructor was given."""

    value: Instance
    args: Any
    kwargs: Any
    guard: Guard


class Allocated(NamedTuple):
    """A tensor that was made: of which dtype, on which paths."""

    dtype: Value
    guard: Guard
    phase: str
