"""Modules and class bodies, evaluated statement by statement as their names are asked for.

A name's value needs every statement that binds the name or changes what it is bound to, in the order of the text,
and no other: that is what keeps one question to the few modules it concerns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .values import MISSING, Value

if TYPE_CHECKING:
    from ..tree import Block
    from .machine import Machine

WAITING, RUNNING, DONE = range(3)


class LazyScope:
    """Names, the statements that make each, and which of those have run."""

    __slots__ = ("execute", "lower", "running", "state", "statements", "values")

    def __init__(
        self,
        statements: dict[str, tuple[int, ...]],
        count: int,
        lower: Callable[[int], Block],
        execute: Callable[[Machine, Block], None],
    ) -> None:
        self.statements, self.lower, self.execute = statements, lower, execute
        self.state = bytearray(count)
        self.running: list[int] = []
        self.values: dict[str, Value] = {}

    def defines(self, name: str) -> bool:
        return name in self.statements or name in self.values

    def read(self, m: Machine, name: str) -> Value:
        """The value of `name`, MISSING where nothing binds it.

        While a statement runs, what stands below it in the text has not happened yet.
        """
        limit = self.running[-1] if self.running else len(self.state)
        for number in self.statements.get(name, ()):
            if number < limit:
                self.run(m, number)
        return self.values.get(name, MISSING)

    def run(self, m: Machine, number: int) -> None:
        if self.state[number] != WAITING:
            return
        self.state[number] = RUNNING
        self.running.append(number)
        try:
            self.execute(m, self.lower(number))
        finally:
            self.running.pop()
        self.state[number] = DONE
