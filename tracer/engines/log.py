"""What the engine would log: its warnings are facts about the way it takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..evaluate.calls import describe_value
from ..evaluate.unions import each, settle
from ..evaluate.values import CONSTANTS, Opaque, Value

if TYPE_CHECKING:
    from .. import tree
    from ..evaluate.machine import Machine

LOGGER = "logger"
GRAVE = ("warning", "error", "critical")
"""Levels that are kept; `warning_once` is one of them."""


def logged(
    m: Machine, func: Opaque, args: tuple[Value, ...], kwargs: dict[str, Value], node: tree.Node | None
) -> Value:
    """Stands for a method of a logger: a grave line is kept, all return nothing."""
    level = func.symbol.rpartition(".")[2].removesuffix("_once")
    if level in GRAVE and args:
        text = each(m, settle(m, args[0]), lambda words: _filled(m, words, args[1:]))
        m.record.said(level, text, node)
    return None


def _filled(m: Machine, words: Value, given: tuple[Value, ...]) -> Value:
    """The line's text as `logging` fills it; what is not known stands there by its name."""
    held = [settle(m, value) for value in given]
    parts = tuple(a if isinstance(a, CONSTANTS) else describe_value(m, a) for a in held)
    if not parts or not isinstance(words, str):
        return words
    try:
        return words % parts
    except (TypeError, ValueError):  # a placeholder for a number, or too few: as it stands in the source
        return words
