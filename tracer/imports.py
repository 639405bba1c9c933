"""What importing a module of the engine needs from outside: the packages named by imports that always run.

Only imports at the left margin count: one under `try`, `if` or in a function may not run, or may fail in
peace.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from .sources import Source

IMPORT = re.compile(
    r"^import[ \t]+([^\n#;]+)|^from[ \t]+([.\w]+)[ \t]+import[ \t]*(\([^)]*\)|[^\n#;]+)", re.M
)
TEXT = re.compile(r"(\"\"\"|''')[\s\S]*?\1")
"""A text over several lines, which may read like an import."""
NAME = re.compile(r"(\w[\w.]*)(?:\s+as\s+\w+)?\s*(?:,|$|\))")


class Needs(NamedTuple):
    """What a module imports itself."""

    inside: tuple[str, ...]
    """Modules of the engine, those above them too."""
    outside: frozenset[str]
    """Packages that are not the engine's, by their first name."""


class Imports:
    """The imports of one source, each module read once."""

    def __init__(self, source: Source) -> None:
        self.source, self.root = source, source.engine
        self._own: dict[str, Needs] = {}
        self._all: dict[str, frozenset[str]] = {}

    def outside(self, module: str) -> frozenset[str]:
        """Packages outside the engine that importing `module` brings in, by their first name."""
        if module not in self._all:
            found: set[str] = set()
            seen, todo = set(), [module, *_above(module)]
            while todo:
                name = todo.pop()
                if name not in seen:
                    seen.add(name)
                    needs = self._needs(name)
                    found |= needs.outside
                    todo += needs.inside
            self._all[module] = frozenset(found)
        return self._all[module]

    def _needs(self, module: str) -> Needs:
        if module not in self._own:
            self._own[module] = self._read(module)
        return self._own[module]

    def _read(self, module: str) -> Needs:
        path = self.source.module_path(module)
        text = None if path is None else self.source.text(path)
        if path is None or text is None:
            return Needs((), frozenset())
        package = module if path.endswith("/__init__.py") else module.rpartition(".")[0]
        code = TEXT.sub("", text)
        named = [name for found in IMPORT.finditer(code) for name in _named(found, package)]
        inside = [n for n in named if n.partition(".")[0] == self.root]
        there = [n for n in inside if self.source.module_path(n) is not None]
        outside = frozenset(n.partition(".")[0] for n in named) - {self.root}
        return Needs(tuple(dict.fromkeys(m for n in there for m in (n, *_above(n)))), outside)


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
