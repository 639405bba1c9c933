"""The engine's modules as the evaluator asks for them: indexed once, lowered statement by statement, then
kept.

Shared by every question on one source: it holds text, positions and lowered trees, and no evaluated value.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from importlib.resources import files
from typing import NamedTuple, TypeVar, cast

from . import tree
from .imports import Imports
from .index import (
    ClassIndex,
    ModuleIndex,
    SourceSyntaxError,
    Statement,
    class_header,
    lines_of,
    member_block,
    normalised,
    statement_block,
)
from .kept.modules import KeptModule
from .kept.store import Store
from .kept.wholes import KeptSource
from .names import bound_in
from .readings import ALL, PRESENT, Reading, digest
from .sources import Source

T = TypeVar("T")


class Library:
    """Lowered source of one pin."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.consulted: set[str] = set()
        """What the engine asked its driver about the device, since whoever asks cleared it."""
        self._modules: dict[str, LoweredModule | None] = {}
        self._stubs: dict[str, LoweredModule | None] = {}
        self._classes: dict[int, LoweredClass] = {}
        self._facts: dict[str, tuple[object, frozenset[Reading]]] = {}
        self._noted: set[Reading] = set()
        self._scopes: list[LoweredScope] = []
        self._locals: dict[int, tuple[tree.Node, frozenset[str]]] = {}
        self._below: dict[int, tuple[tree.Node, tuple[tree.Node, ...]]] = {}
        self._store = Store()
        self._kept: list[KeptModule | KeptSource] = []
        weakref.finalize(self, _write, self._kept)

    @cached_property
    def imports(self) -> Imports:
        """What the modules import."""
        return Imports(self.source, self.whole.imports)

    @cached_property
    def whole(self) -> KeptSource:
        """What all Python of the source is read for."""
        kept = KeptSource(self._store, self.source.engine, self.source.python_hash)
        self._kept.append(kept)
        return kept

    # --- what was read

    def note(self, readings: Iterable[Reading]) -> None:
        """What was read now, or was when what is used now was made."""
        self._noted.update(readings)

    @contextmanager
    def noting(self) -> Iterator[set[Reading]]:
        """What is read meanwhile; it counts for whoever notes around it as well."""
        before, found = self._taken(), set[Reading]()
        try:
            yield found
        finally:
            found |= self._taken()
            self._noted = before | found

    def _taken(self) -> set[Reading]:
        """What was read since this was asked last."""
        found, self._noted = self._noted, set()
        for scope in self._scopes:
            found.update(scope.readings())
            scope.asked.clear()
        if "imports" in self.__dict__:
            found.update(Reading("imports", module) for module in self.imports.asked)
            self.imports.asked.clear()
        return found

    def keep_scope(self, scope: LoweredScope) -> None:
        """A body whose names may be asked for from now on."""
        self._scopes.append(scope)

    # --- modules

    def at(self, path: str) -> LoweredModule | None:
        """The module in a file of the engine; None where there is none, or it is no Python."""
        name = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        try:
            found = self._module(name)
        except SourceSyntaxError:
            return None
        return found if found is not None and found.path == path else None

    def text(self, text: str) -> KeptModule:
        """What is known of a text of Python."""
        kept = KeptModule(self._store, text)
        self._kept.append(kept)
        return kept

    def module(self, name: str) -> LoweredModule | None:
        """The module of that dotted name, or None when this source has none."""
        found = self._module(name)
        if found is None:
            self._noted.add(Reading("module", name))
        else:
            found.asked.add(PRESENT)
        return found

    def _module(self, name: str) -> LoweredModule | None:
        if name not in self._modules:
            path = self.source.module_path(name)
            text = None if path is None else self.source.text(path)
            found = None if path is None or text is None else LoweredModule(self, path, text)
            self._modules[name] = found
        return self._modules[name]

    def stub(self, package: str) -> LoweredModule | None:
        """Our model of a library, written in the evaluated language, or None."""
        if package not in self._stubs:
            found = files(__package__).joinpath("models", "stubs", f"{package}.stub")
            text = found.read_text(encoding="utf-8") if found.is_file() else None
            self._stubs[package] = (
                None if text is None else LoweredModule(self, f"<model of {package}>", text)
            )
        return self._stubs[package]

    def once(self, name: str, make: Callable[[], T]) -> T:
        """A fact of the source that is read once, whoever asks first."""
        if name not in self._facts:
            with self.noting() as readings:
                made = make()
            self._facts[name] = made, frozenset(readings)
        value, known = self._facts[name]
        self.note(known)
        return cast(T, value)

    def keep_class(self, node: tree.ClassDef, lowered: LoweredClass) -> None:
        self._classes[id(node)] = lowered

    def class_of(self, node: tree.ClassDef) -> LoweredClass | None:
        """The members of a class statement that was lowered without its body."""
        return self._classes.get(id(node))

    def local_names(self, node: tree.FunctionDef | tree.Lambda) -> frozenset[str]:
        """The names that a function binds, found once."""
        known = self._locals.get(id(node))
        if known is None:
            known = self._locals[id(node)] = (node, bound_in(node))
        return known[1]

    def below(self, node: tree.FunctionDef | tree.Lambda) -> tuple[tree.Node, ...]:
        """A function and every node in it, in textual order, found once."""
        known = self._below.get(id(node))
        if known is None:
            known = self._below[id(node)] = (node, tuple(tree.nodes(node)))
        return known[1]


