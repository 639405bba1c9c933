"""Where one function's text calls another: the steps of a walk that are not evaluated but must be there.

The walk enters the engine at a few functions; that the engine gets from one to the next is read here, and
a link
that a release does not have is reported as missing, never assumed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from ..report.predicate import Site
from . import tree
from .evaluate.values import ClassValue, Function, Native, Value

if TYPE_CHECKING:
    from .evaluate.machine import Machine
    from .library import Library


class Link(Struct, frozen=True):
    """A call that `caller`'s text makes to something of that name; None when the text has no such call."""

    caller: str
    callee: str
    site: Site | None


def function_behind(value: Value) -> Function:
    """The function behind a method, a class method or a wrapped function."""
    while not isinstance(value, Function):
        value = value.func if not isinstance(value, Native) else None
    return value


def link(library: Library, caller: Function, callee: str) -> Link:
    """The first call in `caller` whose target ends in the callee's own name."""
    name = callee.rpartition(".")[2]
    for node in library.below(caller.node):
        if isinstance(node, tree.Call) and _target(node.func) == name:
            return Link(caller.symbol, callee, Site(caller.module.path, node.line))
    return Link(caller.symbol, callee, None)


def text_site(library: Library, function: Function, text: str) -> Site | None:
    """Where a string constant stands in a function."""
    for node in library.below(function.node):
        if isinstance(node, tree.Const) and node.value == text:
            return Site(function.module.path, node.line)
    return None


def field_site(m: Machine, cls: ClassValue, name: str) -> Site | None:
    """Where a class declares a field."""
    lowered = m.world.source.class_of(cls.node) if cls.node is not None else None
    if lowered is None:
        return None
    lowered.asked.add(name)
    return next((Site(cls.module.path, lowered.span(n)[0]) for n in lowered.names.get(name, ())), None)


def _target(func: tree.Node) -> str:
    if isinstance(func, tree.Name):
        return func.id
    return func.name if isinstance(func, tree.Attr) else ""
