"""The engine's modules as the evaluator asks for them: indexed once, lowered statement by statement, then
kept.

Shared by every question on one source: it holds text, positions and lowered trees, and no evaluated value.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files
from typing import TypeVar, cast

from . import tree
from .imports import Imports
from .index import (
    ClassIndex,
    ModuleIndex,
    Statement,
    class_header,
    index_module,
    member_block,
    normalised,
    statement_block,
)
from .names import bound_in
from .sources import Source

T = TypeVar("T")


class Library:
    """Lowered source of one pin."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.imports = Imports(source)
        self.consulted: set[str] = set()
        """What the engine asked its driver about the device, since whoever asks cleared it."""
        self._modules: dict[str, LoweredModule | None] = {}
        self._stubs: dict[str, LoweredModule | None] = {}
        self._classes: dict[int, LoweredClass] = {}
        self._facts: dict[str, object] = {}
        self._locals: dict[int, tuple[tree.Node, frozenset[str]]] = {}

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


class LoweredModule:
    """One module: which statements make each name, and their trees on demand."""

    def __init__(self, library: Library, path: str, text: str) -> None:
        self.library, self.path, self.text = library, path, normalised(text)
        self.index: ModuleIndex = index_module(self.text)
        self.names = _relevant(self.index)
        self.stars = [star for s in self.index.statements for star in s.stars]
        self._blocks: dict[int, tree.Block] = {}

    def block(self, number: int) -> tree.Block:
        if number not in self._blocks:
            self._blocks[number] = self._lower(self.index.statements[number])
        return self._blocks[number]

    def _lower(self, statement: Statement) -> tree.Block:
        if not isinstance(statement, ClassIndex):
            return statement_block(self.text, statement)
        node = class_header(self.text, statement)
        self.library.keep_class(node, LoweredClass(self.text, statement))
        return (node,)


class LoweredClass:
    """The members of one class, lowered on demand."""

    def __init__(self, text: str, index: ClassIndex) -> None:
        self.text, self.index = text, index
        self.names = {
            name: places for name, places in index.names.items() if _bound(index.members, name, places)
        }
        self._blocks: dict[int, tree.Block] = {}

    def block(self, number: int) -> tree.Block:
        if number not in self._blocks:
            self._blocks[number] = member_block(self.text, self.index, self.index.members[number])
        return self._blocks[number]

    def annotations(self) -> list[tuple[str, tree.Node]]:
        """(name, annotation) of the annotated assignments, in order."""
        out = []
        for number, member in enumerate(self.index.members):
            if member.kind in ("assign", "other"):
                out += annotated(self.block(number))
        return out


def annotated(block: tree.Block) -> list[tuple[str, tree.Node]]:
    """(name, annotation) of the annotated names that a class body declares."""
    return [
        (n.target.id, n.annotation)
        for n in block
        if isinstance(n, tree.AnnAssign) and isinstance(n.target, tree.Name)
    ]


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
