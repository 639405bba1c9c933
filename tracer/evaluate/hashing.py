"""Equality and hashing of atoms, as Python would decide them where it can be told."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import inheritance
from .atoms import plain
from .unions import cover, each, settle
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

NOT_IMPLEMENTED = "NotImplemented"


def equal(m: Machine, a: Value, b: Value, node: Node | None = None) -> Guard:
    """The guard that `a == b`; both may be Guarded. Paths on which comparing raises are no longer live."""
    return m.decide(a, lambda x: m.decide(b, lambda y: _atoms_equal(m, x, y, node)))


def same_item(m: Machine, a: Value, b: Value, node: Node | None = None) -> Guard:
    """The guard that `a is b or a == b`, which is what containers ask."""
    if a is b:
        return m.space.true
    return equal(m, a, b, node)


def _atoms_equal(m: Machine, a: Value, b: Value, node: Node | None) -> Guard:
    if a is b and not isinstance(a, float | Instance):
        return m.space.true
    if a is MISSING or b is MISSING:
        return m.space.false
    if isinstance(a, Unknown) or isinstance(b, Unknown):
        same = isinstance(a, Unknown) and isinstance(b, Unknown) and a.key == b.key
        return m.space.true if same else _open(m, a, b)
    if isinstance(a, Instance) or isinstance(b, Instance):
        return _asked(m, a, b, node)
    return _plainly_equal(m, a, b)


def _open(m: Machine, a: Value, b: Value) -> Guard:
    """Where `a == b`, which source does not tell."""
    from .comparing import condition

    return condition(m, "==", a, b)


def _asked(m: Machine, a: Value, b: Value, node: Node | None) -> Guard:
    """`a.__eq__(b)`, then `b.__eq__(a)`, then whether they are one object."""
    answer = _own_equality(m, a, b)
    if answer is MISSING:
        answer = _own_equality(m, b, a)
    if answer is MISSING:
        return m.space.true if a is b else _plainly_equal(m, a, b)
    from .truth import truth

    return m.decide(answer, lambda v: _turned(m, a, b) if _is_not_implemented(v) else truth(m, v))


def _is_not_implemented(value: Value) -> bool:
    return isinstance(value, Opaque) and value.symbol == NOT_IMPLEMENTED


def _turned(m: Machine, a: Value, b: Value) -> Guard:
    """After `a` declined."""
    from .truth import truth

    answer = _own_equality(m, b, a)
    identical = m.space.true if a is b else m.space.false
    if answer is MISSING:
        return identical
    return m.decide(answer, lambda v: identical if _is_not_implemented(v) else truth(m, v))


def _own_equality(m: Machine, a: Value, b: Value) -> Value:
    """What `a.__eq__(b)` gives, MISSING where its class has none: a dataclass compares by its fields."""
    from .calls import call_value

    if not isinstance(a, Instance):
        return MISSING
    method = inheritance.class_attribute(m, a.cls, "__eq__")
    if method is not MISSING:
        return call_value(m, inheritance.bind(m, method, a), (b,), {}, None)
    if by_fields(a.cls):
        return _fields_equal(m, a, b)
    return MISSING


def by_fields(cls: Value) -> bool:
    """Whether a class compares by its fields: the nearest dataclass in its order says."""
    flags = next((b.flags for b in cls.mro if isinstance(b, ClassValue) and "dataclass" in b.flags), set())
    return bool(flags) and "no eq" not in flags


def _fields_equal(m: Machine, a: Instance, b: Value) -> Value:
    from .comparing import as_value
    from .fields import fields_of

    if not isinstance(b, Instance) or b.cls is not a.cls:
        return Opaque(NOT_IMPLEMENTED)
    out = m.space.true
    for field in fields_of(m, a.cls):
        if field.compare:
            left, right = a.attrs.get(field.name, MISSING), b.attrs.get(field.name, MISSING)
            out = out & same_item(m, left, right)
    return as_value(m, out)


def _plainly_equal(m: Machine, a: Value, b: Value) -> Guard:
    x, y = plain(a), plain(b)
    if isinstance(x, CONSTANTS) and isinstance(y, CONSTANTS):
        return m.space.true if x == y else m.space.false
    return _contained_equal(m, a, b)


def _contained_equal(m: Machine, a: Value, b: Value) -> Guard:
    from .sets import set_like

    x, y = plain(set_like(m, a)), plain(set_like(m, b))
    if isinstance(x, tuple) and isinstance(y, tuple):
        return _tuples(m, x, y)
    if isinstance(x, ListValue) and isinstance(y, ListValue):
        return m.decide(x.content, lambda p: m.decide(y.content, lambda q: _contents(m, p, q)))
    if (isinstance(x, DictValue) and isinstance(y, DictValue)) or (
        isinstance(x, SetValue) and isinstance(y, SetValue)
    ):
        return _entries(m, x, y)
    if isinstance(a, Token) and isinstance(b, Token):
        return m.space.true if a.symbol == b.symbol else m.space.false
    if isinstance(a, Opaque) or isinstance(b, Opaque):
        same = isinstance(a, Opaque) and isinstance(b, Opaque) and a.symbol == b.symbol
        return m.space.true if same else _open(m, a, b)
    return m.space.true if a is b or (isinstance(x, range) and x == y) else m.space.false


def _contents(m: Machine, p: Value, q: Value) -> Guard:
    return _tuples(m, p, q) if isinstance(p, tuple) and isinstance(q, tuple) else _atoms_equal(m, p, q, None)


def _tuples(m: Machine, x: tuple[Value, ...], y: tuple[Value, ...]) -> Guard:
    if len(x) != len(y):
        return m.space.false
    out = m.space.true
    for p, q in zip(x, y, strict=True):
        out = out & same_item(m, p, q)
        if (m.live & out).is_false:
            break
    return out


def _entries(m: Machine, x: DictValue | SetValue, y: DictValue | SetValue) -> Guard:
    if x.other is not MISSING or y.other is not MISSING:
        return m.holds(m.unknown("two collections with unknown keys are equal"))
    out = m.space.true
    for key in {**x.entries, **y.entries}:
        p = x.entries.get(key, (None, MISSING))[1]
        q = y.entries.get(key, (None, MISSING))[1]
        here, there = cover(m, p), cover(m, q)
        out = out & ((here & there & same_item(m, p, q)) | (~here & ~there))
    return out


def hash_key(m: Machine, atom: Value) -> Any:
    """What tells a dict key from others; None when that is not known, or only its own `__eq__` can tell.

    Raises TypeError where Python cannot hash the atom.
    """
    if isinstance(atom, Instance) and isinstance(atom.cls, ClassValue):
        return _instance_key(m, atom)
    value = plain(atom)
    if isinstance(value, CONSTANTS):
        return ("constant", value)
    if isinstance(value, tuple):
        return _keys(m, "tuple", value)
    if isinstance(atom, Token):
        return ("token", atom.symbol)
    if isinstance(atom, Unknown | Guarded):
        return None
    if isinstance(value, ListValue | DictValue) or (isinstance(value, SetValue) and not value.frozen):
        kind = {ListValue: "list", DictValue: "dict", SetValue: "set"}[type(value)]
        raise m.throw(m.world.exception(m, "TypeError", f"unhashable type: '{kind}'"))
    if isinstance(value, SetValue):
        return _frozen_key(m, value)
    return ("object", m.tag(atom))


def _instance_key(m: Machine, atom: Instance) -> Any:
    """The key of an object of the engine: what the nearest class with a `__hash__` or `__eq__` makes of
    it.
    """
    from .fields import fields_of

    for base in atom.cls.mro:
        if not isinstance(base, ClassValue):
            continue
        if inheritance.held_attribute(m, base, "__hash__") is not MISSING:
            return None
        if "hash by fields" in base.flags and "dataclass" in base.flags:
            fields = [f for f in fields_of(m, base) if f.compare]
            return _keys(m, m.tag(atom.cls), tuple(atom.attrs.get(f.name, MISSING) for f in fields))
        if "namedtuple" in base.flags:
            continue  # its `__eq__` is put on a class that is there already, and keeps a tuple's hash
        unhashable = "dataclass" in base.flags and "no eq" not in base.flags
        if unhashable or inheritance.held_attribute(m, base, "__eq__") is not MISSING:
            raise m.throw(m.world.exception(m, "TypeError", f"unhashable type: '{atom.cls.name}'"))
    if atom.payload is MISSING:
        return ("object", m.tag(atom))
    return hash_key(m, atom.payload)


def hashes_itself(m: Machine, atom: Value) -> bool:
    """Whether only the object's own `__eq__` tells it from other keys, its class having a `__hash__`."""
    for base in atom.cls.mro if isinstance(atom, Instance) else ():
        if isinstance(base, ClassValue):
            if inheritance.held_attribute(m, base, "__hash__") is not MISSING:
                return True
            if "hash by fields" in base.flags:
                return False
    return False


