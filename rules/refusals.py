"""Which refusals are for a value that the pin does not know, and which are for everything else."""

from __future__ import annotations

from ..report.model import Outcome, Question, Value
from ..report.predicate import AllOf, Member, Not, Predicate


def unknown_value(outcome: Outcome, question: Question) -> Member | None:
    """The list of known values that the asked one was looked for in and is not on; None for other refusals.

    It is read off the raising statement's own condition, `not VARIABLE in (KNOWN, ...)`, not off its message.
    """
    if outcome.refusal is None:
        return None
    return next((known for known in _lists(outcome.refusal.guard) if _misses(known, question)), None)


def asked_value(known: Member, question: Question) -> Value:
    """What the listed variable was set to: as asked, else as resolved."""
    return question.asked.get(known.name, question.resolved.get(known.name))


def _misses(known: Member, question: Question) -> bool:
    value = asked_value(known, question)
    return value is not None and value not in known.values


def _lists(guard: Predicate) -> tuple[Member, ...]:
    match guard:
        case Not(item=Member() as known):
            return (known,)
        case AllOf(items=items):
            return tuple(known for item in items for known in _lists(item))
        case _:
            return ()
