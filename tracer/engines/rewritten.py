"""Which fields of an engine's configuration its own start may rewrite: their defaults say nothing then."""

from __future__ import annotations

import ast

from ..kept.wholes import Rewritten
from ..library import Library
from ..readings import Reading


def rewritten(library: Library, prefixes: tuple[str, ...]) -> Rewritten:
    """Names of fields by their owner: `a.b.x = ...` rewrites x of `b`, `self.x = ...` in class C that of
    `C`.
    """
    library.note([Reading("rewritten", "\n".join(prefixes))])
    return library.whole.rewritten(prefixes, lambda: _read(library, prefixes))


def _read(library: Library, prefixes: tuple[str, ...]) -> Rewritten:
    found: dict[str, set[str]] = {}
    for prefix in prefixes:
        for path in library.source.files(prefix, ".py"):
            text = library.source.text(path)
            if text is not None:
                _collect(ast.parse(text), found)
    return {owner: frozenset(names) for owner, names in found.items()}


def _collect(tree: ast.Module, found: dict[str, set[str]]) -> None:
    for cls in ast.walk(tree):
        if isinstance(cls, ast.ClassDef):
            for node in ast.walk(cls):
                _store(node, cls.name, found)
    for node in ast.walk(tree):
        _store(node, "", found)


def _store(node: ast.AST, cls: str, found: dict[str, set[str]]) -> None:
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
        owner = node.value
        name = (
            owner.id
            if isinstance(owner, ast.Name)
            else owner.attr
            if isinstance(owner, ast.Attribute)
            else ""
        )
        found.setdefault(cls if name == "self" else name, set()).add(node.attr)
