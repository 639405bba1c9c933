"""What a guard hangs on: the unknowns that would decide it."""

from __future__ import annotations

from collections.abc import Iterable

from .predicate import AllOf, Always, AnyOf, Leaf, Member, Never, Not, Predicate, leaves
from .question import Value

Values = frozenset[Value]
NONE: Values = frozenset()


def deciders(*guards: Predicate) -> tuple[str, ...]:
    """The variables and engine questions that `guards` ask for, each once, in order of first use."""
    asked = (leaf for guard in guards for leaf in leaves(guard) if not isinstance(leaf, Always | Never))
    return tuple(dict.fromkeys(map(_name, asked)))


def admitted(guard: Predicate, name: str, values: Iterable[Value]) -> frozenset[Value]:
    """Those of the values of the variable `name` with which `guard` may hold, whatever all others are."""
    return _split(guard, name, frozenset(values))[0]


def _split(guard: Predicate, name: str, values: Values) -> tuple[Values, Values]:
    """The values with which it may hold, and those with which it may not: both, where others decide."""
    match guard:
        case Always() | Never():
            return (values, NONE) if isinstance(guard, Always) else (NONE, values)
        case Member(name=asked, values=among) if asked == name:
            return values.intersection(among), values.difference(among)
        case Not(item=item):
            return _split(item, name, values)[::-1]
        case AllOf(items=items) | AnyOf(items=items):
            parts = [_split(item, name, values) for item in items]
            held, failed = [part[0] for part in parts], [part[1] for part in parts]
            if isinstance(guard, AnyOf):
                return NONE.union(*held), values.intersection(*failed)
            return values.intersection(*held), NONE.union(*failed)
        case _:
            return values, values


def _name(leaf: Leaf) -> str:
    return leaf.name if isinstance(leaf, Member) else str(leaf)
