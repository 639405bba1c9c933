"""Comparisons of one term with numbers: which of several that hold together say anything more."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping

from ....report.predicate import AnyOf, Compare, Predicate

Range = tuple[float, float]
"""Least and largest number that a term may be; what lies beyond a whole number begins half of one further, so
that fractions count too: `p > 0 and p < 1` may hold.
"""

_HALF = 0.5
_NUMBER = re.compile(r"-?\d{1,15}")


def number(test: Predicate) -> int | None:
    """The number that a comparison is with."""
    found = _NUMBER.fullmatch(test.right) if isinstance(test, Compare) else None
    return int(found[0]) if found else None


def tightest(term: Iterable[Predicate]) -> frozenset[Predicate] | None:
    """The same conditions without what others of them imply; None where they exclude each other."""
    items = frozenset(term)
    ranges = _ranges(items)
    if any(low > high for low, high in ranges.values()):
        return None
    left: set[Predicate] = set()
    for item in _needed(items):
        if isinstance(item, AnyOf):
            kept = _open(item, ranges)
            if kept is None:
                continue
            if not kept:
                return None
            left.add(kept[0] if len(kept) == 1 else AnyOf(kept))
        else:
            left.add(item)
    return frozenset(left)


def _needed(items: frozenset[Predicate]) -> frozenset[Predicate]:
    """Without comparisons that those left imply; one after another, since two may imply each other."""
    for item in sorted((item for item in items if number(item) is not None), key=str):
        if _holds(item, _ranges(items - {item})) is True:
            items -= {item}
    return items


def _open(item: AnyOf, ranges: Mapping[str, Range]) -> tuple[Predicate, ...] | None:
    """The alternatives that may hold; None where one does for sure."""
    states = [(part, _holds(part, ranges)) for part in item.items]
    if any(state is True for _, state in states):
        return None
    return tuple(part for part, state in states if state is not False)


def _ranges(items: Iterable[Predicate]) -> dict[str, Range]:
    found: dict[str, Range] = {}
    for item in items:
        value = number(item)
        if value is None or not isinstance(item, Compare):
            continue
        low, high = found.get(item.left, (-math.inf, math.inf))
        low = max(low, {">": value + _HALF, ">=": value, "==": value}.get(item.op, -math.inf))
        high = min(high, {"<": value - _HALF, "<=": value, "==": value}.get(item.op, math.inf))
        found[item.left] = low, high
    return found


def _holds(item: Predicate, ranges: Mapping[str, Range]) -> bool | None:
    """Whether a comparison holds for every number of a range, for none, or for some."""
    value = number(item)
    if value is None or not isinstance(item, Compare) or item.left not in ranges:
        return None
    low, high = ranges[item.left]
    least, most = {
        "<": (-math.inf, value - _HALF),
        "<=": (-math.inf, value),
        ">": (value + _HALF, math.inf),
        ">=": (value, math.inf),
        "==": (value, value),
    }.get(item.op, (-math.inf, math.inf))
    if item.op == "!=":
        return None if low <= value <= high and low != high else not low == high == value
    if least <= low and high <= most:
        return True
    return False if high < least or low > most else None
