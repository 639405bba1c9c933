"""What C++ does with the tensors of a forward: operators narrowed to the dtypes that there are."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..report.model import Compatibility, Hop, HopKind, Operator, Outcome
from ..report.operator import ENDS, reached
from ..report.outcome import bits_of
from ..report.predicate import AllOf, Always, AnyOf, Compare, Not, Predicate
from ..report.settle import negated

SHAPE = re.compile(r"\.(?:numel|size|dim|stride)\(")
"""A tensor asked for its shape."""
ASKED = "scalar_type()"
"""How a tensor's dtype is asked for in C++."""


def refusals(operator: Operator, outcome: Outcome) -> tuple[Hop, ...]:
    """The checks that raise for this outcome's tensors: whatever else is given, or under a condition on their
    shapes alone. None of them is told where the forward's dtypes are not all known.
    """
    if operator.refused():
        return tuple(hop for hop in operator.hops if hop.kind is HopKind.CHECK)
    dtypes = known_dtypes(outcome)
    return () if dtypes is None else tuple(_refusals(operator, dtypes))


def without_code(operator: Operator) -> tuple[Hop, ...]:
    """The kernels of an operator, where the device can load the code of none and there is nothing else."""
    ends = [hop for hop in operator.hops if hop.kind in ENDS]
    lost = all(hop.image is not None and hop.image.compatibility is Compatibility.MISSING for hop in ends)
    return tuple({hop.symbol: hop for hop in ends}.values()) if ends and lost else ()


def known_dtypes(outcome: Outcome) -> frozenset[str] | None:
    """Every dtype that a tensor of the forward may have, None where it was not followed to its end."""
    if outcome.dtypes is None:
        return None
    return frozenset((*outcome.dtypes, *(parameter.dtype for parameter in outcome.parameters)))


def _refusals(operator: Operator, dtypes: frozenset[str]) -> Iterator[Hop]:
    """Checks that never hold, where no launch of the same function is left under the conditions of the check,
    and the dtypes are what took one away.
    """

    def decide(test: Compare) -> bool | None:
        if not _is_dtype(test) or test.right in dtypes:
            return None
        return {"==": False, "!=": True}.get(test.op)

    left = reached(operator, decide)
    known = {_place(hop): hop for hop in left.hops}
    for above, below in _families(operator.hops):
        # Where the function is reached under other conditions, another way may be left.
        if not all(_place(hop) in known and _about_tensors(known[_place(hop)].guard) for hop in above):
            continue
        beside = [hop for hop in below if hop.kind is not HopKind.CHECK]
        launches = [known[_place(hop)] for hop in beside if _place(hop) in known]
        checks = [known[_place(hop)] for hop in below if hop.kind is HopKind.CHECK and _place(hop) in known]
        taken = [hop for hop in beside if _place(hop) not in known]
        for check in checks:
            if _is_left(check, taken) and all(excludes(check.guard, launch.guard) for launch in launches):
                yield check


def _is_left(check: Hop, taken: list[Hop]) -> bool:
    """Whether a check that never holds is what is left for a tensor of another dtype than a launch is for."""
    tests = list(_comparisons(check.guard))
    asked = {test.left for test in tests if _is_dtype(test) and test.op == "=="}
    others = {test.left for hop in taken for test in _comparisons(hop.guard) if _is_dtype(test)}
    about_shapes = _about_tensors(check.guard)
    only = not any(_is_dtype(test) and test.op != "==" for test in tests)
    return check.note is None and only and about_shapes and bool(asked & others)


def _about_tensors(test: Predicate) -> bool:
    """Whether a condition is on the dtypes and shapes of tensors alone."""
    if isinstance(test, AllOf | AnyOf):
        return all(map(_about_tensors, test.items))
    if isinstance(test, Not):
        return _about_tensors(test.item)
    if isinstance(test, Compare):
        return _is_dtype(test) or SHAPE.search(test.left) is not None
    return isinstance(test, Always)


def _families(hops: tuple[Hop, ...]) -> Iterator[tuple[list[Hop], list[Hop]]]:
    """Each hop, last of those that it stands below, with those one level below it."""
    above: list[Hop] = []
    for place, parent in enumerate(hops):
        above = [*(hop for hop in above if hop.depth < parent.depth), parent]
        below: list[Hop] = []
        for hop in hops[place + 1 :]:
            if hop.depth <= parent.depth:
                break
            if hop.depth == parent.depth + 1:
                below.append(hop)
        if below:
            yield above, below


def excludes(one: Predicate, other: Predicate) -> bool:
    """Whether two conditions are sure not to hold together, by what they say in the same words."""
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


def _place(hop: Hop) -> tuple[str, str, int]:
    return hop.symbol, str(hop.site), hop.depth


def _is_dtype(test: Compare) -> bool:
    return test.left.endswith(ASKED) and bits_of(test.right) is not None


def _comparisons(test: Predicate) -> Iterator[Compare]:
    if isinstance(test, Compare):
        yield test
    elif isinstance(test, Not):
        yield from _comparisons(test.item)
    elif isinstance(test, AllOf | AnyOf):
        for item in test.items:
            yield from _comparisons(item)
