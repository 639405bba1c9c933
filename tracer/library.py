"""The engine's modules as the evaluator asks for them: indexed once, lowered statement by statement, then
kept.

Shared by every question on one source: it holds text, positions and lowered trees, and no evaluated value.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import cached_property
from importlib.resources import files
from typing import NamedTuple, TypeVar, cast

from . import tree
from .imports import Imports
from .index import ClassIndex, ModuleIndex, Statement, class_header, member_block, normalised, statement_block
from .kept.modules import KeptModule
from .kept.store import Store
from .kept.wholes import KeptSource
from .names import bound_in
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
        self._facts: dict[str, object] = {}
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

    def text(self, text: str) -> KeptModule:
        """What is known of a text of Python."""
        kept = KeptModule(self._store, text)
        self._kept.append(kept)
        return kept

    def module(self, name: str) -> LoweredModule | None:
        """The module of that dotted name, or None when this source has none."""
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
            self._facts[name] = make()
        return cast(T, self._facts[name])

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


class LoweredModule:
    """One module: which statements make each name, and their trees on demand."""

    def __init__(self, library: Library, path: str, text: str) -> None:
        self.library, self.path, self.text = library, path, normalised(text)
        self._kept = library.text(self.text)
        self.index: ModuleIndex = self._kept.index
        self.names = _relevant(self.index)
        self.stars = [star for s in self.index.statements for star in s.stars]
        self._blocks: dict[int, tree.Block] = {}

    def block(self, number: int) -> tree.Block:
        if number not in self._blocks:
            self._blocks[number] = self._lower(self.index.statements[number])
        return self._blocks[number]

    def _lower(self, statement: Statement) -> tree.Block:
        place = 0, statement.first_line
        if not isinstance(statement, ClassIndex):
            return self._kept.block(place, lambda: statement_block(self.text, statement))
        (node,) = self._kept.block(place, lambda: (class_header(self.text, statement),))
        assert isinstance(node, tree.ClassDef), node
        self.library.keep_class(node, LoweredClass(self.text, statement, self._kept))
        return (node,)


class LoweredClass:
    """The members of one class, lowered on demand."""

    def __init__(self, text: str, index: ClassIndex, kept: KeptModule) -> None:
        self.text, self.index, self._kept = text, index, kept
        self.names = {
            name: places for name, places in index.names.items() if _bound(index.members, name, places)
        }
        self._blocks: dict[int, tree.Block] = {}

    def block(self, number: int) -> tree.Block:
        if number not in self._blocks:
            self._blocks[number] = self._lower(self.index.members[number])
        return self._blocks[number]

    def _lower(self, member: Statement) -> tree.Block:
        place = self.index.first_line, member.first_line
        return self._kept.block(place, lambda: member_block(self.text, self.index, member))

    @cached_property
    def declared(self) -> list[Declared]:
        """The annotated names, in order."""
        out = []
        for number, member in enumerate(self.index.members):
            if member.kind in ("assign", "other"):
                out += declared(self.block(number))
        return out


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