def _frozen_key(m: Machine, value: SetValue) -> Any:
    present = [(key, cover(m, there)) for key, (_, there) in value.entries.items()]
    if value.other is not MISSING or not all(c is m.live or c.is_false for _, c in present):
        return None
    return ("frozenset", frozenset(key for key, c in present if c is m.live))


def _keys(m: Machine, kind: Any, values: tuple[Value, ...]) -> Any:
    parts = tuple(hash_key(m, settle(m, v)) for v in values)
    return None if None in parts else (kind, parts)


def atoms_of_key(m: Machine, key: Value, run: Callable[[Value], Value]) -> Value:
    """`run(atom)` for every atom of a key; on each path what a tuple or an object is hashed by is one atom
    too.
    """

    def one(atom: Value) -> Value:
        if isinstance(atom, tuple):
            return _elements(m, atom, (), run)
        if isinstance(atom, Instance) and isinstance(atom.payload, tuple):
            return _elements(m, atom.payload, (), lambda _: run(atom))
        if isinstance(atom, Instance) and isinstance(atom.cls, ClassValue) and by_fields(atom.cls):
            return _elements(m, tuple(atom.attrs.values()), (), lambda _: run(atom))
        return run(atom)

    return each(m, key, one)


def _elements(
    m: Machine, left: tuple[Value, ...], done: tuple[Value, ...], run: Callable[[Value], Value]
) -> Value:
    if not left:
        return run(done)
    return atoms_of_key(m, left[0], lambda atom: _elements(m, left[1:], (*done, atom), run))
