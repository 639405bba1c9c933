"""Conditions settled as far as somebody can tell what their comparisons come to."""

from __future__ import annotations

from collections.abc import Callable

from .predicate import AllOf, Always, AnyOf, Compare, Never, Not, Predicate

Decide = Callable[[Compare], bool | None]
"""Whether a comparison holds, None where that is not known."""


def settled(test: Predicate, decide: Decide) -> Predicate:
    """What is left of a condition."""
    if isinstance(test, Compare):
        known = decide(test)
        return test if known is None else Always() if known else Never()
    if isinstance(test, Not):
        inner = settled(test.item, decide)
        return Never() if isinstance(inner, Always) else Always() if isinstance(inner, Never) else Not(inner)
    if isinstance(test, AllOf | AnyOf):
        return _joined(test, [settled(item, decide) for item in test.items])
    return test


def _joined(test: AllOf | AnyOf, items: list[Predicate]) -> Predicate:
    absorbing, neutral = (Never, Always) if isinstance(test, AllOf) else (Always, Never)
    if any(isinstance(item, absorbing) for item in items):
        return absorbing()
    left = tuple(item for item in items if not isinstance(item, neutral))
    if not left:
        return neutral()
    if len(left) == 1:
        return left[0]
    return AllOf(left) if isinstance(test, AllOf) else AnyOf(left)


_TURNED = {"==": "!=", "!=": "==", "<": ">=", ">": "<=", "<=": ">", ">=": "<"}


def negated(test: Predicate) -> Predicate:
    """The opposite, with comparisons turned round."""
    if isinstance(test, Not):
        return test.item
    if isinstance(test, AllOf | AnyOf):
        other = AnyOf if isinstance(test, AllOf) else AllOf
        return other(flat(other, tuple(map(negated, test.items))))
    if isinstance(test, Compare) and test.op in _TURNED:
        return Compare(test.left, _TURNED[test.op], test.right)
    return Not(test)


def flat(kind: type[AllOf] | type[AnyOf], parts: tuple[Predicate, ...]) -> tuple[Predicate, ...]:
    """Parts of a conjunction or disjunction, those that are one themselves taken apart."""
    found: list[Predicate] = []
    for part in parts:
        found += part.items if isinstance(part, AllOf | AnyOf) and isinstance(part, kind) else (part,)
    return tuple(found)
