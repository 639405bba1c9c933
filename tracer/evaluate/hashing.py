"""Equality and hashing of atoms, as Python would decide them where it can be told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import attributes
from .unions import alternatives, cover, settle
from .values import (
    CONSTANTS,
    MISSING,
    ClassValue,
    DictValue,
    Guarded,
    Instance,
    ListValue,
    Opaque,
    SetValue,
    Token,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from ..guards import Guard
    from ..tree import Node
    from .machine import Machine


def equal(m: Machine, a: Value, b: Value, node: Node | None = None) -> Guard:
    """The guard that `a == b`; both may be Guarded."""
    out, entry = m.space.false, m.live
    for ga, x in alternatives(m, a):
        for gb, y in alternatives(m, b):
            both = ga & gb
            if not both.is_false:
                m.live = both
                out = out | (both & _atoms_equal(m, x, y, node))
    m.live = entry
    return out


def _atoms_equal(m: Machine, a: Value, b: Value, node: Node | None) -> Guard:
    from .operators import condition, plain

    if a is b and not isinstance(a, float):
        return m.space.true
    if isinstance(a, Unknown) or isinstance(b, Unknown):
        if isinstance(a, Unknown) and isinstance(b, Unknown) and a.key == b.key:
            return m.space.true
        return condition(m, "==", a, b)
    own = _own_equality(m, a, b) if isinstance(a, Instance) else None
    if own is None and isinstance(b, Instance):
        own = _own_equality(m, b, a)
    if own is not None:
        return own
    x, y = plain(a), plain(b)
    if isinstance(x, CONSTANTS) and isinstance(y, CONSTANTS):
        return m.space.true if x == y else m.space.false
    for kind, compare in ((tuple, _tuples), (ListValue, _lists), (DictValue, _entries), (SetValue, _entries)):
        if isinstance(x, kind) and isinstance(y, kind):
            return compare(m, x, y)
    if isinstance(a, Token) and isinstance(b, Token):
        return m.space.true if a.symbol == b.symbol else m.space.false
    if isinstance(a, Opaque) or isinstance(b, Opaque):
        if isinstance(a, Opaque) and isinstance(b, Opaque) and a.symbol == b.symbol:
            return m.space.true
        return condition(m, "==", a, b)
    return m.space.false


def _own_equality(m: Machine, a: Instance, b: Value) -> Guard | None:
    """A dataclass compares by its fields, a class with `__eq__` by that."""
    from .calls import call
    from .classes import fields_of
    from .truth import truth

    method = attributes.class_attribute(m, a.cls, "__eq__")
    if method is not MISSING:
        return truth(m, call(m, attributes.bind(m, method, a), (b,), {}, None))
    if isinstance(a.cls, ClassValue) and "dataclass" in a.cls.flags and "no eq" not in a.cls.flags:
        if not isinstance(b, Instance) or b.cls is not a.cls:
            return m.space.false
        out = m.space.true
        for field in fields_of(m, a.cls):
            out = out & equal(m, a.attrs.get(field.name, MISSING), b.attrs.get(field.name, MISSING))
        return out
    return None


def _tuples(m: Machine, x: tuple[Value, ...], y: tuple[Value, ...]) -> Guard:
    if len(x) != len(y):
        return m.space.false
    out = m.space.true
    for p, q in zip(x, y, strict=True):
        out = out & equal(m, p, q)
    return out


def _lists(m: Machine, x: ListValue, y: ListValue) -> Guard:
    return equal(m, x.content, y.content)


def _entries(m: Machine, x: Any, y: Any) -> Guard:
    if x.other is not MISSING or y.other is not MISSING:
        return m.holds(m.unknown("two collections with unknown keys are equal"))
    out = m.space.true
    for key in {**x.entries, **y.entries}:
        p = x.entries.get(key, (None, MISSING))[1]
        q = y.entries.get(key, (None, MISSING))[1]
        here, there = cover(m, p), cover(m, q)
        out = out & ((here & there & equal(m, p, q)) | (~here & ~there))
    return out


def hash_key(m: Machine, atom: Value) -> Any:
    """What tells a dict key from others, or None when that is not known."""
    from .classes import fields_of
    from .operators import plain

    value = plain(atom)
    if isinstance(value, CONSTANTS):
        return ("constant", value)
    if isinstance(value, tuple):
        return _keys(m, "tuple", value)
    if isinstance(atom, Token):
        return ("token", atom.symbol)
    if isinstance(atom, Instance) and isinstance(atom.cls, ClassValue) and "hash by fields" in atom.cls.flags:
        values = tuple(atom.attrs.get(f.name, MISSING) for f in fields_of(m, atom.cls))
        return _keys(m, id(atom.cls), values)
    if isinstance(atom, Unknown) or isinstance(atom, Guarded):
        return None
    return ("object", id(atom))


def _keys(m: Machine, kind: Any, values: tuple[Value, ...]) -> Any:
    parts = tuple(hash_key(m, settle(m, v)) for v in values)
    return None if None in parts else (kind, parts)
