"""Conditions made shorter: what stands above, and what both arms of a branch say, is left out."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ....report.predicate import AllOf, Always, AnyOf, Compare, Never, Opaque, Predicate
from ....report.settle import negated
from .bounds import tightest

MOST = 6
"""Alternatives that are told; what is more is counted."""
_LARGEST = 48
"""Alternatives that are compared with each other."""

Term = frozenset[Predicate]


def shorter(guard: Predicate, above: Iterable[Predicate] = ()) -> Predicate:
    """The same condition, given that what stands above holds."""
    known = frozenset(item for test in above for item in _facts(test))
    terms = _merged({left for term in _terms(guard) if (left := _beside(term, known)) is not None})
    return _told(_absorbed(_merged(_spread(terms))))


def _beside(term: Term, known: Term) -> Term | None:
    """What a term says besides what is known; None where that excludes it."""
    if any(negated(item) in known for item in term):
        return None
    tight = tightest(term | known)
    return None if tight is None else tight - known


def _spread(terms: set[Term]) -> set[Term]:
    """Terms that are alternatives themselves, each apart."""
    found: set[Term] = set()
    for term in terms:
        only = next(iter(term)) if len(term) == 1 else None
        found |= _terms(only) if isinstance(only, AnyOf) else {term}
    return found


def _facts(test: Predicate) -> tuple[Predicate, ...]:
    return test.items if isinstance(test, AllOf) else () if isinstance(test, Always) else (test,)


def _terms(guard: Predicate) -> set[Term]:
    """The alternatives of a condition, each as what must hold together."""
    if isinstance(guard, Always):
        return {frozenset()}
    if isinstance(guard, Never):
        return set()
    if isinstance(guard, AnyOf):
        return (
            set().union(*map(_terms, guard.items)) if len(guard.items) <= _LARGEST else {frozenset({guard})}
        )
    if isinstance(guard, AllOf):
        found: set[Term] = {frozenset()}
        for item in guard.items:
            # An alternative within a conjunction stays as it is: multiplied out it would say less.
            more = {frozenset({item})} if isinstance(item, AnyOf) else _terms(item)
            found = {one | other for one in found for other in more}
        return {term for term in found if not any(negated(item) in term for item in term)}
    return {frozenset({guard})}


def _merged(terms: set[Term]) -> set[Term]:
    """What one alternative says besides another is left out of it: `a or (not a and b)` is `a or b`."""
    tight = (tightest(_plain(term)) for term in terms if not _contradicts(term))
    terms = {term for term in tight if term is not None}
    for _ in range(_LARGEST):
        shorter_ones = _shortened(terms)
        if shorter_ones == terms or len(terms) > _LARGEST:
            return terms
        terms = _absorbed(shorter_ones)
    return terms


def _shortened(terms: set[Term]) -> set[Term]:
    for term in sorted(terms, key=_order):
        for item in sorted(term, key=str):
            rest, opposite = term - {item}, negated(item)
            for other in terms:
                if opposite in other and rest <= other - {opposite}:
                    return (terms - {other}) | {other - {opposite}}
    return terms


def _plain(term: Term) -> Term:
    """Without `x != a` where `x == b`."""
    equal = {item.left: item.right for item in term if isinstance(item, Compare) and _is_equal(item)}
    return frozenset(
        item
        for item in term
        if not (
            isinstance(item, Compare)
            and item.op == "!="
            and equal.get(item.left, item.right) != item.right
            and _CONSTANT.fullmatch(item.right)
        )
    )


def _contradicts(term: Term) -> bool:
    found: dict[str, str] = {}
    return any(negated(item) in term for item in term) or any(
        found.setdefault(item.left, item.right) != item.right
        for item in term
        if isinstance(item, Compare) and _is_equal(item)
    )


# Different words of these are different values; of other names, two may be one.
_CONSTANT = re.compile(r'"[^"]*"|0|-?[1-9]\d*|(?:b?float|u?int|bool)\d*(?:_e\d\w*)?')


def _is_equal(item: Predicate) -> bool:
    return isinstance(item, Compare) and item.op == "==" and _CONSTANT.fullmatch(item.right) is not None


def _absorbed(terms: set[Term]) -> set[Term]:
    return {term for term in terms if not any(other < term for other in terms)}


def _order(term: Term) -> tuple[int, list[str]]:
    return len(term), sorted(map(str, term))


def _told(terms: set[Term]) -> Predicate:
    if not terms:
        return Never()
    if frozenset() in terms:
        return Always()
    common = frozenset.intersection(*terms)
    ordered = [_all(term - common) for term in sorted(terms, key=_order)]
    rest: tuple[Predicate, ...] = ()
    if len(ordered) > 1:
        more = len(ordered) - MOST
        shown = (*ordered[:MOST], Opaque(f"one of {more} more conditions")) if more > 0 else tuple(ordered)
        rest = (AnyOf(shown),)
    elif ordered and ordered[0] != Always():
        rest = (ordered[0],)
    both = (*sorted(common, key=_rank), *(item for part in rest for item in _facts(part)))
    return Always() if not both else both[0] if len(both) == 1 else AllOf(tuple(dict.fromkeys(both)))


def _rank(item: Predicate) -> tuple[bool, str]:
    return not (isinstance(item, Compare) and item.left.startswith("capability")), str(item)


def _all(term: Term) -> Predicate:
    items = tuple(sorted(term, key=_rank))
    return Always() if not items else items[0] if len(items) == 1 else AllOf(items)
