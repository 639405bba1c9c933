"""Truth in three values: under which guard a value is true."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import inheritance
from .unions import alternatives, cover
from .values import (
    CONSTANTS,
    MISSING,
    DictValue,
    DictView,
    Instance,
    ListValue,
    Opaque,
    SetValue,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from ..guards import Guard
    from .machine import Machine


def truth(m: Machine, value: Value) -> Guard:
    """The guard under which `value` is true on the current path, of which it leaves what does not raise."""
    return m.decide(value, lambda atom: atom_truth(m, atom))


def atom_truth(m: Machine, atom: Value) -> Guard:
    if isinstance(atom, (*CONSTANTS, tuple, range)):
        return m.space.true if atom else m.space.false
    if isinstance(atom, Unknown):
        return m.holds(atom)
    if isinstance(atom, ListValue):
        return _list_truth(m, atom)
    if isinstance(atom, DictValue | SetValue):
        return _entries_truth(m, atom)
    if isinstance(atom, DictView):
        return _entries_truth(m, atom.source)
    if isinstance(atom, Instance):
        return _instance_truth(m, atom)
    if isinstance(atom, Opaque):
        return m.holds(Unknown(f"{atom.symbol}", atom.symbol)) if m.world.may_be_false(atom) else m.space.true
    return m.space.false if atom is MISSING else m.space.true


def _list_truth(m: Machine, atom: ListValue) -> Guard:
    out = m.space.false
    for guard, items in alternatives(m, atom.content):
        if isinstance(items, Unknown):
            out = out | (guard & m.holds(items))
        elif items:
            out = out | guard
    return out


def _entries_truth(m: Machine, atom: DictValue | SetValue) -> Guard:
    out = m.space.false
    for _, value in atom.entries.values():
        out = out | cover(m, value)
    fuzzy = cover(m, atom.other)
    return (
        out if fuzzy.is_false else out | (fuzzy & m.holds(m.unknown("a key written under an unknown name")))
    )


def _instance_truth(m: Machine, atom: Instance) -> Guard:
    for name in ("__bool__", "__len__"):
        method = inheritance.class_attribute(m, atom.cls, name)
        if method is not MISSING:
            from .calls import call_value

            return truth(m, call_value(m, inheritance.bind(m, method, atom), (), {}, None))
    if atom.payload is not MISSING:
        return atom_truth(m, atom.payload)
    return m.space.true