def _write(kept: list[KeptModule | KeptSource]) -> None:
    """Keep what was read for a library that is gone, at the latest when the process ends."""
    for facts in kept:
        facts.write()


class LoweredScope:
    """A body: which statements make each name, and their trees on demand; it notes the names asked for."""

    def __init__(self, library: Library, path: str, text: str, scope: str, count: int) -> None:
        self.library, self.path, self.text, self.scope, self.count = library, path, text, scope, count
        self.names: dict[str, tuple[int, ...]] = {}
        self.asked: set[str] = set()
        self._blocks: dict[int, tree.Block] = {}
        library.keep_scope(self)

    def block(self, number: int) -> tree.Block:
        """The tree of a statement; of a class its head."""
        if number not in self._blocks:
            self._blocks[number] = self._lower(number)
        return self._blocks[number]

    def _lower(self, number: int) -> tree.Block:
        raise NotImplementedError

    def statement(self, number: int) -> Statement:
        """One of the statements."""
        raise NotImplementedError

    def span(self, number: int) -> tuple[int, int]:
        """The lines of a statement; of a class those of its head."""
        found = self.statement(number)
        if isinstance(found, ClassIndex) and not found.inline:
            return found.first_line, found.body_line - 1
        return found.first_line, found.last_line

    def cut(self, first: int, last: int) -> str:
        """These lines."""
        return "\n".join(lines_of(self.text)[first - 1 : last])

    def run_for(self, name: str) -> list[int]:
        """The statements that asking for a name runs (LazyScope): its own, and those above them that make
        another name which they make as well.
        """
        todo, found = list(self.names.get(name, ())), set[int]()
        while todo:
            number = todo.pop()
            if number not in found:
                found.add(number)
                todo += (n for other in self._making.get(number, ()) for n in self.names[other] if n < number)
        return sorted(found)

    @cached_property
    def _making(self) -> dict[int, list[str]]:
        """The names that each statement makes."""
        out: dict[int, list[str]] = {}
        for name, numbers in self.names.items():
            for number in numbers:
                out.setdefault(number, []).append(name)
        return out

    def outline(self) -> Iterator[str]:
        """Every statement by its kind and the names that it binds, in order."""
        for number in range(self.count):
            found = self.statement(number)
            yield " ".join([found.kind, *sorted(found.binds)])

    def starred(self) -> Iterator[tuple[int, int]]:
        """The star imports, each of which may make any name."""
        return (self.span(n) for n in range(self.count) if self.statement(n).stars)

    def readings(self) -> Iterator[Reading]:
        """What was asked for; what our own models say is no source."""
        if self.asked and not self.path.startswith("<"):
            yield from (Reading("name", self.path, self.scope, name) for name in self.asked)

    def note_statement(self, number: int) -> None:
        """A statement that is wanted for itself, whatever it makes."""
        text = digest([self.cut(*self.span(number))])
        self.library.note([Reading("block", self.path, self.scope, text)])


