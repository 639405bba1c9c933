"""What happened on the way: who called what, what was chosen among candidates, what was refused and why."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ...report.predicate import Site
from .. import tree
from .unions import alternatives
from .values import MISSING, ClassValue, Function, Instance, ListValue, Unknown, Value

if TYPE_CHECKING:
    from ..guards import Guard
    from .machine import Machine


class Edge:
    """One arrow of the decision graph: `why` is calls, constructs, dispatches, leaves or launches."""

    __slots__ = ("callee", "caller", "depth", "guard", "site", "why")

    def __init__(self, caller: str, callee: str, why: str, site: Site | None, guard: Guard, depth: int) -> None:
        self.caller, self.callee, self.why, self.site = caller, callee, why, site
        self.guard, self.depth = guard, depth


class Verdict:
    """A `return False, "reason"` (or a reason collected in a list) while a candidate was tried."""

    __slots__ = ("guard", "reason", "site")

    def __init__(self, guard: Guard, reason: str, site: Site | None) -> None:
        self.guard, self.reason, self.site = guard, reason, site


class Attempt:
    """One candidate's turn in a first-match loop."""

    __slots__ = ("cls", "entered", "kept", "reasons")

    def __init__(self, cls: ClassValue, entered: Guard) -> None:
        self.cls, self.entered = cls, entered
        self.kept = entered
        self.reasons: list[Verdict] = []


class Selection:
    """A loop over classes that stops at the first that fits."""

    __slots__ = ("attempts", "candidates", "entered", "function", "registry", "site")

    def __init__(self, function: str, site: Site | None, candidates: tuple[ClassValue, ...], entered: Guard) -> None:
        self.function, self.site, self.candidates, self.entered = function, site, candidates, entered
        self.attempts: list[Attempt] = []
        self.registry: str | None = None


class Record:
    """Collects while the machine runs; facts only, read afterwards by the chain builder."""

    def __init__(self, machine: Machine) -> None:
        self.m = machine
        self.edges: list[Edge] = []
        self.selections: list[Selection] = []
        self.refusals: list[tuple[Guard, Instance, Site | None]] = []
        self.thrown: dict[int, Site | None] = {}
        self.handling: Instance | None = None
        self.trying = 0
        self.depth = 0
        self._attempts: list[Attempt] = []
        self._tests: list[Site | None] = []

    def _edge(self, callee: str, why: str, node: tree.Node | None) -> None:
        m = self.m
        if not m.frames:
            return
        self.edges.append(Edge(m.frame.symbol, callee, why, m.site(node), m.live, len(m.frames)))

    def called(self, func: Function, node: tree.Node | None) -> None:
        self._edge(func.symbol, "calls", node)

    def constructed(self, cls: ClassValue, node: tree.Node | None) -> None:
        self._edge(cls.symbol, "constructs", node)

    def left(self, symbol: str, node: tree.Node | None) -> None:
        self._edge(symbol, "leaves", node)

    def launched(self, symbol: str, node: tree.Node | None) -> None:
        self._edge(symbol, "launches", node)

    def dispatch(self, value: Value, key: Value, node: tree.Node | None) -> None:
        """A class or function picked out of a dict by key."""
        for _, atom in alternatives(self.m, value):
            if isinstance(atom, ClassValue | Function):
                self._edge(atom.symbol, "dispatches", node)

    def test(self, node: tree.Node, holds: Guard) -> Guard:
        return holds

    @contextmanager
    def under(self, node: tree.If) -> Iterator[None]:
        """The statement whose test decides what runs now."""
        self._tests.append(self.m.site(node.test))
        try:
            yield
        finally:
            self._tests.pop()

    def returned(self, value: Value, node: tree.Return) -> None:
        """Keep the reason of a `(False, reason)` while a candidate is tried."""
        if not self._attempts:
            return
        for guard, atom in alternatives(self.m, value):
            if isinstance(atom, tuple) and len(atom) == 2 and atom[0] is False:
                self._reason(guard, atom[1], node)

    def noted(self, target: ListValue, item: Value, node: tree.Node | None) -> None:
        """A text appended to a list while a candidate is tried is a reason."""
        if self._attempts:
            self._reason(self.m.live, item, node)

    def _reason(self, guard: Guard, text: Value, node: tree.Node | None) -> None:
        site = self._tests[-1] if self._tests else self.m.site(node)
        for part, atom in alternatives(self.m, text):
            shown = atom if isinstance(atom, str) else atom.label if isinstance(atom, Unknown) else None
            if shown is not None:
                self._attempts[-1].reasons.append(Verdict(guard & part, shown.strip(), site))

    @contextmanager
    def choosing(self, node: tree.For, source: Value) -> Iterator[Selecting]:
        """Watch a loop; it is a selection when it runs over classes of the engine."""
        yield Selecting(self, _candidates(self.m, source), node)

    def threw(self, exc: Instance) -> None:
        self.thrown.setdefault(id(exc), self.m.site(None))
        exc.attrs.setdefault("__site__", self.m.site(None))


class Selecting:
    """One loop under watch."""

    def __init__(self, record: Record, candidates: tuple[ClassValue, ...], node: tree.For) -> None:
        self.record, self.selection = record, None
        m = record.m
        if candidates:
            self.selection = Selection(m.frame.symbol, m.site(node), candidates, m.live)
            record.selections.append(self.selection)

    @contextmanager
    def trying(self, item: Value) -> Iterator[None]:
        m = self.record.m
        if self.selection is None or not isinstance(item, ClassValue):
            yield
            return
        attempt = Attempt(item, m.live)
        self.selection.attempts.append(attempt)
        self.record._attempts.append(attempt)
        loop = m.frame.loops[-1]
        before = loop.continued
        try:
            yield
        finally:
            self.record._attempts.pop()
            goes_on = m.live | (loop.continued & ~before)
            attempt.kept = attempt.entered & ~goes_on


def _candidates(m: Machine, source: Value) -> tuple[ClassValue, ...]:
    """The classes that a loop will run over, when it runs over nothing else."""
    found: list[ClassValue] = []
    for _, atom in alternatives(m, source):
        content = atom.content if isinstance(atom, ListValue) else atom
        for _, items in alternatives(m, content):
            if not isinstance(items, tuple) or not items or not all(isinstance(i, ClassValue) for i in items):
                return ()
            found += [i for i in items if i not in found]
    return tuple(found)


def site_of(exc: Instance) -> Any:
    """Where an exception was raised."""
    site = exc.attrs.get("__site__", MISSING)
    return None if site is MISSING else site
