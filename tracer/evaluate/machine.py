"""The evaluator's state: which path it is on, who called whom, what was raised, what it could not do.

Values are never forked per path. The machine keeps one *live* guard, the condition under which the code it is
reading runs; every write is a guarded write, every merge joins (value summaries, as in MultiSE).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ...report.predicate import Opaque as OpaquePredicate, Predicate, Site
from ..guards import OUT_OF_WORK, Guard, Space
from .coverage import Coverage
from .record import Record
from .unions import alternatives, join
from .values import Guarded, Instance, ModuleValue, Native, Unknown, Value

if TYPE_CHECKING:
    from ..tree import Node
    from .frames import Frame
    from .world import World

DEPTH, LOOPS = 200, 10_000
"""Bounds of one question: nested calls, iterations of one loop."""

STATEMENT = 25
"""Pairs of guards that cost about as much as a statement of the engine. Together they are a question's work,
of which a machine of today does about 450,000 in a second; a clock would let answers differ.
"""


CERTAIN = "__certain__"
"""Attribute of an exception that does not hang on what tensors hold."""


ON_PATH = "__on_path__"
"""Attribute of such an exception that hangs on what a call is given, and so on the path to it."""


RAISED = "__raised__"
"""Attribute of an exception that a `raise` of the engine raised."""


class Dead(Exception):  # noqa: N818 - no error: the path ended, and whoever merges paths goes on elsewhere
    """The current path ended (return, raise, break): unwinds to the nearest merge."""


class OutOfBudget(Exception):  # noqa: N818 - a bound was reached, nothing is wrong
    """A bound of the whole question was reached; what is not known by then stays open."""


class Machine:
    """One question's evaluation."""

    def __init__(self, world: World, space: Space, work: float = math.inf) -> None:
        self.world, self.space = world, space
        self.live: Guard = space.true
        self.abandoned: Guard = space.false
        """Where the evaluator gave up: anything may have happened on these paths."""
        self.frames: list[Frame] = []
        self.raised: list[list[tuple[Guard, Instance]]] = [[]]
        self.assumed: set[Guard] = set()
        """Where what is done with an unknown might raise and was taken to succeed."""
        self.trusting = False
        """Whether what the engine asserts of values that nobody knows is taken to hold."""
        self.coverage = Coverage()
        self.record = Record(self)
        self.facts: dict[str, Native] = {}
        self.given: dict[str, Native] = {}
        self.space.limit = work
        self.outside: dict[tuple[str, str], Value] = {}
        """Attributes written on objects that source does not tell: (what tells the object apart, name)."""
        self._watching: list[dict[tuple[int, Any], tuple[Any, Any]]] = []
        self._serial = 0
        self._tags: dict[int, tuple[int, Value]] = {}

    # --- writes

    def touch(self, box: Any, slot: Any) -> None:
        """A slot of an object, container or frame is about to be written."""
        for seen in self._watching:
            seen[id(box), slot] = (box, slot)

    @contextmanager
    def watching(self) -> Iterator[dict[tuple[int, Any], tuple[Any, Any]]]:
        """Collect the slots that are written meanwhile."""
        seen: dict[tuple[int, Any], tuple[Any, Any]] = {}
        self._watching.append(seen)
        try:
            yield seen
        finally:
            self._watching.pop()

    # --- paths

    def split(self, branches: list[tuple[Guard, Callable[[], Value]]], whole: Guard | None = None) -> Value:
        """Run each branch on its own part of the path, then go on where any of them does; the parts together
        are `whole`, if given.
        """
        self._work(1)
        ends: list[tuple[Guard, Value]] = []
        for guard, run in branches:
            if guard.is_false:
                continue
            self.live = guard
            try:
                value = run()
                ends.append((self.live, value))
            except Dead:
                whole = None
            if self.live is not guard:
                whole = None
        self._go_on(whole, [guard for guard, _ in ends])
        covers = all(type(value) is not Guarded or value.path is guard for guard, value in ends)
        return join(self, ends, self.live if covers else None)

    def branch(self, cond: Guard, then: Callable[[], Value], orelse: Callable[[], Value]) -> Value:
        """`then` where `cond` holds on this path, `orelse` elsewhere."""
        yes = self.live & cond
        if yes is self.live:
            return then()
        if yes.is_false:
            return orelse()
        return self.split([(yes, then), (self.live & ~cond, orelse)], self.live)

    def decide(self, value: Value, apply: Callable[[Value], Guard]) -> Guard:
        """Where `apply` holds for `value`; paths on which it raises are no longer live afterwards."""
        out, ends = self.space.false, []
        whole = self.live if type(value) is not Guarded or value.path is self.live else None
        for guard, atom in alternatives(self, value):
            self.live = guard
            try:
                holds = apply(atom)
            except Dead:
                whole = None
                continue
            if self.live is not guard:
                whole = None
            out = out | (self.live & holds)
            ends.append(self.live)
        self._go_on(whole, ends)
        return out

    def _go_on(self, whole: Guard | None, ends: list[Guard]) -> None:
        """Go on at all of these ends, which together are `whole` where that is known."""
        if whole is None:
            whole = self.space.false
            for end in ends:
                whole = whole | end
        self.live = whole
        if whole.is_false:
            raise Dead

    def kill(self) -> Dead:
        """End the current path; `raise m.kill()`."""
        self.live = self.space.false
        return Dead()

    def abandon(self) -> Dead:
        """Give up on the current path, whose outcome stays open; `raise m.abandon()`."""
        self.abandoned = self.abandoned | self.live
        return self.kill()

    def throw(self, exc: Instance, site: Site | None = None) -> Dead:
        """Raise an engine exception on the current path; `raise m.throw(exc)`."""
        self.record.threw(exc, site)
        self.raised[-1].append((self.live, exc))
        return self.kill()

    def fail(self, error: str, message: str) -> Value:
        """Raise one of Python's own exceptions on the current path."""
        raise self.throw(self.world.exception(self, error, message))

    def refuse(self, error: str, message: str, site: Site | None = None) -> Value:
        """Raise what a library's own contract says, whatever the tensors of this path hold; `site` is where,
        if it is not the statement at hand.
        """
        exc = self.world.exception(self, error, message)
        exc.attrs[CERTAIN] = True
        if site is not None:
            exc.attrs[ON_PATH] = True
        raise self.throw(exc, site)

    def may_raise(self, label: str, error: str) -> None:
        """Inside a `try`, what is done with an unknown may raise; elsewhere it is taken to succeed."""
        if not self.record.trying:
            self.assumed.add(self.live)
            self.coverage.assumed[label, self.site(None)] += 1
        else:
            raises = self.holds(self.unknown(label))
            self.branch(raises, lambda: self.fail(error, label), lambda: None)

    def aside(self) -> Aside:
        """Evaluate something whose moment is not this path's, such as a module's names, on every path.

        A loop that is the first to ask for it did not write it.
        """
        return Aside(self)

    @contextmanager
    def bounds(self, work: int, guards: int) -> Iterator[None]:
        """Tighter bounds for a part of the question that is worth less than the rest."""
        space = self.space
        before = space.limit, space.max_nodes, len(self.frames)
        space.limit = min(space.limit, space.work + work)
        space.max_nodes = min(space.max_nodes, space.size + guards)
        try:
            yield
        finally:
            space.limit, space.max_nodes, depth = before
            del self.frames[depth:]

    # --- unknowns

    def unknown(self, label: str, node: Node | None = None, kind: str | None = None) -> Unknown:
        """A fresh value that nobody knows; `label` says what it is."""
        self._serial += 1
        return Unknown(f"{label}#{self._serial}", label, self.site(node), kind)

    def atom(self, key: str, predicate: Predicate) -> Guard:
        return self.space.atom(key, predicate)

    def tag(self, atom: Value) -> int:
        """The number of an object, by which a variable or an unknown names it. The object is kept: one that
        is made later, where it lay in memory, must not be taken for it.
        """
        return self._tags.setdefault(id(atom), (len(self._tags), atom))[0]

    def holds(self, value: Unknown) -> Guard:
        """The guard that an unknown is true."""
        return self.space.atom(f"{value.key}?", OpaquePredicate(value.label, None, value.site))

    def unsupported(self, kind: str, node: Node | None) -> Unknown:
        """A construct that the evaluator has no meaning for: counted, and unknown from here on."""
        self.coverage.unsupported(kind, self.site(node))
        return self.unknown(f"<{kind}>", node)

    # --- places

    def site(self, node: Node | None) -> Site | None:
        if not self.frames:
            return None
        frame = self.frames[-1]
        return Site(frame.module.path, node.line if node is not None else frame.line)

    @property
    def frame(self) -> Frame:
        return self.frames[-1]

    def module(self) -> ModuleValue:
        return self.frames[-1].module

    def tick(self) -> None:
        """Count a statement; ends the question when its work is done."""
        self.coverage.statements += 1
        self._work(STATEMENT)

    def _work(self, done: int) -> None:
        self.space.work += done
        if self.space.work > self.space.limit:
            self.coverage.budget(OUT_OF_WORK)
            raise OutOfBudget(OUT_OF_WORK)


class Aside:
    """A `with` block beside the current path; a class, for there are many and a generator costs more."""

    __slots__ = ("before", "m")

    def __init__(self, m: Machine) -> None:
        self.m = m

    def __enter__(self) -> None:
        m = self.m
        self.before = m.live, m.raised, m.record.trying, m._watching
        m.live, m.raised, m.record.trying, m._watching = m.space.true, [[]], 0, []

    def __exit__(self, *_: object) -> None:
        m = self.m
        m.live, m.raised, m.record.trying, m._watching = self.before
