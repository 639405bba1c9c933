"""How a guard is written for people and reports: short, and the same on every run.

What every way of holding has in common comes first, then what is enough by itself. What is left is written as
a few alternatives or, where that is shorter, as a few requirements.
"""

from __future__ import annotations

from collections import Counter
from itertools import compress
from operator import not_
from typing import TYPE_CHECKING

from ..report.predicate import AllOf, Always, AnyOf, Member, Never, Not, Opaque, Predicate
from .guard_cubes import Cube, cover, ordered, shared, support, union

if TYPE_CHECKING:
    from .guard_nodes import Guard
    from .guards import Space

MOST = 12
"""Alternatives that are written out; a reader is told how many more there are."""

SHORT = 3
"""Values up to which a set is always listed; a longer one may be written as the few that it leaves out."""

COUNTED = 100
"""Alternatives that are looked for, to be counted if not written."""


def describe(space: Space, guard: Guard, room: int = MOST) -> Predicate:
    """`guard` in the language of reports, with at most `room` alternatives."""
    if guard.level < 0:
        return Always() if guard.is_true else Never()
    common, rest = shared(guard)
    if common:
        items = _literals(space, common)
        return _join(AllOf, items if rest.is_true else [*items, describe(space, rest, room)])
    ruled_out, rest = shared(~guard)
    if ruled_out:
        return _either(space, _literals(space, ruled_out, negate=True), ~rest, room)
    return _flat(space, guard, room)


def unsaid(space: Space, guard: Guard) -> Predicate:
    """In place of a guard that has no short form: how many conditions it hangs on, and the oldest of them."""
    levels = support(guard)
    named = [str(space.order[level].predicate or space.order[level].name) for level in levels[:SHORT]]
    return Opaque(f"a condition on {len(levels)} unknowns, among them {'; '.join(named)}")


def _either(space: Space, items: list[Predicate], rest: Guard, room: int) -> Predicate:
    if len(items) + (not rest.is_false) > room:
        cubes, left = cover(rest, COUNTED)
        return _join(AnyOf, [*items[:room], _more(len(items) - room + len(cubes), left)])
    return _join(AnyOf, items if rest.is_false else [*items, describe(space, rest, room - len(items))])


def _flat(space: Space, guard: Guard, room: int) -> Predicate:
    """Alternatives, or requirements where that is shorter, of a guard that no literal settles."""
    cubes, left = cover(guard, COUNTED)
    hidden = max(len(cubes) - room, 0)
    complete = left.is_false and not hidden
    ways = _factored(space, cubes[:room])
    denied, unsaid = cover(~guard, room)
    if unsaid.is_false and max(map(len, denied)) <= room:
        needs = _requirements(space, denied, room)
        if not complete or _weight(needs) < _weight(ways):
            return needs
    return ways if complete else _join(AnyOf, [ways, _more(hidden, left)])


def _requirements(space: Space, denied: list[Cube], room: int) -> Predicate:
    """That none of `denied` holds; those that share no variable with others are conditions of their own."""
    parts: list[list[Cube]] = []
    for cube in denied:
        touching = [part for part in parts if any(cube.keys() & other.keys() for other in part)]
        parts = [part for part in parts if part not in touching]
        parts.append([*(other for part in touching for other in part), cube])
    if len(parts) == 1:
        return _factored(space, denied, negate=True)
    parts.sort(key=lambda part: min(space.ages[level] for cube in part for level in cube))
    return _join(AllOf, [describe(space, ~union(space, part), room) for part in parts])


def _factored(space: Space, cubes: list[Cube], negate: bool = False) -> Predicate:
    """Some of `cubes` (negated: none of them), with literals that several share written once."""
    inner, outer = (AnyOf, AllOf) if negate else (AllOf, AnyOf)
    common = dict(set.intersection(*(set(cube.items()) for cube in cubes)))
    if common or len(cubes) == 1:
        rest = [{level: bits for level, bits in cube.items() if level not in common} for cube in cubes]
        items = _literals(space, common, negate)
        return _join(inner, [*items, _factored(space, rest, negate)] if all(rest) else items)
    counts = Counter(pair for cube in cubes for pair in ordered(space, cube))
    (level, bits), most = max(counts.items(), key=lambda item: (item[1], -space.ages[item[0][0]]))
    if most == 1:
        return _join(outer, [_factored(space, [cube], negate) for cube in cubes])
    group = [cube for cube in cubes if cube.get(level) == bits]
    others = [cube for cube in cubes if cube.get(level) != bits]
    return _join(outer, [_factored(space, part, negate) for part in (group, others)])


def _literals(space: Space, cube: Cube, negate: bool = False) -> list[Predicate]:
    return [_literal(space, level, bits, negate) for level, bits in ordered(space, cube)]


def _literal(space: Space, level: int, bits: int, negate: bool) -> Predicate:
    name, domain, predicate, _ = space.order[level]
    inside = [bool(bits >> i & 1) != negate for i in range(len(domain))]
    if predicate is not None:
        return predicate if inside[0] else _opposite(predicate)
    values, others = tuple(compress(domain, inside)), tuple(compress(domain, map(not_, inside)))
    if len(values) > SHORT and 2 * len(others) <= len(values):
        return Not(Member(name, others))
    return Member(name, values)


def _opposite(predicate: Predicate) -> Predicate:
    if isinstance(predicate, Always | Never):
        return Never() if isinstance(predicate, Always) else Always()
    return predicate.item if isinstance(predicate, Not) else Not(predicate)


def _join(kind: type[AllOf | AnyOf], items: list[Predicate]) -> Predicate:
    """All or any of `items`, without nesting or repetition."""
    flat = [part for item in items for part in (item.items if isinstance(item, kind) else (item,))]
    kept = tuple({repr(item): item for item in flat}.values())
    return kept[0] if len(kept) == 1 else kind(kept)


def _more(count: int, uncounted: Guard) -> Predicate:
    number = count if uncounted.is_false else f"over {count}" if count else "many"
    return Opaque(f"… and {number} more alternatives")


def _weight(predicate: Predicate) -> int:
    """How many conditions a reader meets."""
    if isinstance(predicate, AllOf | AnyOf):
        return sum(map(_weight, predicate.items))
    return 1
