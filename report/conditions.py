"""What a guard hangs on: the unknowns that would decide it."""

from __future__ import annotations

from collections.abc import Iterator

from .predicate import AllOf, AnyOf, Compare, Member, Not, Opaque, Predicate


def deciders(*guards: Predicate) -> tuple[str, ...]:
    """The variables and engine questions that `guards` ask for, each once, in order of first use."""
    return tuple(dict.fromkeys(name for guard in guards for name in _leaves(guard)))


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
