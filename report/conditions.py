"""What a guard hangs on: the unknowns that would decide it."""

from __future__ import annotations

from collections.abc import Iterator

from .predicate import AllOf, Always, AnyOf, Compare, Member, Never, Not, Opaque, Predicate
from .question import Value


def deciders(*guards: Predicate) -> tuple[str, ...]:
    """The variables and engine questions that `guards` ask for, each once, in order of first use."""
    return tuple(dict.fromkeys(name for guard in guards for name in _leaves(guard)))


def possible(guard: Predicate, name: str, value: Value) -> bool:
    """Whether `guard` may hold where the variable `name` is `value`, whatever all others are."""
    return _decide(guard, name, value) is not False


def _decide(guard: Predicate, name: str, value: Value) -> bool | None:
    """Kleene's three values: None where other variables decide."""
    match guard:
        case Always() | Never():
            return isinstance(guard, Always)
        case Member(name=asked, values=values) if asked == name:
            return value in values
        case Not(item=item):
            held = _decide(item, name, value)
            return None if held is None else not held
        case AllOf(items=items) | AnyOf(items=items):
            held_by = {_decide(item, name, value) for item in items}
            decisive = isinstance(guard, AnyOf)
            return decisive if decisive in held_by else None if None in held_by else not decisive
        case _:
            return None


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
