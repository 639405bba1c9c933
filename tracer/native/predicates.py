"""Small pure host functions (`cutlass_scaled_mm_supports_fp8`) answered by reading them, in three values.

A function is lowered from tree-sitter's tree to the few shapes of `cpp` and evaluated over them. What lies
outside of that subset of C++, and what nobody told, stays open and says what would decide it: nothing is
guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct

from ...report.predicate import Site
from .units import Unit
from .values import Facts, Open, left_open

if TYPE_CHECKING:
    from ..sources import Source


class Answer(Struct, frozen=True):
    """What a predicate comes to: its value, or None while it is undecided."""

    value: bool | int | None
    sites: tuple[Site, ...]
    """The returns that may be taken."""
    needs: frozenset[str]
    """What would decide it: macros, queries, parameters; with a blank in it, a construct that is not read."""

    @property
    def site(self) -> Site | None:
        """The return that was taken, where it is one."""
        return self.sites[0] if len(self.sites) == 1 else None


class HostPredicate:
    """A host function that returns a bool or an integer, ready to be asked."""

    def __init__(self, name: str, unit: Unit) -> None:
        self.name = name
        self._unit = unit
        self._kind, self.params = unit.signature(name)
        self.sites = tuple(Site(f.path, f.line) for f in unit.functions[name])

    def answer(self, args: Mapping[str, int], macros: Facts) -> Answer:
        """Evaluate for arguments by name and what is known of the build; what is missing stays open."""
        try:
            results, asked = self._unit.results(self.name, args, macros)
        except RecursionError:
            results, asked = [(left_open("more depth"), self.sites[0])], {"more depth"}
        sites = tuple(dict.fromkeys(site for _, site in results if site.line))
        values = {value for value, _ in results}
        needs = asked.union(*(value.needs for value in values if isinstance(value, Open)))
        if len(values) != 1 or isinstance(first := values.pop(), Open):
            return Answer(None, sites, frozenset(needs))
        return Answer(bool(first) if self._kind == "bool" else first, sites, frozenset())

    def decide(self, args: Mapping[str, int], macros: Facts) -> bool | int | None:
        """Give the value, or None while it is undecided."""
        return self.answer(args, macros).value

    @cached_property
    def needs(self) -> frozenset[str]:
        """What it may ask beside its parameters: macros, queries, and constructs that are not read."""
        return self.answer({}, {}).needs - frozenset(self.params)


def read_predicate(source: Source, function: str, paths: Iterable[str]) -> HostPredicate | None:
    """Find a host function in these files; None when it is not there once, or returns something else."""
    named = [path for path in paths if function.encode() in (source.read(path) or b"")]
    definition = re.compile(rf"\b{re.escape(function)}\s*\([^;{{}}]*\)\s*(?:noexcept\s*)?\{{")
    homes = [path for path in named if definition.search(source.text(path) or "")]
    if len(homes) != 1:
        return None
    try:
        unit = Unit(homes[0], source.text(homes[0]) or "")
    except RecursionError:
        return None
    if function not in unit.functions or unit.signature(function)[0] in ("auto", "other"):
        return None
    return HostPredicate(function, unit)
