"""What stands beside what below an operator, and whether two conditions can hold together."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .chain import Hop, HopKind
from .operator import Operator
from .outcome import bits_of
from .predicate import AllOf, Always, AnyOf, Compare, Not, Opaque, Predicate
from .settle import negated

SHAPE = re.compile(r"\.(?:numel|size|dim|stride)\(")
"""A tensor asked for its shape."""
ASKED = "scalar_type()"
"""How a tensor's dtype is asked for in C++."""


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


def about_tensors(test: Predicate) -> bool:
    """Whether a condition is on the dtypes and shapes of tensors alone."""
    if isinstance(test, AllOf | AnyOf):
        return all(map(about_tensors, test.items))
    if isinstance(test, Not):
        return about_tensors(test.item)
    if isinstance(test, Compare):
        return is_dtype(test) or SHAPE.search(test.left) is not None
    return isinstance(test, Always)


def is_dtype(test: Compare) -> bool:
    """Whether a comparison is of a tensor's dtype."""
    return test.left.endswith(ASKED) and bits_of(test.right) is not None


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
            if check.kind is not HopKind.CHECK or check.note is not None or place(check) not in left:
                continue
            others = [
                hop for hop in below if hop.kind is not HopKind.CHECK and excludes(check.guard, hop.guard)
            ]
            gone = others and not any(place(hop) in left for hop in others)
            if gone and _is_usual(left[place(check)].guard):
                yield left[place(check)]


def _is_usual(test: Predicate) -> bool:
    """Whether a condition is on tensors, on how the file is compiled, or that the function did not end
    early: then nothing that the caller chooses leads elsewhere.
    """
    if isinstance(test, AllOf):
        return all(map(_is_usual, test.items))
    if isinstance(test, Opaque):
        return test.symbol.startswith("#if ")
    if isinstance(test, Compare) and (test.op, test.right) == ("!=", "0"):
        return True  # a size: for nothing there is nothing to launch
    return about_tensors(test) or (isinstance(test, Not) and isinstance(test.item, Opaque))


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
