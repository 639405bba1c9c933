"""Which names a function or comprehension binds itself: Python decides that by the text, before anything
runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from . import tree

SCOPES = (tree.FunctionDef, tree.ClassDef, tree.Lambda)


def bound_in(node: tree.FunctionDef | tree.Lambda) -> frozenset[str]:
    """The local names of a function: its parameters and whatever its own body binds."""
    names = {param.name for param in node.params.items}
    if isinstance(node, tree.Lambda):
        return frozenset(names.union(*(_binds(part) for part in _below(node.body))))
    elsewhere: set[str] = set()
    for statement in node.body:
        for part in _below(statement):
            if isinstance(part, tree.Global):
                elsewhere.update(part.names)
            names |= _binds(part)
    return frozenset(names - elsewhere)


def bound_by_loops(node: tree.Comprehension) -> frozenset[str]:
    """The names that a comprehension keeps to itself."""
    return frozenset(name for clause in node.fors for name in _targets(clause.target))


def _below(node: Any) -> Iterator[Any]:
    """`node` and what is below it, the insides of nested functions and classes left out."""
    yield node
    if isinstance(node, SCOPES):
        yield from _inside(_around(node))
        return
    for field in node.__struct_fields__:
        yield from _inside(getattr(node, field))


def _around(node: tree.FunctionDef | tree.ClassDef | tree.Lambda) -> tuple[Any, ...]:
    """What a function or class has evaluated where it stands: a walrus there binds outside."""
    if isinstance(node, tree.ClassDef):
        return (node.decorators, node.bases)
    defaults = tuple(param.default for param in node.params.items)
    return defaults if isinstance(node, tree.Lambda) else (node.decorators, defaults)


def _inside(part: Any) -> Iterator[Any]:
    if isinstance(part, tuple):
        for item in part:
            yield from _inside(item)
    elif isinstance(part, Struct):
        yield from _below(part)


def _binds(node: Any) -> set[str]:
    """The names that one node by itself binds."""
    found = BINDERS.get(type(node))
    return set(found(node)) if found is not None else set()


def _targets(node: tree.Node | None) -> Iterator[str]:
    if isinstance(node, tree.Name):
        yield node.id
    elif isinstance(node, tree.Display):
        for item in node.items:
            yield from _targets(item)
    elif isinstance(node, tree.Star):
        yield from _targets(node.value)


def _imported(node: tree.Import | tree.ImportFrom) -> Iterator[str]:
    for alias in node.aliases:
        yield alias.asname or (alias.name.partition(".")[0] if isinstance(node, tree.Import) else alias.name)


def _several(targets: Any) -> Iterator[str]:
    for target in targets:
        yield from _targets(target)


BINDERS: dict[type, Any] = {
    tree.Assign: lambda n: _several(n.targets),
    tree.Delete: lambda n: _several(n.targets),
    tree.AnnAssign: lambda n: _targets(n.target),
    tree.AugAssign: lambda n: _targets(n.target),
    tree.Walrus: lambda n: _targets(n.target),
    tree.For: lambda n: _targets(n.target),
    tree.With: lambda n: _several(target for _, target in n.items),
    tree.Handler: lambda n: () if n.name is None else (n.name,),
    tree.Import: _imported,
    tree.ImportFrom: _imported,
    tree.FunctionDef: lambda n: (n.name,),
    tree.ClassDef: lambda n: (n.name,),
}
