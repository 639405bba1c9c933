"""The diagrams that guards are made of, in which equal conditions are the same object.

They are reduced ordered multi-valued decision diagrams, whose nodes are shared through one table. Nothing
here recurses.

Choices are tested first, the oldest first: a few scenario variables split a diagram into parts that know
little of each other. Atoms come below, the newest first: a path that asks something new gets one node on top
of what it was, whatever its length. In measurements, any single order for both made diagrams larger.
"""

from __future__ import annotations

import math
from collections.abc import Container, Mapping

Pair = tuple["Guard", "Guard"]

TOP = 1 << 40
"""The level of the very first variable, when it is one to test early."""

OUT_OF_WORK = "the work for one question"
"""What is told where a bound of work ends a question or a part of it."""


class GuardBudget(RuntimeError):  # noqa: N818 - the word of the design: a bound was reached, nothing is wrong
    """Says that a space has reached its bound of nodes or of work; what is not decided by then stays open."""


class Guard:
    """A condition: combine with `&`, `|` and `~`, compare with `is`."""

    __slots__ = ("children", "id", "is_false", "is_true", "level", "space")

    def __init__(self, space: Diagram, number: int, level: int, children: tuple[Guard, ...]) -> None:
        self.space, self.id, self.level, self.children = space, number, level, children
        self.is_true = self.is_false = False

    def __and__(self, other: Guard) -> Guard:
        if self is other or other.is_true or self.is_false:
            return self
        if self.is_true or other.is_false:
            return other
        space = self.space
        pair = (self, other) if self.id < other.id else (other, self)
        found = space.meets.get(pair)
        return space.meet(pair) if found is None else found

    def __or__(self, other: Guard) -> Guard:
        if self is other or other.is_false or self.is_true:
            return self
        if self.is_false or other.is_true:
            return other
        space = self.space
        pair = (self, other) if self.id < other.id else (other, self)
        found = space.joins.get(pair)
        return space.join(pair) if found is None else found

    def __invert__(self) -> Guard:
        found = self.space.opposites.get(self)
        return self.space.negate(self) if found is None else found

    def __bool__(self) -> bool:
        raise TypeError("a guard is neither true nor false by itself; ask is_true, is_false or implies")

    def implies(self, other: Guard) -> bool:
        """Whether `other` holds wherever this does."""
        return (self & other) is self

    def disjoint(self, other: Guard) -> bool:
        """Whether the two never hold together."""
        return (self & other).is_false

    def nodes(self) -> list[Guard]:
        """The distinct tests that decide this guard, itself first; none for true and false."""
        found: list[Guard] = []
        seen = {self.space.false, self.space.true}
        todo = [self]
        while todo:
            node = todo.pop()
            if node not in seen:
                seen.add(node)
                found.append(node)
                todo.extend(node.children)
        return found

    def __repr__(self) -> str:
        return f"<Guard {self.space.text(self)}>"


