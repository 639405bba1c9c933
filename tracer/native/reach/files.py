"""The compiled half's files for one build: what each defines, includes and names by macro."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING, Protocol

from msgspec import structs

from .body import body_of
from .compiled import Compiled, MacroText, compiled
from .macros import Lookup, expanded
from .outline import Definition, outline
from .uses import Body

if TYPE_CHECKING:
    from ..values import Facts

ROOT = "csrc"
_USING = re.compile(r"\busing\s+(namespace\s+)?([A-Za-z_][\w:]*)\s*;")
_RENAMED = re.compile(r"\bnamespace\s+(\w+)\s*=\s*(?:::)?([\w:]+)\s*;")
_LOCAL = re.compile(r"\bextern\s+[\w:<>&*\s]*?\b(\w+)\s*\(")


class Texts(Protocol):
    """Whose files are read: an engine's source, or a library's."""

    def read(self, path: str) -> bytes | None:
        """Give a file's bytes."""

    def text(self, path: str) -> str | None:
        """Give a file's text."""

    def files(self, prefix: str = "", suffix: str | tuple[str, ...] = "") -> tuple[str, ...]:
        """List the paths that begin and end so, sorted."""


class NativeFiles:
    """Files of a build, each read once; nothing of them is compiled or run."""

    def __init__(self, source: Texts, paths: Mapping[str, bool], facts: Facts) -> None:
        self.source = source
        self.facts = facts
        self.paths = tuple(paths)
        self._known = frozenset(paths)
        self._closures: dict[str, frozenset[str]] = {}
        self._macros: dict[str, Lookup] = {}
        self._renamed: dict[str, dict[str, str]] = {}
        self._local: dict[str, frozenset[str]] = {}
        self._opened: dict[str, frozenset[str]] = {}
        self._bodies: dict[Definition, Body] = {}
        self.too_deep: list[str] = []
        self._texts: dict[str, str] = {}

    @cached_property
    def files(self) -> dict[str, Compiled]:
        """Every file as this build compiles it."""
        return {path: compiled(path, self.source.read(path) or b"", self.facts) for path in self.paths}

    @cached_property
    def definitions(self) -> dict[str, tuple[Definition, ...]]:
        """What the files define and declare, by short name."""
        found: dict[str, list[Definition]] = {}
        for path in self.paths:
            try:
                listed = outline(path, self.text(path))
            except RecursionError:
                self.too_deep.append(f"{path}: its scopes are nested too deep")
                continue
            for definition in listed:
                found.setdefault(definition.name, []).append(definition)
        return {name: tuple(_with_defaults(items)) for name, items in found.items()}

    @property
    def skipped(self) -> tuple[str, ...]:
        """What was not read, as sentences."""
        cut = [f"{path}: {file.cut}" for path, file in self.files.items() if file.cut]
        return (*cut, *self.too_deep)

    def text(self, path: str) -> str:
        """A file's compiled text, with the macros that write kernels or name namespaces in their place."""
        if path not in self._texts:
            file = self.files[path]
            writing = {
                m.name: m
                for m in file.macros
                if (m.body and "__global__" in m.body) or m.name.endswith("NAMESPACE_NAME")
            }
            text = file.text
            if any(name in text for name in writing):
                text = expanded(text, lambda name, _: writing.get(name))
            self._texts[path] = text
        return self._texts[path]

    def inside(self, definition: Definition) -> str:
        """The text of a definition's body."""
        begin, end = definition.body or (0, 0)
        return self.text(definition.path)[begin:end]

    def included(self, path: str, words: str) -> str | None:
        """The file of this tree that an `#include "..."` means, None where it is of another."""
        near = posixpath.normpath(posixpath.join(posixpath.dirname(path), words))
        for candidate in (near, posixpath.normpath(f"{ROOT}/{words}")):
            if candidate in self._known:
                return candidate
        ends = [known for known in self.paths if known.endswith(f"/{words}")]
        return ends[0] if len(ends) == 1 else None

    def closure(self, path: str) -> frozenset[str]:
        """A file and all of this tree that it includes."""
        if path not in self._closures:
            seen, pending = {path}, [path]
            while pending:
                here = pending.pop()
                for _, words in self.files[here].includes:
                    target = self.included(here, words)
                    if target is not None and target not in seen:
                        seen.add(target)
                        pending.append(target)
            self._closures[path] = frozenset(seen)
        return self._closures[path]

    def opened(self, path: str) -> frozenset[str]:
        """The namespaces (their last word) and the names that `using` opens in a file or what it includes."""
        if path not in self._opened:
            found: set[str] = set()
            for other in self.closure(path):
                for is_namespace, name in _USING.findall(self.files[other].text):
                    found.add(name.rpartition("::")[2] if is_namespace else name)
            self._opened[path] = frozenset(found)
        return self._opened[path]

    def renamed(self, path: str) -> dict[str, str]:
        """The namespaces that a file and what it includes give a shorter name."""
        if path not in self._renamed:
            texts = (self.files[other].text for other in sorted(self.closure(path)))
            self._renamed[path] = {short: whole for text in texts for short, whole in _RENAMED.findall(text)}
        return self._renamed[path]

    def declared_within(self, path: str) -> frozenset[str]:
        """The functions that a file declares inside of others, or with `extern`."""
        if path not in self._local:
            self._local[path] = frozenset(_LOCAL.findall(self.files[path].text))
        return self._local[path]

    def macros(self, path: str) -> Lookup:
        """The macros that a file sees: its own that stand above, before those of what it includes."""
        if path not in self._macros:
            seen: dict[str, MacroText] = {}
            for other in sorted(self.closure(path) - {path}):
                seen.update((m.name, m) for m in self.files[other].macros if m.body is not None)
            own: dict[str, list[MacroText]] = {}
            for macro in self.files[path].macros:
                own.setdefault(macro.name, []).append(macro)
            self._macros[path] = partial(_in_force, seen, own)
        return self._macros[path]

    def body(self, definition: Definition) -> Body:
        """What a definition's body uses, its macros expanded."""
        if definition not in self._bodies:
            begin = definition.body[0] if definition.body else 0
            line = self.text(definition.path).count("\n", 0, begin) + 1
            inside = expanded(self.inside(definition), self.macros(definition.path), line)
            try:
                opened = tuple((o.first, o.last) for o in self.files[definition.path].opened)
                self._bodies[definition] = body_of(inside, line, opened)
            except RecursionError:
                self.too_deep.append(
                    f"{definition.path}:{definition.line}: {definition.name} is nested too deep"
                )
                self._bodies[definition] = Body(())
        return self._bodies[definition]


def _with_defaults(items: list[Definition]) -> Iterator[Definition]:
    """Definitions take as few arguments as their declarations do, which name the default values."""
    least: dict[tuple[str, int], int] = {}
    for item in items:
        key = (item.qualified, len(item.params))
        least[key] = min(item.least, least.get(key, item.least))
    for item in items:
        fewest = least[item.qualified, len(item.params)]
        yield item if item.least == fewest else structs.replace(item, least=fewest)


def _in_force(
    seen: Mapping[str, MacroText], own: Mapping[str, list[MacroText]], name: str, line: int
) -> MacroText | None:
    """The file's own last definition above a line; without one, that of an included file."""
    for macro in reversed(own.get(name, ())):
        if macro.line <= line:
            return macro if macro.body is not None else None
    return seen.get(name)
