"""Ways for a guard to hold: literals that it needs, and few cubes of literals that make it up."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate

from .guard_nodes import Diagram, Guard

Cube = dict[int, int]
"""Literals that hold together: a variable's level, and the places of its domain that it may have, as bits."""

EFFORT = 300
"""Literals after which no more cubes are looked for."""


def support(guard: Guard) -> list[int]:
    """The levels of the variables that decide `guard`, oldest first."""
    return sorted({node.level for node in guard.nodes()}, key=guard.space.ages.__getitem__)


def ordered(space: Diagram, cube: Cube) -> list[tuple[int, int]]:
    """The literals of `cube`, those of the oldest variables first."""
    return sorted(cube.items(), key=lambda literal: space.ages[literal[0]])


def shared(guard: Guard) -> tuple[Cube, Guard]:
    """Literals that hold wherever `guard` does and settle their variables, and the rest of what it asks."""
    common = necessary(guard)
    for level, bits in list(common.items()):
        ways = [guard.space.cofactor(guard, {level: i}) for i in _places(bits)] if bits & (bits - 1) else []
        if any(way is not ways[0] for way in ways):
            del common[level]
    chosen = {level: bits.bit_length() - 1 for level, bits in common.items()}
    return common, guard.space.cofactor(guard, chosen)


def necessary(guard: Guard) -> Cube:
    """Per variable that every way of holding asks, the values that lead there, where those are not all."""
    nodes = guard.nodes()
    widths = {node.level: len(node.children) for node in nodes}
    rank = {level: i for i, level in enumerate(sorted(widths))}
    bits = dict.fromkeys(rank, 0)
    skips = [0] * (len(rank) + 1)
    for node in nodes:
        for i, child in enumerate(node.children):
            if not child.is_false:
                bits[node.level] |= 1 << i
                skips[rank.get(child.level, -1) + 1] += 1
                skips[rank[node.level]] -= 1
    always = [level for level, skipped in zip(rank, accumulate(skips), strict=False) if not skipped]
    return {level: bits[level] for level in always if bits[level] + 1 != 1 << widths[level]}


def cover(guard: Guard, most: int) -> tuple[list[Cube], Guard]:
    """Cubes, none of which can be wider, that make `guard` up, and what they leave of it.

    There are at most `most`, and fewer when they get long: nobody reads those, and they are slow to find.
    """
    space = guard.space
    cubes: list[Cube] = []
    left = guard
    while not left.is_false and len(cubes) < most and sum(map(len, cubes)) < EFFORT:
        cubes.append(_widen(_shortest(left), guard))
        left = left & ~union(space, cubes[-1:])
    later = [space.false]
    for cube in reversed(cubes):
        later.append(later[-1] | union(space, [cube]))
    earlier, kept = space.false, []
    for cube, others in zip(cubes, reversed(later[:-1]), strict=True):
        whole = union(space, [cube])
        if not whole.implies(earlier | others):
            earlier = earlier | whole
            kept.append(cube)
    return sorted(
        kept, key=lambda cube: [(space.ages[level], bits) for level, bits in ordered(space, cube)]
    ), left


def union(space: Diagram, cubes: Iterable[Cube]) -> Guard:
    """The guard that one of `cubes` holds."""
    either = space.false
    for cube in cubes:
        whole = space.true
        for level, bits in sorted(cube.items()):
            whole = space.literal(level, _places(bits)) & whole
        either = either | whole
    return either


def _shortest(guard: Guard) -> Cube:
    """A way for `guard` to hold that asks few variables."""
    steps: dict[Guard, int] = {guard.space.true: 0}
    for node in sorted(guard.nodes(), key=lambda node: node.level):
        steps[node] = 1 + min(steps[child] for child in node.children if child in steps)
    cube: Cube = {}
    node = guard
    while not node.is_true:
        way = min((child for child in node.children if child in steps), key=steps.__getitem__)
        cube[node.level] = sum(1 << i for i, child in enumerate(node.children) if child is way)
        node = way
    return cube


def _widen(cube: Cube, guard: Guard) -> Cube:
    """`cube` with every literal dropped, and every value allowed, that `guard` does not need."""
    space = guard.space
    for level in sorted(cube):
        without = {other: bits for other, bits in cube.items() if other != level}
        if union(space, [without]).implies(guard):
            cube = without
            continue
        for place in range(space.widths[level]):
            wider = without | {level: cube[level] | 1 << place}
            if union(space, [wider]).implies(guard):
                cube = wider
    return cube


def _places(bits: int) -> list[int]:
    return [i for i in range(bits.bit_length()) if bits >> i & 1]