class Diagram:
    """The table of nodes, and what can be computed on them; knows variables by number only."""

    def __init__(self, max_nodes: int) -> None:
        self.max_nodes, self.size = max_nodes, 0
        self.work, self.limit = 0, math.inf
        """Pairs of guards looked at, and how many of them end it: the same on every machine."""
        self.false, self.true = Guard(self, 0, -1, ()), Guard(self, 1, -1, ())
        self.false.is_false = self.true.is_true = True
        self.meets: dict[Pair, Guard] = {}
        self.joins: dict[Pair, Guard] = {}
        self.opposites = {self.false: self.true, self.true: self.false}
        self.widths: dict[int, int] = {}
        self.ages: dict[int, int] = {}
        self.tables: dict[int, dict[tuple[Guard, ...], Guard]] = {}

    def declare(self, width: int, early: bool) -> int:
        """A new variable with `width` values; returns its level, of which the highest is tested first."""
        age = len(self.ages)
        level = TOP - age if early else age
        self.widths[level], self.ages[level], self.tables[level] = width, age, {}
        return level

    def literal(self, level: int, places: Container[int]) -> Guard:
        """The guard that the variable at `level` has one of the values at `places` of its domain."""
        width = self.widths[level]
        return self.node(level, tuple(self.true if i in places else self.false for i in range(width)))

    def text(self, guard: Guard) -> str:
        """How `guard` shows itself to a developer."""
        return f"over {len(guard.nodes())} nodes"

    def node(self, level: int, children: tuple[Guard, ...]) -> Guard:
        """The one guard that tests the variable at `level` and goes on with the child of its value."""
        if children.count(children[0]) == len(children):
            return children[0]
        found = self.tables[level].get(children)
        if found is None:
            if self.size >= self.max_nodes:
                raise GuardBudget(f"more than {self.max_nodes} guard nodes over {len(self.widths)} variables")
            self.size += 1
            found = self.tables[level][children] = Guard(self, self.size + 1, level, children)
        return found

    def meet(self, pair: Pair) -> Guard:
        """Both guards of `pair`. That each of them holds where both do is kept as well: what was cut to a
        path is met with that path again and again.
        """
        both = self.combine(pair, self.meets, self.true, self.false)
        for one in pair:
            self.meets[(one, both) if one.id < both.id else (both, one)] = both
        return both

    def join(self, pair: Pair) -> Guard:
        """Either guard of `pair`, and that it holds wherever one of them does."""
        either = self.combine(pair, self.joins, self.false, self.true)
        for one in pair:
            key = (one, either) if one.id < either.id else (either, one)
            self.joins[key], self.meets[key] = either, one
        return either

    def combine(self, pair: Pair, memo: dict[Pair, Guard], neutral: Guard, absorbing: Guard) -> Guard:
        """Both guards of `pair` (neutral: true) or either of them (neutral: false), remembered in `memo`."""
        if pair[0].space is not self or pair[1].space is not self:
            raise ValueError("guards of two spaces cannot be combined")
        if len(memo) > self.max_nodes:
            memo.clear()
        todo = [pair]
        while todo:
            self.work += 1
            if self.work > self.limit:
                raise GuardBudget(OUT_OF_WORK)
            current = f, g = todo[-1]
            level, other = f.level, g.level
            left, right = f.children, g.children
            if level > other:
                right = (g,) * len(left)
            elif level < other:
                level, left = other, (f,) * len(right)
            known = len(todo)
            parts = []
            for a, b in zip(left, right):  # noqa: B905 - as long as each other, and the hottest loop there is
                if a is b or b is neutral or a is absorbing:
                    parts.append(a)
                elif a is neutral or b is absorbing:
                    parts.append(b)
                else:
                    key = (a, b) if a.id < b.id else (b, a)
                    found = memo.get(key)
                    if found is None:
                        todo.append(key)
                    else:
                        parts.append(found)
            if len(todo) == known:
                memo[current] = self.node(level, tuple(parts))
                todo.pop()
        return memo[pair]

    def negate(self, guard: Guard) -> Guard:
        """Where `guard` does not hold."""
        result = self._rebuild(guard, self.opposites, {})
        self.opposites[result] = guard
        return result

    def cofactor(self, guard: Guard, chosen: Mapping[int, int]) -> Guard:
        """`guard` with the variables at these levels fixed to these places of their domains."""
        return self._rebuild(guard, {}, chosen) if chosen else guard

    def _rebuild(self, root: Guard, done: dict[Guard, Guard], chosen: Mapping[int, int]) -> Guard:
        lowest = min(chosen, default=0)
        todo = [root]
        while todo:
            node = todo[-1]
            if node in done or node.level < lowest:
                done.setdefault(node, node)
                todo.pop()
                continue
            place = chosen.get(node.level)
            needed = node.children if place is None else (node.children[place],)
            missing = [child for child in needed if child not in done]
            if missing:
                todo.extend(missing)
            else:
                images = tuple(done[child] for child in needed)
                done[node] = self.node(node.level, images) if place is None else images[0]
        return done[root]
