"""One file of C++: its functions, and what they may return in a given build."""

from __future__ import annotations

from collections.abc import Mapping

from ...report.predicate import Site
from .cpp import Function
from .directives import alive_at, directives, without_comments
from .evaluation import Failed, Reading
from .lowering import definitions, templates
from .syntax import parsed
from .values import Facts, Macros, Open, Value, left_open


class Unit:
    """One file's functions and directives."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.functions: dict[str, list[Function]] = {}
        self._directives = directives(without_comments(text))
        root = parsed(text)
        self._templates = templates(root)
        for name, function in sorted(definitions(root, path), key=lambda pair: pair[1].line):
            self.functions.setdefault(name, []).append(function)

    def signature(self, name: str) -> tuple[str, tuple[str, ...]]:
        """Give the kind that a function returns, and the names of its parameters."""
        first = self.functions[name][0]
        return first.kind, tuple(param for param, _ in first.params)

    def live(self, name: str, facts: Facts) -> Function | None:
        """Give the definition of a function that is certainly compiled, where it is the only one."""
        found = self._helper(name, facts)
        return None if found is None else found[0]

    def failed(self, name: str, args: tuple[Value, ...], facts: Facts) -> Failed | None:
        """Find a check that every call of a function with these arguments fails, unless it raises before."""
        found = self._helper(name, facts)
        if found is None:
            return None
        function, macros = found
        reading = Reading(lambda called: self._helper(called, facts), facts, macros)
        reading.call(function, args)
        return next(iter(reading.failed), None)

    def results(
        self, name: str, args: Mapping[str, Value], facts: Facts
    ) -> tuple[list[tuple[Value, Site]], set[str]]:
        """Evaluate every definition that may be compiled, and collect what was asked."""
        results: list[tuple[Value, Site]] = []
        asked: set[str] = set()
        certain = 0
        for function in self.functions[name]:
            alive, macros = alive_at(function.line, self._directives, facts)
            if alive == 0:
                continue
            certain += alive == 1
            if isinstance(alive, Open):
                asked |= alive.needs
            reading = Reading(lambda called: self._helper(called, facts), facts, macros)
            given = tuple(args.get(param, left_open(param)) for param, _ in function.params)
            results += reading.call(function, given)
            asked |= reading.asked
        if not results or certain > 1:
            results.append((left_open(f"one definition of {name}"), Site(self.path, 0)))
        return results, asked

    def _helper(self, name: str, facts: Facts) -> tuple[Function, Macros] | None:
        """Give a helper that is certainly compiled, and only once."""
        states = [(f, *alive_at(f.line, self._directives, facts)) for f in self.functions.get(name, ())]
        possible = [state for state in states if state[1] != 0 and name not in self._templates]
        function, alive, macros = possible[0] if len(possible) == 1 else (None, 0, {})
        return (function, macros) if function and alive == 1 else None
