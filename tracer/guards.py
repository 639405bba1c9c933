"""Guards: conditions over scenario variables and unknowns, of which equal ones are the same object."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ..report.predicate import Predicate, Scalar
from .guard_cubes import support
from .guard_nodes import OUT_OF_WORK, Diagram, Guard, GuardBudget, Pair
from .guard_text import SHORT, describe, unsaid

__all__ = ["OUT_OF_WORK", "Guard", "GuardBudget", "Space", "Variable"]


WORDS = 50_000
"""Guards that may be made to find the words for one."""


class Variable(NamedTuple):
    """One variable of a space; `predicate` is what a boolean one means, None for a choice."""

    name: str
    domain: tuple[Scalar, ...]
    predicate: Predicate | None
    places: dict[str, int]
    """Where each value stands in the domain, by its repr: 1, True, 1.0 and '1' are different values."""

    def place(self, value: Scalar) -> int:
        found = self.places.get(repr(value))
        if found is None:
            raise ValueError(f"{self.name} cannot be {value!r}: it is one of {self.domain!r}")
        return found


class Space(Diagram):
    """The variables and guards of one question; guards of two spaces must not meet."""

    def __init__(self, max_nodes: int = 2_000_000) -> None:
        super().__init__(max_nodes)
        self.order: dict[int, Variable] = {}
        self._levels: dict[str, int] = {}
        self._narrowed: dict[Pair, Guard] = {}
        self._texts: dict[Guard, Predicate] = {}

    # --- variables

    def atom(self, key: str, predicate: Predicate) -> Guard:
        """The guard that `predicate` holds: one variable for each `key`, which keeps its first predicate."""
        level = self._levels.get(key)
        if level is None:
            level = self._declare(key, (True, False), predicate)
        elif self.order[level].predicate is None:
            raise ValueError(f"{key} is already the name of a choice")
        return self.literal(level, (0,))

    def variable(self, name: str) -> Guard:
        """The guard that the boolean variable of this name holds; it must be there."""
        return self.literal(self._levels[name], (0,))

    def choice(self, name: str, domain: tuple[Scalar, ...], values: Iterable[Scalar]) -> Guard:
        """The guard that the scenario variable `name`, which is one of `domain`, has one of `values`."""
        level = self._levels.get(name)
        if level is None:
            level = self._declare(name, domain, None)
        known = self.order[level]
        if known.domain is not domain and list(map(repr, domain)) != list(known.places):
            raise ValueError(f"{name} is one of {known.domain!r} and cannot also be one of {domain!r}")
        if known.predicate is not None:
            raise ValueError(f"{name} is already the name of an atom")
        return self.literal(level, set(map(known.place, values)))

    def _declare(self, name: str, domain: tuple[Scalar, ...], predicate: Predicate | None) -> int:
        places = {repr(value): i for i, value in enumerate(domain)}
        if not domain or len(places) != len(domain):
            raise ValueError(f"{name} needs one or more values, each once, not {domain!r}")
        level = self._levels[name] = self.declare(len(domain), early=predicate is None)
        self.order[level] = Variable(name, domain, predicate, places)
        return level

    # --- questions

    def variables(self, guard: Guard) -> tuple[str, ...]:
        """The names that decide `guard`, oldest first."""
        return tuple(self.order[level].name for level in support(guard))

    def assign(self, guard: Guard, values: Mapping[str, Scalar]) -> Guard:
        """What is left to ask of `guard` once these variables have these values; other names are ignored."""
        chosen = {}
        for name, value in values.items():
            level = self._levels.get(name)
            if level is not None:
                chosen[level] = self.order[level].place(value)
        return self.cofactor(guard, chosen)

    def models(self, guard: Guard, limit: int) -> list[dict[str, Scalar]]:
        """Up to `limit` ways for `guard` to hold; a variable that is not named in one is free there."""
        found: list[dict[str, Scalar]] = []
        todo: list[tuple[Guard, dict[str, Scalar]]] = [(guard, {})]
        while todo and len(found) < limit:
            node, values = todo.pop()
            if node.is_true:
                found.append(values)
            elif not node.is_false:
                variable = self.order[node.level]
                ways = list(zip(variable.domain, node.children, strict=True))
                todo.extend((child, values | {variable.name: value}) for value, child in reversed(ways))
        return found

    def text(self, guard: Guard) -> str:
        return str(self.predicate(guard))

    def predicate(self, guard: Guard) -> Predicate:
        """`guard` in the language of reports."""
        found = self._texts.get(guard)
        if found is None:
            found = self._texts[guard] = self._described(guard)
        return found

    def _described(self, guard: Guard) -> Predicate:
        """`guard` in words, of which the search for short ones is bounded by itself."""
        before, self.max_nodes = self.max_nodes, self.size + WORDS
        try:
            return describe(self, guard)
        except GuardBudget:
            return unsaid(self, guard)
        finally:
            self.max_nodes = before

    def simplify(self, guard: Guard, under: Guard) -> Guard:
        """What is left to say of `guard` where `under` is known to hold: equal there, and never longer."""
        result = self._narrow(guard, under)
        return result if len(result.nodes()) <= len(guard.nodes()) else guard

    def _narrow(self, guard: Guard, under: Guard) -> Guard:
        """Coudert and Madre's "restrict": branches that `under` rules out become like their neighbours."""
        done = self._narrowed
        todo = [(guard, under)]
        while todo:
            pair = f, c = todo[-1]
            if pair in done:
                todo.pop()
                continue
            if f is c or c.level < 0 or f.level < 0:
                done[pair] = self.false if c.is_false else self.true if f is c else f
                continue
            if c.level > f.level:
                either = self.false
                for child in c.children:
                    either = either | child
                needed = [(f, either)]
            else:
                limits = c.children if c.level == f.level else (c,) * len(f.children)
                needed = list(zip(f.children, limits, strict=True))
            missing = [way for way in needed if way not in done and not way[1].is_false]
            if missing:
                todo.extend(missing)
            elif c.level > f.level:
                done[pair] = done[needed[0]]
            else:
                kept = [done[way] for way in needed if not way[1].is_false]
                fill = self._filler(kept)
                parts = (fill if way[1].is_false else done[way] for way in needed)
                done[pair] = self.node(f.level, tuple(parts))
        return done[guard, under]

    def _filler(self, kept: list[Guard]) -> Guard:
        if self.false in kept and kept.count(self.true) <= SHORT:
            return self.false
        return max(kept, key=kept.count)
