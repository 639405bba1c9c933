"""What happened on the way: who called what, what was chosen among candidates, what was refused and why."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from ...report.predicate import Site
from .. import tree
from .atoms import describe
from .kept import Allocated, Made, Said
from .unions import alternatives
from .values import ClassValue, Function, Instance, ListValue, Unknown, Value

if TYPE_CHECKING:
    from ..guards import Guard
    from .fits import Fit
    from .machine import Machine


class Edge:
    """One arrow of the decision graph.

    `why` is calls, constructs, dispatches (picked from a dict), leaves (to a library) or launches (Triton);
    `parent` is the number of the edge that led into the caller, None at the entry of a phase.
    """

    __slots__ = ("callee", "caller", "guard", "number", "parent", "phase", "site", "why")

    def __init__(
        self, number: int, caller: str, callee: str, why: str, site: Site | None, guard: Guard
    ) -> None:
        self.number, self.caller, self.callee, self.why, self.site, self.guard = (
            number,
            caller,
            callee,
            why,
            site,
            guard,
        )
        self.parent: int | None = None
        self.phase = ""


class Verdict:
    """Why a candidate was turned down: a `return False, "reason"`, or a text collected in a list."""

    __slots__ = ("guard", "reason", "site")

    def __init__(self, guard: Guard, reason: str, site: Site | None) -> None:
        self.guard, self.reason, self.site = guard, reason, site


class Attempt:
    """One candidate's turn in a first-match loop: the paths that reached it, and those it ended."""

    __slots__ = ("cls", "entered", "kept", "reasons")

    def __init__(self, cls: ClassValue, entered: Guard) -> None:
        self.cls, self.entered, self.kept = cls, entered, entered
        self.reasons: list[Verdict] = []


class Selection:
    """A loop over classes that stops at the first that fits."""

    __slots__ = ("attempts", "candidates", "entered", "function", "phase", "site")

    def __init__(
        self, function: str, site: Site | None, candidates: tuple[ClassValue, ...], entered: Guard
    ) -> None:
        self.function, self.site, self.candidates, self.entered = function, site, candidates, entered
        self.attempts: list[Attempt] = []
        self.phase = ""


class Place(NamedTuple):
    """A moment of the walk: how much of everything was collected by then."""

    edges: int
    selections: int
    fits: int
    lines: int
    allocated: int


class Record:
    """Collects while the machine runs; facts only, read afterwards by the chain builder."""

    def __init__(self, machine: Machine) -> None:
        self.m = machine
        self.edges: list[Edge] = []
        self.selections: list[Selection] = []
        self.fits: list[Fit] = []
        self.lines: list[Said] = []
        self.allocated: list[Allocated] = []
        self.watched: ClassValue | None = None
        """The class whose objects are kept with the arguments that they were made with."""
        self.made: list[Made] = []
        self.config_read: set[Any] = set()
        """Keys of the checkpoint's quantization config that were asked for (`reading`)."""
        self.handling: Instance | None = None
        self.trying = 0
        self.phase = ""
        self._base = 0
        self._open: list[tuple[int, int]] = []
        self._attempts: list[Attempt] = []
        self._tests: list[Site | None] = []

    def place(self) -> Place:
        """How much there is of everything so far."""
        return Place(*(len(getattr(self, name)) for name in Place._fields))

    @contextmanager
    def phase_of(self, name: str) -> Iterator[None]:
        """Mark what follows as one phase of the walk; its entry frame is the one on top now."""
        before = self.phase, self._base, self._open
        self.phase, self._base, self._open = name, len(self.m.frames), []
        try:
            yield
        finally:
            self.phase, self._base, self._open = before

    def _edge(self, callee: str, why: str, node: tree.Node | None, defined: Site | None = None) -> None:
        m = self.m
        if any(frame.scope is not None for frame in m.frames[self._base :]):
            return  # a module that is being evaluated for the first time, no step of the walk
        caller = m.frame.symbol if m.frames else ""
        depth = len(m.frames)
        edge = Edge(len(self.edges), caller, callee, why, m.site(node) if m.frames else None, m.live)
        if defined is not None and depth <= self._base:
            edge.site = defined
        edge.phase = self.phase
        while self._open and self._open[-1][0] >= depth:
            self._open.pop()
        edge.parent = self._open[-1][1] if self._open else None
        if why in ("calls", "constructs", "dispatches"):
            self._open.append((depth, edge.number))
        self.edges.append(edge)

    def inside(self) -> int | None:
        """The number of the edge that led into the function that runs now."""
        depth = len(self.m.frames)
        return next((number for at, number in reversed(self._open) if at < depth), None)

    def called(self, func: Function, node: tree.Node | None) -> None:
        """A call; what enters a phase has no caller in the walk and stands where it is defined."""
        self._edge(
            func.symbol, "calls", node, None if node is not None else Site(func.module.path, func.node.line)
        )

    def constructed(self, cls: ClassValue, node: tree.Node | None) -> None:
        self._edge(cls.symbol, "constructs", node)

    @contextmanager
    def keeping(self, cls: ClassValue) -> Iterator[list[Made]]:
        """Keep the objects of a class that are made meanwhile."""
        before, self.watched, self.made = (self.watched, self.made), cls, []
        try:
            yield self.made
        finally:
            self.watched, self.made = before

    def instantiated(self, value: Instance, args: Any, kwargs: Any) -> None:
        """An object is about to be initialised; one of the watched class is kept."""
        if self.watched is not None and self.watched in value.cls.mro:
            self.made.append(Made(value, args, kwargs, self.m.live))

    def said(self, level: str, text: Value, node: tree.Node | None) -> None:
        """A line for the log, in each of its wordings."""
        m = self.m
        for guard, atom in alternatives(m, text):
            words = atom if isinstance(atom, str) else describe(atom)
            self.lines.append(Said(level, words, m.frame.symbol, m.site(node), guard, self.phase))

    def allocates(self, dtype: Value) -> None:
        """A tensor is made, wherever the engine is then."""
        self.allocated.append(Allocated(dtype, self.m.live, self.phase))

    def left(self, symbol: str, node: tree.Node | None) -> None:
        self._edge(symbol, "leaves", node)

    def launched(self, symbol: str, node: tree.Node | None) -> None:
        self._edge(symbol, "launches", node)

    def dispatch(self, value: Value, key: Value, node: tree.Node | None) -> None:
        """A class or function picked out of a dict by key."""
        for guard, atom in alternatives(self.m, value):
            if isinstance(atom, ClassValue | Function):
                live, self.m.live = self.m.live, guard
                self._edge(atom.symbol, "dispatches", node)
                self.m.live = live

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

    def threw(self, exc: Instance, site: Site | None) -> None:
        """Remember where an exception was raised first (the statement at hand, unless told), and what was
        under way there.
        """
        if "__site__" not in exc.attrs:
            calls = (frame.symbol for frame in self.m.frames if frame.function is not None)
            exc.attrs |= {"__site__": site or self.m.site(None), "__within__": tuple(dict.fromkeys(calls))}


class Selecting:
    """One loop under watch."""

    def __init__(self, record: Record, candidates: tuple[ClassValue, ...], node: tree.For) -> None:
        self.record = record
        self.selection: Selection | None = None
        m = record.m
        if candidates:
            self.selection = Selection(m.frame.symbol, m.site(node), candidates, m.live)
            self.selection.phase = record.phase
            record.selections.append(self.selection)

    @contextmanager
    def trying(self, item: Value) -> Iterator[None]:
        """One iteration: what ends here, by return or break, has chosen this candidate."""
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
