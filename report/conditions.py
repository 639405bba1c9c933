"""What a guard hangs on: the unknowns that would decide it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .predicate import AllOf, Always, AnyOf, Compare, Member, Never, Not, Opaque, Predicate
from .question import Value

Values = frozenset[Value]
NONE: Values = frozenset()


def deciders(*guards: Predicate) -> tuple[str, ...]:
    """The variables and engine questions that `guards` ask for, each once, in order of first use."""
    return tuple(dict.fromkeys(name for guard in guards for name in _leaves(guard)))


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


def _leaves(guard: Predicate) -> Iterator[str]:
    match guard:
        case Member(name=name):
            yield name
        case Compare() | Opaque():
            yield str(guard)
        case Not(item=item):
            yield from _leaves(item)
        case AllOf(items=items) | AnyOf(items=items):
            for item in items:
                yield from _leaves(item)
