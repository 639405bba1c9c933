"""Truth in three values: under which guard a value is true."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import attributes
from .unions import alternatives
from .values import (
    CONSTANTS,
    MISSING,
    DictValue,
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
    """The guard under which `value` is true on the current path."""
    alts = alternatives(m, value)
    if len(alts) == 1:
        return atom_truth(m, alts[0][1])
    out = m.space.false
    entry, after = m.live, m.space.false
    for guard, atom in alts:
        m.live = guard
        out = out | (guard & atom_truth(m, atom))
        after = after | m.live
    m.live = after if not after.is_false else entry
    return out


def atom_truth(m: Machine, atom: Value) -> Guard:
    if isinstance(atom, CONSTANTS) or isinstance(atom, tuple):
        return m.space.true if atom else m.space.false
    if isinstance(atom, Unknown):
        return m.holds(atom)
    if isinstance(atom, ListValue):
        return _list_truth(m, atom)
    if isinstance(atom, DictValue | SetValue):
        return _entries_truth(m, atom)
    if isinstance(atom, Instance):
        return _instance_truth(m, atom)
    if isinstance(atom, Opaque):
        return m.holds(Unknown(f"{atom.symbol}", atom.symbol)) if m.world.may_be_false(atom) else m.space.true
    return m.space.false if atom is MISSING else m.space.true


def _list_truth(m: Machine, atom: ListValue) -> Guard:
    out = m.space.false
    for guard, items in alternatives(m, atom.content):
        out = out | (guard & (m.holds(items) if isinstance(items, Unknown) else _const(m, bool(items))))
    return out


def _const(m: Machine, yes: bool) -> Guard:
    return m.space.true if yes else m.space.false


def _entries_truth(m: Machine, atom: DictValue | SetValue) -> Guard:
    out = m.space.false
    for _, value in atom.entries.values():
        for guard, item in alternatives(m, value):
            if item is not MISSING:
                out = out | guard
    for guard, item in alternatives(m, atom.other):
        if item is not MISSING:
            out = out | (guard & m.holds(m.unknown("a key written under an unknown name")))
    return out


def _instance_truth(m: Machine, atom: Instance) -> Guard:
    for name in ("__bool__", "__len__"):
        method = attributes.class_attribute(m, atom.cls, name)
        if method is not MISSING:
            from .calls import call

            return truth(m, call(m, attributes.bind(m, method, atom), (), {}, None))
    if atom.payload is not MISSING:
        return atom_truth(m, atom.payload)
    return m.space.true
