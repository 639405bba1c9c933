"""The conditions of two answers in one space: what both ask in the same words is one unknown."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterable
from enum import StrEnum
from functools import lru_cache, reduce

from ...report.predicate import (
    AllOf,
    Always,
    AnyOf,
    Compare,
    Member,
    Never,
    Not,
    Opaque,
    Predicate,
    Scalar,
    leaves,
)
from ..cpus import kinds
from ..guard_text import unsaid
from ..guards import Guard, Space
from ..scenario import ARCHITECTURES, CAPABILITIES, PLATFORMS

REST = "anything else"
"""The value of a scenario variable that no condition names."""
OPERATORS: dict[str, Callable[[int, int], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
NUMBER = re.compile("-?[0-9]{1,15}")
MOST = 20_000
"""Nodes of guards that two answers may take."""
WORDED = 40
"""Nodes of a guard that is put into words."""
Asked = Member | Compare | Opaque


class Side(StrEnum):
    """Which of the two answers a condition is of."""

    HERE = "here"
    THERE = "there"


Compared = tuple[Side, Compare, int]
"""A comparison of one side with a whole number."""


class Joint:
    """One space for the conditions of two answers."""

    def __init__(self, here: Iterable[Predicate], there: Iterable[Predicate]) -> None:
        asked = {Side.HERE: leaves_of(here), Side.THERE: leaves_of(there)}
        self.space = Space(MOST)
        self._words: dict[Guard, Predicate] = {}
        self._domains = _domains(leaf for leaves in asked.values() for leaf in leaves)
        told = [{str(leaf) for leaf in side if is_expression(str(leaf))} for side in asked.values()]
        self._both = told[0] & told[1]
        numbers = {side: _compared(leaves) for side, leaves in asked.items()}
        self.possible = self.space.true
        """That numbers are somewhere: two comparisons of one are not independent."""
        for left in dict.fromkeys((*numbers[Side.HERE], *numbers[Side.THERE])):
            found = [(side, *one) for side in Side for one in numbers[side].get(left, ())]
            self.possible &= self._somewhere(found)
            if all(left in numbers[side] for side in Side):
                self._both |= {self._name(compare, side) for side, compare, _ in found}

    def guard(self, predicate: Predicate, side: Side) -> Guard:
        """A condition of one side."""
        match predicate:
            case Always() | Never():
                return self.space.true if isinstance(predicate, Always) else self.space.false
            case Not(item=item):
                return ~self.guard(item, side)
            case AllOf(items=items):
                return reduce(operator.and_, (self.guard(item, side) for item in items), self.space.true)
            case AnyOf(items=items):
                return reduce(operator.or_, (self.guard(item, side) for item in items), self.space.false)
            case Member(name=name, values=values):
                return self.space.choice(name, self._domains[name], values)
            case Compare() | Opaque():
                return self._atom(predicate, side)

    def shared(self, guard: Guard) -> bool:
        """Whether all that it hangs on is asked by both, or is a part of the question."""
        known = self._both | self._domains.keys()
        return all(name in known for name in self.space.variables(guard))

    def words(self, guard: Guard) -> Predicate:
        """The condition as it is told; of one that hangs on much, on how much and on what first."""
        found = self._words.get(guard)
        if found is None:
            short = self.space.simplify(guard, self.possible)
            long = len(short.nodes()) > WORDED
            found = unsaid(self.space, short) if long else self._plain(self.space.predicate(short))
            self._words[guard] = found
        return found

    def _atom(self, leaf: Compare | Opaque, side: Side) -> Guard:
        return self.space.atom(self._name(leaf, side), leaf)

    def _name(self, leaf: Compare | Opaque, side: Side) -> str:
        """What it goes by: where one alone asks it, with the side."""
        return str(leaf) if str(leaf) in self._both else f"{side}: {leaf}"

    def _somewhere(self, compared: list[Compared]) -> Guard:
        points = sorted({bound + step for *_, bound in compared for step in (-1, 0, 1)})
        return reduce(operator.or_, (self._at(point, compared) for point in points))

    def _at(self, point: int, compared: list[Compared]) -> Guard:
        held = self.space.true
        for side, compare, bound in compared:
            atom = self._atom(compare, side)
            held &= atom if OPERATORS[compare.op](point, bound) else ~atom
        return held

    def _plain(self, predicate: Predicate) -> Predicate:
        """Without a value that stands for all others."""
        match predicate:
            case Member(name=name, values=values) if REST in values:
                others = tuple(value for value in self._domains[name] if value not in values)
                return Not(Member(name, others))
            case Not(item=item):
                return Not(self._plain(item))
            case AllOf(items=items) | AnyOf(items=items):
                return type(predicate)(tuple(map(self._plain, items)))
            case _:
                return predicate


def plain(guards: Iterable[Predicate]) -> bool:
    """Whether all that they ask means the same at another pin."""
    return all(isinstance(leaf, Member) or is_expression(str(leaf)) for leaf in leaves_of(guards))


def leaves_of(guards: Iterable[Predicate]) -> tuple[Asked, ...]:
    """What conditions are made of."""
    found = (leaf for guard in guards for leaf in leaves(guard) if not isinstance(leaf, Always | Never))
    return tuple(dict.fromkeys(found))


def _domains(leaves: Iterable[Asked]) -> dict[str, tuple[Scalar, ...]]:
    """What each scenario variable may be, by its name."""
    named: dict[str, list[Scalar]] = {}
    for leaf in leaves:
        if isinstance(leaf, Member):
            named.setdefault(leaf.name, []).extend(leaf.values)
    return {name: _domain(name, values) for name, values in named.items()}


def _domain(name: str, values: list[Scalar]) -> tuple[Scalar, ...]:
    known: dict[str, tuple[Scalar, ...]] = {
        "capability": CAPABILITIES,
        "arch": ARCHITECTURES,
        "platform": PLATFORMS,
        "cpu": kinds(),
    }
    domain = known.get(name, (True, False))
    asked = {repr(value): value for value in values}
    return domain if asked.keys() <= set(map(repr, domain)) else (*asked.values(), REST)


def _compared(leaves: Iterable[Asked]) -> dict[str, list[tuple[Compare, int]]]:
    """Comparisons with whole numbers, by the expression that is compared."""
    found: dict[str, list[tuple[Compare, int]]] = {}
    for leaf in leaves:
        number = isinstance(leaf, Compare) and leaf.op in OPERATORS and NUMBER.fullmatch(leaf.right)
        if isinstance(leaf, Compare) and number and is_expression(leaf.left):
            found.setdefault(leaf.left, []).append((leaf, int(leaf.right)))
    return found


@lru_cache(4096)
def is_expression(text: str) -> bool:
    """Whether it is one: a description in words may be of something else at another pin."""
    try:
        ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