class LoweredModule(LoweredScope):
    """One module."""

    def __init__(self, library: Library, path: str, text: str) -> None:
        text = normalised(text)
        self._kept = library.text(text)
        self.index: ModuleIndex = self._kept.index
        super().__init__(library, path, text, "", len(self.index.statements))
        self.names = _relevant(self.index)
        self.stars = [star for s in self.index.statements for star in s.stars]
        self._classes: dict[int, LoweredClass] = {}

    def statement(self, number: int) -> Statement:
        return self.index.statements[number]

    def _lower(self, number: int) -> tree.Block:
        statement = self.index.statements[number]
        place = 0, statement.first_line
        if not isinstance(statement, ClassIndex):
            return self._kept.block(place, lambda: statement_block(self.text, statement))
        (node,) = self._kept.block(place, lambda: (class_header(self.text, statement),))
        assert isinstance(node, tree.ClassDef), node
        self.library.keep_class(node, self._class(number, statement))
        return (node,)

    def _class(self, number: int, statement: ClassIndex) -> LoweredClass:
        if number not in self._classes:
            before = self.index.statements[:number]
            same = sum(isinstance(s, ClassIndex) and s.name == statement.name for s in before)
            scope = f"{statement.name}#{same}" if same else statement.name
            self._classes[number] = LoweredClass(self, scope, statement, self._kept)
        return self._classes[number]

    def class_named(self, scope: str) -> LoweredClass | None:
        """The class whose body goes by that name."""
        for number, statement in enumerate(self.index.statements):
            if isinstance(statement, ClassIndex) and statement.name == scope.partition("#")[0]:
                found = self._class(number, statement)
                if found.scope == scope:
                    return found
        return None


class LoweredClass(LoweredScope):
    """The members of one class at the left margin."""

    def __init__(self, module: LoweredModule, scope: str, index: ClassIndex, kept: KeptModule) -> None:
        super().__init__(module.library, module.path, module.text, scope, len(index.members))
        self.index, self._kept = index, kept
        self.names = {
            name: places for name, places in index.names.items() if _bound(index.members, name, places)
        }

    def statement(self, number: int) -> Statement:
        return self.index.members[number]

    def _lower(self, number: int) -> tree.Block:
        member = self.index.members[number]
        place = self.index.first_line, member.first_line
        return self._kept.block(place, lambda: member_block(self.text, self.index, member))

    @property
    def declared(self) -> list[Declared]:
        """The annotated names, in order."""
        self.asked |= {ALL, *self._names_declared}
        return self._declared

    @cached_property
    def _declared(self) -> list[Declared]:
        return [row for number in self._declaring for row in declared(self.block(number))]

    @cached_property
    def _declaring(self) -> list[int]:
        members = enumerate(self.index.members)
        return [number for number, member in members if member.kind in ("assign", "other")]

    @cached_property
    def _names_declared(self) -> frozenset[str]:
        return frozenset().union(*(self.index.members[number].binds for number in self._declaring))


class Declared(NamedTuple):
    """A name with an annotation in a class body."""

    name: str
    annotation: tree.Node
    of_class: bool
    """Whether it is a `ClassVar`."""
    passed: bool
    """Whether it is an `InitVar`, which is only passed on to `__post_init__`."""


def declared(block: tree.Block) -> list[Declared]:
    """The annotated names that a class body declares."""
    return [
        Declared(n.target.id, n.annotation, _is(n.annotation, "ClassVar"), _is(n.annotation, "InitVar"))
        for n in block
        if isinstance(n, tree.AnnAssign) and isinstance(n.target, tree.Name)
    ]


def _is(annotation: tree.Node, word: str) -> bool:
    """Whether an annotation is `word` or `word[...]`, from whatever module, or a text that says so."""
    head = annotation.value if isinstance(annotation, tree.Index) else annotation
    if isinstance(head, tree.Const):
        return isinstance(head.value, str) and head.value.split("[")[0].rpartition(".")[2] == word
    name = head.id if isinstance(head, tree.Name) else head.name if isinstance(head, tree.Attr) else ""
    return name == word


def _relevant(index: ModuleIndex) -> dict[str, tuple[int, ...]]:
    """For each name the statements its value depends on; methods called on an import do not change the
    import.
    """
    out = {}
    for name, places in index.names.items():
        binding = [p for p in places if name in index.statements[p].binds]
        if binding:
            only_imports = all(index.statements[p].kind == "import" for p in binding)
            out[name] = tuple(binding) if only_imports else places
    return out


def _bound(members: tuple[Statement, ...], name: str, places: tuple[int, ...]) -> bool:
    return any(name in members[p].binds for p in places)
