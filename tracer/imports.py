"""What importing a module of the engine needs from outside: the packages named by imports that always run.

Imports at the left margin count always; those under an `if` there count where its test holds, which is
for others to say. One under `try` or in a function may fail in peace, or never run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from textwrap import dedent
from typing import NamedTuple

from .sources import Source

IMPORT = re.compile(
    r"^import[ \t]+([^\n#;]+)|^from[ \t]+([.\w]+)[ \t]+import[ \t]*(\([^)]*\)|[^\n#;]+)", re.M
)
TEXT = re.compile(r"(\"\"\"|''')[\s\S]*?\1")
"""A text over several lines, which may read like an import."""
TEST = re.compile(r"^if[ \t]+[^\n]+:[ \t]*\n((?:[ \t]+[^\n]*\n|[ \t]*\n|#[^\n]*\n)+)", re.M)
"""An `if` at the left margin, with the lines that it governs."""
NAME = re.compile(r"(\w[\w.]*)(?:\s+as\s+\w+)?\s*(?:,|$|\))")


class Needs(NamedTuple):
    """What a module imports itself, or does under one `if`."""

    inside: tuple[str, ...]
    """Modules of the engine, those above them too."""
    outside: frozenset[str]
    """Packages that are not the engine's, by their first name."""


class Maybe(NamedTuple):
    """What a module imports where the test of the `if` on a line of it holds."""

    module: str
    line: int
    needs: Needs


Own = tuple[Needs, tuple[Maybe, ...]]
"""What a module imports itself: always, and under conditions."""


class Imports:
    """The imports of one source, each module read once; `own` are those that were read before."""

    def __init__(self, source: Source, own: dict[str, Own] | None = None) -> None:
        self.source, self.root = source, source.engine
        self._own: dict[str, Own] = {} if own is None else own
        self._all: dict[str, tuple[frozenset[str], tuple[Maybe, ...]]] = {}
        self.asked: set[str] = set()
        """The modules that were asked about."""

    def outside(self, module: str) -> frozenset[str]:
        """Packages outside the engine that importing `module` brings in, by their first name."""
        return self._closure(module)[0]

    def maybe(self, module: str) -> tuple[Maybe, ...]:
        """What importing `module` brings in under conditions, itself or through others."""
        return self._closure(module)[1]

    def _closure(self, module: str) -> tuple[frozenset[str], tuple[Maybe, ...]]:
        self.asked.add(module)
        if module not in self._all:
            found: set[str] = set()
            maybe: list[Maybe] = []
            seen, todo = set(), [module, *_above(module)]
            while todo:
                name = todo.pop()
                if name not in seen:
                    seen.add(name)
                    needs, some = self._read(name)
                    found |= needs.outside
                    maybe += some
                    todo += needs.inside
            self._all[module] = frozenset(found), tuple(maybe)
        return self._all[module]

    def _read(self, module: str) -> Own:
        if module not in self._own:
            path = self.source.module_path(module)
            text = None if path is None else self.source.text(path)
            if path is None or text is None:
                return Needs((), frozenset()), ()
            package = module if path.endswith("/__init__.py") else module.rpartition(".")[0]
            code = TEXT.sub(lambda found: "\n" * found[0].count("\n"), text)
            self._own[module] = self._needs(code, package), tuple(self._under(code, module, package))
        return self._own[module]

    def _needs(self, code: str, package: str) -> Needs:
        named = [name for found in IMPORT.finditer(code) for name in _named(found, package)]
        inside = [n for n in named if n.partition(".")[0] == self.root]
        there = [n for n in inside if self.source.module_path(n) is not None]
        outside = frozenset(n.partition(".")[0] for n in named) - {self.root}
        return Needs(tuple(dict.fromkeys(m for n in there for m in (n, *_above(n)))), outside)

    def _under(self, code: str, module: str, package: str) -> Iterator[Maybe]:
        for found in TEST.finditer(code):
            needs = self._needs(dedent(found[1]), package)
            if needs.outside or needs.inside:
                yield Maybe(module, code.count("\n", 0, found.start()) + 1, needs)


def _named(found: re.Match[str], package: str) -> list[str]:
    """The modules that one import statement names, or may: `from a import b` may mean `a.b`."""
    if found[1] is not None:
        return NAME.findall(found[1])
    base = found[2]
    level = len(base) - len(base.lstrip("."))
    if level:
        parts = package.split(".")
        parts = parts[: len(parts) - (level - 1)]
        base = ".".join([*parts, *filter(None, [base[level:]])])
    return [base, *(f"{base}.{name}" for name in NAME.findall(found[3].strip("()")))] if base else []


def _above(module: str) -> list[str]:
    """The packages that a module lies in: they are imported first."""
    parts = module.split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts))]
