"""One call of a function, walked: the edges that its body's uses make."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from msgspec import structs

from ....report.chain import LAST, HopKind
from ....report.predicate import AllOf, Always, Predicate, Site
from ....report.settle import negated
from .conditions import Checked, Ended, decidable, of_device_or_tensors
from .edges import Edge
from .externals import CUB, External, external
from .files import NativeFiles
from .generated import included_kernels, written_for
from .made_of import made_of
from .outline import Definition, Kind
from .resolve import Resolver
from .scope import Scope
from .settle import Env, decided, facts_of, settled
from .uses import Use


class Reaches(Protocol):
    """Who walks the functions that are called."""

    files: NativeFiles
    names: Resolver

    def reached(self, function: Definition, env: Env | None = None) -> tuple[Edge, ...]:
        """What a call reaches."""


class Frame:
    """One function with what its parameters are bound to."""

    def __init__(self, walk: Reaches, function: Definition, env: Env) -> None:
        self.walk, self.function = walk, function
        self.scope = Scope(walk.files, walk.names, function, env)

    def edges(self) -> Iterator[Edge]:
        """What the body reaches, in its own order."""
        for use in self.walk.files.body(self.function).uses:
            guards = settled(use.guards, self.scope.env, self.scope.term)
            if use.kind == "let":
                self.scope.let(use)
            if guards is None or use.kind in ("let", "return"):
                continue
            open_lines = self.walk.files.files[self.function.path].test_at(use.line)
            yield from self._used(use, _together((*guards, *open_lines)))
        yield from self._spliced()

    def _site(self, use: Use) -> Site:
        return Site(self.function.path, use.line)

    def _used(self, use: Use, guard: Predicate) -> Iterator[Edge]:
        if use.kind == "check":
            yield from self._refused(use, guard)
            return
        if use.kind == "written":
            yield from self._compiled_later(use, guard)
            return
        outside = external(use.name) or self._opened(use.name)
        if outside is not None:
            if use.kind != "type" and not (outside.note == CUB and _asks_size(use)):
                yield self._outside(outside, use, guard)
            return
        found = self.scope.meant(use)
        kernels = [t for t in found if t.kind is Kind.KERNEL and not self.scope.is_local(use.name)]
        for kernel in kernels:
            site = Site(kernel.path, kernel.line)
            handed = self.scope.shown(use.templates)
            yield Edge(HopKind.GLOBAL_KERNEL, kernel.qualified, site, self._site(use), guard, handed=handed)
        if use.kind == "launch" and not found and use.name not in self.scope.locals:
            note = "a kernel that is not in this tree"
            yield Edge(HopKind.EXTERNAL, use.name, None, self._site(use), guard, note=note)
        if use.kind == "name":
            for each in self._types(found):
                yield self._outside(each, use, guard)
        if use.kind == "call":
            yield from self._called(use, found, guard)

    def _compiled_later(self, use: Use, guard: Predicate) -> Iterator[Edge]:
        """A kernel of the tree whose instantiation is written as text, for a compiler of the run time."""
        for kernel in self.walk.files.definitions.get(use.name.rpartition("::")[2], ()):
            named = f"::{kernel.qualified}".endswith(f"::{use.name}")
            if kernel.kind is Kind.KERNEL and kernel.body is not None and named:
                site = Site(kernel.path, kernel.line)
                note = "compiled when it is first used"
                yield Edge(HopKind.GLOBAL_KERNEL, kernel.qualified, site, self._site(use), guard, note=note)

    def _called(self, use: Use, found: tuple[Definition, ...], guard: Predicate) -> Iterator[Edge]:
        for function in found:
            if function.kind is Kind.FUNCTION and function != self.function:
                below = self.walk.reached(function, self.scope.handed(use, function))
                below = _without_checks(below) if use.caught else below
                yield from self._function(function, below, use, guard)
        if not found and not use.on:
            yield from self._unwritten(use, guard)

    def _function(
        self,
        function: Definition,
        below: tuple[Edge, ...],
        use: Use,
        guard: Predicate,
        note: str | None = None,
    ) -> Iterator[Edge]:
        """The edge to a function, where something lies below it."""
        if any(edge.kind is not HopKind.CHECK for edge in below) or _refuses(below):
            site = Site(function.path, function.line)
            yield Edge(
                HopKind.HOST_FUNCTION,
                function.qualified,
                site,
                self._site(use),
                guard,
                below,
                note=note,
                own=self.scope.own(use, function),
            )

    def _refused(self, use: Use, guard: Predicate) -> Iterator[Edge]:
        """A check that raises whatever it is given, or by what the scenario may know."""
        note = LAST if use.test is None and not use.doubt and self._is_last(use) else None
        if use.test is not None:
            test = decided(use.test, self.scope.env, self.scope.term)
            if test is True or (not isinstance(test, bool) and not decidable(test)):
                return
            if not isinstance(test, bool):
                wrong, note = negated(test), f"raises unless {test}"
                guard = wrong if isinstance(guard, Always) else AllOf((*facts_of(guard), *facts_of(wrong)))
        yield Edge(HopKind.CHECK, use.name, None, self._site(use), guard, note=note)

    def _is_last(self, use: Use) -> bool:
        """Whether nothing but the device and the tensors leads to a check, where the function did not end
        early: no argument of the caller's.
        """
        tests = [guard for guard in use.guards if not isinstance(guard, Checked | Ended)]
        known = [decided(test, self.scope.env, self.scope.term) for test in tests]
        return all(isinstance(test, bool) or of_device_or_tensors(test) for test in known)

    def _opened(self, name: str) -> External | None:
        """A library's name that stands here without the namespace that is around."""
        scope = [part for part in self.function.scope if part]
        return external("::".join((scope[0], name))) if scope and "::" not in name else None

    def _types(self, found: Iterable[Definition]) -> Iterator[External]:
        """What is outside of this tree and is reached by a class or alias that is named."""
        for definition in found:
            if definition.kind in (Kind.CLASS, Kind.ALIAS):
                yield from made_of(self.walk.files, definition)

    def _outside(self, found: External, use: Use, guard: Predicate) -> Edge:
        return Edge(HopKind.EXTERNAL, found.symbol, None, self._site(use), guard, note=found.note)

    def _unwritten(self, use: Use, guard: Predicate) -> Iterator[Edge]:
        """A function that is declared here and written by a script: what the script's text calls."""
        if not self.walk.names.declared(use.name, self.function):
            return
        short = use.name.rpartition("::")[2]
        for function, classes, script in written_for(self.walk.files, self.walk.names, short):
            env: Env = dict.fromkeys(function.templates, classes) if classes else {}
            below = self.walk.reached(function, env)
            yield from self._function(function, below, use, guard, f"written by {script}")

    def _spliced(self) -> Iterator[Edge]:
        """A file that a script writes and the body includes: the kernels that the script names."""
        for line, kernel, script in included_kernels(self.walk.files, self.walk.names, self.function):
            site, called = Site(kernel.path, kernel.line), Site(self.function.path, line)
            note = f"chosen in a file that {script} writes"
            yield Edge(HopKind.GLOBAL_KERNEL, kernel.qualified, site, called, note=note)


def _without_checks(edges: tuple[Edge, ...]) -> tuple[Edge, ...]:
    """What is reached where somebody above catches what is raised."""
    return tuple(
        structs.replace(edge, below=_without_checks(edge.below))
        for edge in edges
        if edge.kind is not HopKind.CHECK
    )


def _together(guards: tuple[Predicate, ...]) -> Predicate:
    return guards[0] if len(guards) == 1 else AllOf(guards) if guards else Always()


def _asks_size(use: Use) -> bool:
    """Whether a call of CUB only asks how much memory it would take."""
    return bool(use.args) and use.args[0].names == ("nullptr",)


def _refuses(edges: tuple[Edge, ...]) -> bool:
    """Whether a function does nothing but raise."""
    return any(edge.kind is HopKind.CHECK and edge.guard == Always() for edge in edges)
