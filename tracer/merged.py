"""Enumerations of KV cache modes in which two modes are one value, found in the engine's source."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ..report.merged import Merged
from ..report.predicate import Site
from .sources import Source

_MODES = re.compile(rb"class\s+\w*(?:KV|Cache)\w*\([^)]*Enum\)")
"""Only what tells ways to keep keys and values apart: elsewhere a second name is often meant."""
_KINDS = ("Enum", "IntEnum", "StrEnum")


def merged(source: Source) -> tuple[Merged, ...]:
    """The modes that are one, in the order of their files."""
    return tuple(
        found
        for path in source.files(f"{source.engine}/", ".py")
        if _MODES.search(source.read(path) or b"")
        for found in _of_file(path, source.text(path) or "")
    )


def _of_file(path: str, text: str) -> Iterator[Merged]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and any(_last(base) in _KINDS for base in node.bases):
            yield from _of_class(path, f"{module}.{node.name}", node)


def _of_class(path: str, name: str, node: ast.ClassDef) -> Iterator[Merged]:
    values: dict[str, list[tuple[str, int]]] = {}
    for statement in node.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant):
            for target in statement.targets:
                if isinstance(target, ast.Name):
                    found = values.setdefault(repr(statement.value.value), [])
                    found.append((target.id, statement.lineno))
    for value, members in values.items():
        if len(members) > 1:
            site = Site(path, members[-1][1])
            yield Merged(enum=name, value=value, members=tuple(member for member, _ in members), site=site)


def _last(node: ast.expr) -> str:
    return ast.unparse(node).rpartition(".")[2]
