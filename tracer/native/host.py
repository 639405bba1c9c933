"""Host functions read in three values: what small pure ones answer (`cutlass_scaled_mm_supports_fp8`), and
which of their checks a call is sure to fail.

A function is lowered from tree-sitter's tree to the few shapes of `cpp` and evaluated over them. What lies
outside of that subset of C++, and what nobody told, stays open and says what would decide it: nothing is
guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from ...report.predicate import Site
from .cpp import Check, Name, parts
from .lowering import CHECKS
from .units import Unit
from .values import Facts, Open, Value, left_open

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


class Refused(NamedTuple):
    """What a call raises in Python, in the words of the check that fails."""

    exception: str
    message: str
    site: Site


class HostFunction:
    """A host function that is found once, ready to be asked."""

    def __init__(self, name: str, unit: Unit) -> None:
        self.name = name
        self._unit = unit
        self.kind, self.params = unit.signature(name)
        self.sites = tuple(Site(f.path, f.line) for f in unit.functions[name])

    @property
    def answers(self) -> bool:
        """Whether it returns a bool or an integer."""
        return self.kind not in ("auto", "other", "text", "tensor")

    def checked(self, macros: Facts) -> tuple[bool, ...]:
        """Tell for each parameter whether a check may hang on it; empty where the build has no check."""
        live = self._unit.live(self.name, macros)
        found = parts(live.body) if live is not None else iter(())
        seen = list(found)
        if live is None or not any(isinstance(part, Check) for part in seen):
            return ()
        named = {part.id for part in seen if isinstance(part, Name)}
        return tuple(name in named for name, _ in live.params)

    def failed(self, args: tuple[Value, ...], macros: Facts) -> Refused | None:
        """Tell with what a call with these arguments is sure to raise, None where nothing says so.

        The message is the check's own words, which torch may put behind the place.
        """
        try:
            found = self._unit.failed(self.name, args, macros)
        except RecursionError:
            return None
        if found is None:
            return None
        message = found.message or f"Expected {found.test} to be true, but got false."
        return Refused(CHECKS[found.macro], message, found.site)

    def answer(self, args: Mapping[str, int], macros: Facts) -> Answer:
        """Evaluate for arguments by name and what is known of the build; what is missing stays open."""
        try:
            results, asked = self._unit.results(self.name, args, macros)
        except RecursionError:
            results, asked = [(left_open("more depth"), self.sites[0])], {"more depth"}
        sites = tuple(dict.fromkeys(site for _, site in results if site.line))
        values = {value for value, _ in results}
        needs = asked.union(*(value.needs for value in values if isinstance(value, Open)))
        if len(values) != 1 or not isinstance(first := values.pop(), int):
            return Answer(None, sites, frozenset(needs))
        return Answer(bool(first) if self.kind == "bool" else first, sites, frozenset())

    def decide(self, args: Mapping[str, int], macros: Facts) -> bool | int | None:
        """Give the value, or None while it is undecided."""
        return self.answer(args, macros).value

    @cached_property
    def needs(self) -> frozenset[str]:
        """What it may ask beside its parameters: macros, queries, and constructs that are not read."""
        return self.answer({}, {}).needs - frozenset(self.params)


def read_host(
    source: Source, function: str, paths: Iterable[str], units: dict[str, Unit] | None = None
) -> HostFunction | None:
    """Find a host function in these files; None when it is not there once. What was parsed is kept in
    `units`.
    """
    units = {} if units is None else units
    named = [path for path in paths if function.encode() in (source.read(path) or b"")]
    definition = re.compile(rf"\b{re.escape(function)}\s*\([^;{{}}]*\)\s*(?:noexcept\s*)?\{{")
    homes = [path for path in named if definition.search(source.text(path) or "")]
    if len(homes) != 1:
        return None
    (home,) = homes
    if home not in units:
        try:
            units[home] = Unit(home, source.text(home) or "")
        except RecursionError:
            return None
    return HostFunction(function, units[home]) if function in units[home].functions else None
