"""The walk from a host function to kernels: calls followed with what they hand on, conditions kept."""

from __future__ import annotations

from .edges import Edge, merged
from .files import NativeFiles
from .frame import Frame
from .outline import Definition
from .resolve import Resolver
from .settle import Env, bound_key

DEEPEST = 24
"""Calls within calls that are followed."""


class Walk:
    """One build's functions walked; what a function reaches is kept for each thing that it is handed."""

    def __init__(self, files: NativeFiles) -> None:
        self.files = files
        self.names = Resolver(files)
        self._kept: dict[tuple[Definition, object], tuple[Edge, ...]] = {}
        self._under_way: list[Definition] = []
        self.budgets: set[str] = set()

    def reached(self, function: Definition, env: Env | None = None) -> tuple[Edge, ...]:
        """What a call of a function reaches: kernels, what lies outside, and the functions on the way."""
        env = env or {}
        key = (function, bound_key(env))
        if key in self._kept:
            return self._kept[key]
        if function in self._under_way:
            return ()
        if len(self._under_way) >= DEEPEST:
            self.budgets.add(f"calls below {function.qualified} cut after {DEEPEST} levels")
            return ()
        self._under_way.append(function)
        try:
            edges = tuple(merged(Frame(self, function, env).edges()))
        finally:
            self._under_way.pop()
        self._kept[key] = edges
        return edges
