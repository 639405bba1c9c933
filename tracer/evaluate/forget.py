"""What a loop with an unknown number of iterations may have changed becomes unknown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from .. import tree
from .containers import smear
from .dicts import smear_entry
from .frames import Frame
from .scopes import LazyScope
from .unions import alternatives, join, store
from .values import (
    CONSTANTS,
    MISSING,
    DictValue,
    Instance,
    IteratorValue,
    ListValue,
    SetValue,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from ..guards import Guard
    from .machine import Machine

Slot = tuple[Any, Any]
"""An object, container or frame, and which part of it."""


def forget(m: Machine, loop: tree.Node) -> None:
    """Make what the loop's own text writes unknown on this path."""
    m.coverage.unsupported("loop of unknown length", m.site(loop))
    for node in _walk(loop):
        if isinstance(node, tree.Assign | tree.Delete):
            for target in node.targets:
                _target(m, target)
        elif isinstance(node, tree.AugAssign | tree.AnnAssign | tree.Walrus | tree.For):
            _target(m, node.target)
        elif isinstance(node, tree.Call) and isinstance(node.func, tree.Attr):
            _contents(m, _quiet(m, node.func.value))


def forget_slots(m: Machine, slots: Iterable[Slot]) -> None:
    """Make slots that were seen to be written unknown on this path."""
    for box, slot in slots:
        if isinstance(box, ListValue | IteratorValue):
            box.content = store(m, box.content, m.unknown("what a loop left"), box.born)
        elif isinstance(box, DictValue | SetValue):
            _entry(m, box, slot)
        else:
            _named(m, box, slot)


def _entry(m: Machine, box: DictValue | SetValue, slot: Any) -> None:
    if slot == "other":
        smear(m, box, "a collection filled in a loop")
    else:
        smear_entry(m, box, slot[1], "a collection filled in a loop")


def _named(m: Machine, box: Any, slot: Any) -> None:
    """An attribute, a name of a frame or module, or an attribute of something outside."""
    kind, name = slot
    held = m.outside if kind == "outside" else _names(box)
    born = getattr(box, "born", m.space.true) if kind != "outside" else m.space.true
    held[name] = store(m, held.get(name, MISSING), _anything(m, held.get(name, MISSING), str(name)), born)


def _names(box: Any) -> dict[Any, Value]:
    if isinstance(box, Frame):
        return box.names
    found: dict[Any, Value] = box.values if isinstance(box, LazyScope) else box.attrs
    return found


def older(slots: Iterable[Slot], runs: Guard) -> list[Slot]:
    """Those whose owner was there before the loop began, which is where `runs` was first asked."""
    return [(box, slot) for box, slot in slots if not _born(box, runs)]


def _born(box: Any, runs: Guard) -> bool:
    born = getattr(box, "born", None)
    return born is not None and born.implies(runs)


def _walk(node: Any) -> Iterator[Any]:
    """Every node below `node`, nested functions and classes left out."""
    if isinstance(node, tree.FunctionDef | tree.ClassDef | tree.Lambda):
        return
    yield node
    for part in tree.parts(node):
        yield from _walk(part)


def _target(m: Machine, target: tree.Node) -> None:
    if isinstance(target, tree.Name):
        old = m.frame.names.get(target.id, MISSING)
        m.frame.write(m, target.id, _anything(m, old, target.id))
    elif isinstance(target, tree.Attr):
        for _, atom in alternatives(m, _quiet(m, target.value)):
            if isinstance(atom, Instance):
                m.touch(atom, ("attribute", target.name))
                old = atom.attrs.get(target.name, MISSING)
                atom.attrs[target.name] = store(m, old, _anything(m, old, target.name), atom.born)
    elif isinstance(target, tree.Index):
        _contents(m, _quiet(m, target.value))
    elif isinstance(target, tree.Display):
        for item in target.items:
            _target(m, item.value if isinstance(item, tree.Star) else item)


def _anything(m: Machine, old: Value, label: str) -> Value:
    """An unknown; where there was nothing, perhaps nothing still. Of numbers and texts the kind is kept."""
    alts = alternatives(m, old)
    kinds = {_kind(atom) for _, atom in alts if atom is not MISSING}
    value = m.unknown(label, kind=kinds.pop() if len(kinds) == 1 else None)
    gone = m.space.false
    for guard, atom in alts:
        gone = gone | guard if atom is MISSING else gone
    if gone.is_false:
        return value
    still = gone & ~m.holds(m.unknown(f"{label} is bound"))
    return join(m, [(still, MISSING), (m.live & ~still, value)])


def _kind(atom: Value) -> str | None:
    if isinstance(atom, Unknown):
        return atom.kind
    return type(atom).__name__ if isinstance(atom, CONSTANTS) and isinstance(atom, bool | int | str) else None


def _quiet(m: Machine, node: tree.Node) -> Value:
    """The object a plain dotted name stands for, read without running anything."""
    if isinstance(node, tree.Name):
        return m.frame.names.get(node.id, MISSING)
    if isinstance(node, tree.Attr):
        owners = [a for _, a in alternatives(m, _quiet(m, node.value)) if isinstance(a, Instance)]
        return owners[0].attrs.get(node.name, MISSING) if len(owners) == 1 else MISSING
    return MISSING


def _contents(m: Machine, value: Value) -> None:
    for _, atom in alternatives(m, value):
        if isinstance(atom, ListValue | DictValue | SetValue):
            smear(m, atom, "a collection filled in a loop")
