"""The rows of a forward as a line of numbers: where what a layer runs changes, and what it runs between."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import product

from ..report.predicate import Compare
from .evaluate.comparing import ORDER
from .evaluate.record import Edge
from .guards import Guard, Space

ROWS = "M"
"""How conditions call the rows of a forward."""

MOST = 4
"""Other conditions on the rows, such as `M % 128 == 0`, that are told apart at most."""


def about_rows(text: str) -> bool:
    """Whether a condition is one on the rows of a forward: it belongs to the scenario.

    What compares them with a tensor that nobody knows does not.
    """
    if re.search(r"\ba tensor\b", text):
        return False
    return re.search(rf"(^|[ (]){ROWS}([ )]|$)", text) is not None


def by_rows(space: Space, work: list[Edge], guard: Guard) -> list[tuple[Guard, tuple[str, ...]]]:
    """What the edges call on the paths of `guard`, for each range of rows in which that is the same."""
    cells, line = _cells(space, work), space.false
    found: dict[tuple[str, ...], Guard] = {}
    for cell in cells:
        line = line | cell
        if not cell.disjoint(guard):
            ops = called(work, cell & guard)
            found[ops] = found.get(ops, space.false) | cell
    if len(found) < 2:
        return [(guard, ops) for ops in found]
    return [(guard & _shortest(space, cell, line), ops) for ops, cell in found.items()]


def _shortest(space: Space, part: Guard, line: Guard) -> Guard:
    """`part` without the conditions that say nothing more of it, on a line that has no other numbers."""
    out = part
    for name in space.variables(part):
        wider = space.assign(out, {name: True}) | space.assign(out, {name: False})
        if wider & line is part:
            out = wider
    return out


def called(work: Iterable[Edge], guard: Guard) -> tuple[str, ...]:
    """Operators called on some of these paths, in order of first call."""
    return tuple(dict.fromkeys(e.callee for e in work if not e.guard.disjoint(guard)))


def _cells(space: Space, work: list[Edge]) -> list[Guard]:
    """The numbers of rows, cut where one of the conditions on them changes."""
    names = dict.fromkeys(v for e in work for v in space.variables(e.guard) if about_rows(v))
    asked = {v.name: v.predicate for v in space.order.values() if v.name in names}
    bounds = {n: p for n, p in asked.items() if isinstance(p, Compare) and _bound(p) is not None}
    others = [n for n in asked if n not in bounds][:MOST]
    ranges = dict.fromkeys(tuple(_holds(p, at) for p in bounds.values()) for at in _starts(bounds.values()))
    return [
        _both(space, dict(zip((*bounds, *others), (*values, *more), strict=True)))
        for values in ranges
        for more in product((True, False), repeat=len(others))
    ]


def _bound(predicate: Compare) -> int | None:
    """The number that the rows are compared with, if that is all that is compared."""
    left, right = predicate.left, predicate.right
    number = right if left == ROWS else left if right == ROWS else ""
    known = predicate.op in ORDER or predicate.op == "=="
    return int(number) if known and number.isdecimal() else None


def _starts(bounds: Iterable[Compare]) -> list[int]:
    """The first number of rows of each range in which no condition changes; there is at least one row."""
    at = [number for number in map(_bound, bounds) if number is not None]
    return sorted({1, *(n for number in at for n in (number, number + 1) if n > 1)})


def _holds(predicate: Compare, rows: int) -> bool:
    left, right = (rows if term == ROWS else int(term) for term in (predicate.left, predicate.right))
    return left == right if predicate.op == "==" else bool(ORDER[predicate.op][0](left, right))


def _both(space: Space, values: Mapping[str, bool]) -> Guard:
    """The guard that every one of these variables has its value."""
    out = space.true
    for name, value in values.items():
        literal = space.variable(name)
        out = out & (literal if value else ~literal)
    return out
