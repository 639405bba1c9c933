"""What C++ does with the tensors of a forward: operators narrowed to the dtypes that there are."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ..report.about import about_tensors, is_dtype
from ..report.beside import excludes, families, place
from ..report.chain import LAST
from ..report.model import Compatibility, Hop, HopKind, Operator, Outcome
from ..report.operator import ENDS, reached
from ..report.predicate import Compare, Never, Predicate, leaves
from ..report.settle import settled


def refusals(operator: Operator, outcome: Outcome) -> tuple[Hop, ...]:
    """The checks that raise for this outcome's tensors: whatever else is given, or under a condition on their
    shapes alone. None of them is told where the forward's dtypes are not all known.
    """
    dtypes = known_dtypes(outcome)
    alone = operator.raising() if operator.lost else operator.barred
    met = tuple(hop for hop in alone if _may_be_met(hop.guard, dtypes))
    return met if met or dtypes is None else tuple(_refusals(operator, dtypes))


def _may_be_met(test: Predicate, dtypes: frozenset[str] | None) -> bool:
    """Whether a tensor of the forward may be as a condition asks; where their dtypes are not all known, a
    condition on them is not taken to be met.
    """
    if dtypes is None:
        return not any(map(is_dtype, _comparisons(test)))
    return not isinstance(settled(test, partial(_decide, dtypes)), Never)


def _decide(dtypes: frozenset[str], test: Compare) -> bool | None:
    if not is_dtype(test) or test.right in dtypes:
        return None
    return {"==": False, "!=": True}.get(test.op)


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
    left = reached(operator, partial(_decide, dtypes))
    known = {place(hop): hop for hop in left.hops}
    for above, below in families(operator.hops):
        # Where the function is reached under other conditions, another way may be left.
        if not all(place(hop) in known and about_tensors(known[place(hop)].guard) for hop in above):
            continue
        beside = [hop for hop in below if hop.kind is not HopKind.CHECK]
        launches = [known[place(hop)] for hop in beside if place(hop) in known]
        checks = [known[place(hop)] for hop in below if hop.kind is HopKind.CHECK and place(hop) in known]
        taken = [hop for hop in beside if place(hop) not in known]
        for check in checks:
            if _is_left(check, taken) and all(excludes(check.guard, launch.guard) for launch in launches):
                yield check


def _is_left(check: Hop, taken: list[Hop]) -> bool:
    """Whether a check that never holds is what is left for a tensor of another dtype than a launch is for."""
    tests = list(_comparisons(check.guard))
    asked = {test.left for test in tests if is_dtype(test) and test.op == "=="}
    others = {test.left for hop in taken for test in _comparisons(hop.guard) if is_dtype(test)}
    about_shapes = about_tensors(check.guard)
    only = not any(is_dtype(test) and test.op != "==" for test in tests)
    return check.note in (None, LAST) and only and about_shapes and bool(asked & others)


def _comparisons(test: Predicate) -> list[Compare]:
    return [leaf for leaf in leaves(test) if isinstance(leaf, Compare)]
