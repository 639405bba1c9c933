"""What a loop with an unknown number of iterations may have changed becomes unknown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from .. import tree
from .unions import alternatives, store
from .values import MISSING, DictValue, Instance, ListValue, SetValue, Unknown, Value

if TYPE_CHECKING:
    from .machine import Machine


def forget(m: Machine, loop: tree.Node) -> None:
    """Make every name, attribute and container that the loop's body writes unknown on this path."""
    m.coverage.unsupported("loop of unknown length", m.site(loop))
    for node in _walk(loop):
        if isinstance(node, tree.Assign):
            for target in node.targets:
                _target(m, target)
        elif isinstance(node, tree.AugAssign | tree.AnnAssign | tree.Walrus | tree.For):
            _target(m, node.target)
        elif isinstance(node, tree.Call) and isinstance(node.func, tree.Attr):
            _contents(m, _quiet(m, node.func.value))


def _walk(node: Any) -> Iterator[Any]:
    """Every node below `node`, nested functions and classes left out."""
    if isinstance(node, tree.FunctionDef | tree.ClassDef | tree.Lambda):
        return
    yield node
    for name in node.__struct_fields__:
        part = getattr(node, name)
        for item in part if isinstance(part, tuple) else (part,):
            for inner in item if isinstance(item, tuple) else (item,):
                if isinstance(inner, Struct):
                    yield from _walk(inner)


def _target(m: Machine, target: tree.Node) -> None:
    if isinstance(target, tree.Name):
        old = m.frame.names.get(target.id, MISSING)
        if old is not MISSING:
            m.frame.write(m, target.id, m.unknown(target.id, target))
    elif isinstance(target, tree.Attr):
        for _, atom in alternatives(m, _quiet(m, target.value)):
            if isinstance(atom, Instance):
                old = atom.attrs.get(target.name, MISSING)
                atom.attrs[target.name] = store(m, old, m.unknown(target.name, target), atom.born)
    elif isinstance(target, tree.Index):
        _contents(m, _quiet(m, target.value))
    elif isinstance(target, tree.Display):
        for item in target.items:
            _target(m, item.value if isinstance(item, tree.Star) else item)


def _quiet(m: Machine, node: tree.Node) -> Value:
    """The object a plain dotted name stands for, read without running anything."""
    if isinstance(node, tree.Name):
        return m.frame.names.get(node.id, MISSING)
    if isinstance(node, tree.Attr):
        found = [
            a.attrs.get(node.name, MISSING)
            for _, a in alternatives(m, _quiet(m, node.value))
            if isinstance(a, Instance)
        ]
        return found[0] if len(found) == 1 else MISSING
    return MISSING


def _contents(m: Machine, value: Value) -> None:
    for _, atom in alternatives(m, value):
        if isinstance(atom, ListValue):
            atom.content = store(m, atom.content, m.unknown("a list filled in a loop"), atom.born)
        elif isinstance(atom, DictValue | SetValue):
            atom.other = store(m, atom.other, m.unknown("a collection filled in a loop"), atom.born)
            for key, (name, old) in list(atom.entries.items()):
                atom.entries[key] = (
                    name,
                    store(m, old, Unknown(f"{id(atom)}:{key}", f"element {name!r}"), atom.born),
                )
