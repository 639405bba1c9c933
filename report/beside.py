"""What stands beside what below an operator, and whether two conditions can hold together."""

from __future__ import annotations

from collections.abc import Iterator

from .about import about_tensors
from .chain import LAST, Hop, HopKind
from .operator import Operator
from .predicate import AllOf, AnyOf, Predicate
from .settle import negated


def families(hops: tuple[Hop, ...]) -> Iterator[tuple[list[Hop], list[Hop]]]:
    """Each hop, last of those that it stands below, with those one level below it."""
    above: list[Hop] = []
    for at, parent in enumerate(hops):
        above = [*(hop for hop in above if hop.depth < parent.depth), parent]
        below: list[Hop] = []
        for hop in hops[at + 1 :]:
            if hop.depth <= parent.depth:
                break
            if hop.depth == parent.depth + 1:
                below.append(hop)
        if below:
            yield above, below


def place(hop: Hop) -> tuple[str, str, int]:
    """What tells a hop from the others of its operator."""
    return hop.symbol, str(hop.site), hop.depth


def barred(whole: Operator, left: Operator) -> tuple[Hop, ...]:
    """The checks that always raise where `left` is what remains of an operator: all that they are the last
    choice after is gone, as in `if (major == 9) ... else raise` on another device.
    """
    return tuple(_barred(whole, {place(hop): hop for hop in left.hops}))


def _barred(whole: Operator, left: dict[tuple[str, str, int], Hop]) -> Iterator[Hop]:
    for above, below in families(whole.hops):
        if not all(place(hop) in left and about_tensors(left[place(hop)].guard) for hop in above):
            continue
        for check in below:
            if check.kind is not HopKind.CHECK or check.note != LAST or place(check) not in left:
                continue
            others = [
                hop for hop in below if hop.kind is not HopKind.CHECK and excludes(check.guard, hop.guard)
            ]
            if others and not any(place(hop) in left for hop in others):
                yield left[place(check)]


def excludes(one: Predicate, other: Predicate) -> bool:
    """Whether two conditions are sure not to hold together, by what they say in the same words."""
    return _contradicts(one, other) or _contradicts(other, one)


def _contradicts(one: Predicate, other: Predicate) -> bool:
    held = frozenset(map(_form, one.items if isinstance(one, AllOf) else (one,)))
    return any(_fails(item, held) for item in (other.items if isinstance(other, AllOf) else (other,)))


def _fails(item: Predicate, held: frozenset[object]) -> bool:
    if _form(negated(item)) in held:
        return True
    if isinstance(item, AnyOf):
        return all(_fails(each, held) for each in item.items)
    return isinstance(item, AllOf) and any(_fails(each, held) for each in item.items)


def _form(test: Predicate) -> object:
    """A condition whose order of parts says nothing."""
    if isinstance(test, AllOf | AnyOf):
        return type(test), frozenset(map(_form, test.items))
    return test
