"""Sizes that must divide evenly, and sizes that are rounded up: what the shape of a layer has to fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import tree
from .values import Function, Unknown, Value

if TYPE_CHECKING:
    from ...report.predicate import Site
    from ..guards import Guard
    from .machine import Machine


class Fit:
    """One `size % multiple`, or one size that was rounded up to a multiple."""

    __slots__ = ("edge", "function", "guard", "multiple", "name", "padded", "phase", "site", "size")

    def __init__(
        self, m: Machine, name: str, size: Value, multiple: Value, padded: Value, node: tree.Node
    ) -> None:
        self.function: str = m.frame.symbol
        self.guard: Guard = m.live
        self.site: Site | None = m.site(node)
        self.phase: str = m.record.phase
        self.edge = m.record.inside()
        """The number of the edge that led into the function; None at the entry of a phase."""
        self.name, self.size, self.multiple, self.padded = name, size, multiple, padded


def remainder(m: Machine, node: tree.Binary, size: Value, multiple: Value) -> None:
    """Note a `size % multiple` of whole numbers in a phase of the walk."""
    name = _name(node.left)
    if m.record.phase and name is not None and _whole(size) and _whole(multiple):
        m.record.fits.append(Fit(m, name, size, multiple, None, node))


def rounding(m: Machine, func: Value, node: tree.Call, args: tuple[Value, ...], padded: Value) -> None:
    """Note a call of a function that rounds its first argument up to a multiple of its second."""
    if not m.record.phase or len(node.args) != 2 or len(args) != 2 or not _rounds_up(func):
        return
    name = _name(node.args[0].value)
    if name is not None and all(map(_whole, (*args, padded))):
        m.record.fits.append(Fit(m, name, args[0], args[1], padded, node))


def _whole(value: Value) -> bool:
    if isinstance(value, Unknown):
        return value.kind == "int"
    return isinstance(value, int) and not isinstance(value, bool)


def _name(node: tree.Node) -> str | None:
    """How the source calls a size; None for what has no name of its own."""
    if isinstance(node, tree.Name):
        return node.id
    if isinstance(node, tree.Attr):
        return node.name
    if isinstance(node, tree.Index) and isinstance(node.key, tree.Const):
        name = _name(node.value)
        return None if name is None else f"{name}[{node.key.value!r}]"
    return None


def _rounds_up(func: Value) -> bool:
    """Whether a function of two parameters gives `((x + y - 1) // y) * y`, and nothing else."""
    if not isinstance(func, Function) or not isinstance(func.node, tree.FunctionDef):
        return False
    names = [param.name for param in func.node.params.items]
    last = func.node.body[-1] if func.node.body else None
    if len(names) != 2 or not isinstance(last, tree.Return) or not isinstance(last.value, tree.Binary):
        return False
    return _shape(last.value) == f"((({names[0]} + {names[1]}) - 1) // {names[1]}) * {names[1]}"


def _shape(node: tree.Node) -> str:
    """An arithmetic expression as text, every operation but the outermost in brackets."""
    if isinstance(node, tree.Binary):
        left, right = map(_bracketed, (node.left, node.right))
        return f"{left} {node.op} {right}"
    if isinstance(node, tree.Const):
        return repr(node.value)
    return node.id if isinstance(node, tree.Name) else "?"


def _bracketed(node: tree.Node) -> str:
    return f"({_shape(node)})" if isinstance(node, tree.Binary) else _shape(node)
