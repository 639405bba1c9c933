"""Modules and class bodies, evaluated statement by statement as their names are asked for.

A name's value needs every statement that binds the name or changes what it is bound to, in the order of
the text,
and no other: that is what keeps one question to the few modules it concerns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..readings import ALL
from .unions import store
from .values import MISSING, Value

if TYPE_CHECKING:
    from ..tree import Block
    from .machine import Machine

WAITING, RUNNING, DONE = range(3)


class LazyScope:
    """Names, the statements that make each, and which of those have run."""

    __slots__ = ("asked", "before", "execute", "lower", "makes", "running", "state", "statements", "values")

    def __init__(
        self,
        statements: dict[str, tuple[int, ...]],
        count: int,
        lower: Callable[[int], Block],
        execute: Callable[[Machine, Block], bool],
        asked: set[str],
    ) -> None:
        self.statements, self.lower, self.execute = statements, lower, execute
        self.asked = asked
        """The names that were asked for, by any question."""
        self.state = bytearray(count)
        self.running: list[int] = []
        self.values: dict[str, Value] = {}
        self.makes: dict[int, list[str]] = {}
        for name, numbers in statements.items():
            for number in numbers[1:]:
                self.makes.setdefault(number, []).append(name)
        self.before: dict[tuple[str, int], Value] = {}
        """What a name was before a statement bound it again: statements above may be asked for later."""

    def defines(self, name: str) -> bool:
        self.asked.add(name)
        return name in self.statements or name in self.values

    def named(self) -> list[str]:
        """Every name that a statement binds, in textual order."""
        self.asked.add(ALL)
        return list(self.statements)

    def read(self, m: Machine, name: str) -> Value:
        """The value of `name`, MISSING where nothing binds it.

        While a statement runs, what stands below it in the text has not happened yet.
        """
        self.asked.add(name)
        limit = self.running[-1] if self.running else len(self.state)
        for number in self.statements.get(name, ()):
            if number < limit:
                self.run(m, number)
            elif self.state[number] == DONE and (name, number) in self.before:
                return self.before[name, number]
        return self.values.get(name, MISSING)

    def write(self, m: Machine, name: str, value: Value) -> None:
        """Bind `name` from outside, on the current path, over whatever its own statements make it."""
        m.touch(self, ("name", name))
        self.values[name] = store(m, self.read(m, name), value, m.space.true)

    @contextmanager
    def completed(self) -> Iterator[None]:
        """See every name, whatever is under way: for what Python does once a body has been run."""
        running, self.running = self.running, []
        try:
            yield
        finally:
            self.running = running

    def run(self, m: Machine, number: int) -> None:
        if self.state[number] != WAITING:
            return
        self.state[number] = RUNNING
        for name in self.makes.get(number, ()):
            self.asked.add(name)
            for earlier in self.statements[name]:
                if earlier < number:
                    self.run(m, earlier)
            self.before[name, number] = self.values.get(name, MISSING)
        self.running.append(number)
        try:
            ended = self.execute(m, self.lower(number))
        finally:
            self.running.pop()
        self.state[number] = DONE
        if not ended:
            self._bind_unknown(m, number)

    def _bind_unknown(self, m: Machine, number: int) -> None:
        """What a statement binds whose end was not reached: the engine's own start does get past it."""
        for name, numbers in self.statements.items():
            if number in numbers and name not in self.values:
                self.values[name] = m.unknown(f"what {name} is bound to")
