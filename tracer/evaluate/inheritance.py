"""What classes hand down: attributes in order of resolution, and what they are when an object reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .unions import alternatives, cover, each, join, settle
from .values import (
    MISSING,
    Bound,
    ClassValue,
    Descriptor,
    Function,
    Guarded,
    Instance,
    Native,
    Value,
    Wrapper,
)

if TYPE_CHECKING:
    from ..guards import Guard
    from .machine import Machine


def class_attribute(m: Machine, cls: Value, name: str, after: Value = None) -> Value:
    """`name` in the classes of `cls.__mro__` (those behind `after`), unbound; MISSING where none has it."""
    order = cls.mro
    if after is not None:
        order = order[order.index(after) + 1 :] if after in order else ()
    parts: list[tuple[Guard, Value]] = []
    rest = m.live
    for base in order:
        value = own_attribute(m, base, name)
        if value is MISSING:
            continue
        if not parts and not isinstance(value, Guarded):
            return value
        found = [(g & rest, a) for g, a in alternatives(m, value) if a is not MISSING]
        parts += [p for p in found if not p[0].is_false]
        rest = rest & ~cover(m, value)
        if rest.is_false:
            break
    return join(m, [*parts, (rest, MISSING)]) if parts else MISSING


def has(m: Machine, atom: Instance, name: str) -> bool:
    """Whether the classes of an object may have `name`."""
    return class_attribute(m, atom.cls, name) is not MISSING


def own_attribute(m: Machine, cls: Value, name: str) -> Value:
    """`name` in the body of one class, or set on it, as the current path sees it."""
    return settle(m, held_attribute(m, cls, name))


def held_attribute(m: Machine, cls: Value, name: str) -> Value:
    """`name` in the body of one class, or set on it, on every path."""
    if isinstance(cls, ClassValue) and cls.scope is not None and name not in cls.attrs:
        if not cls.scope.defines(name):
            return MISSING
        with m.aside():
            return cls.scope.read(m, name)
    return cls.attrs.get(name, MISSING)


def is_data_descriptor(m: Machine, value: Value) -> bool:
    """Whether a class attribute comes before the object's own attributes: a property, or an object with
    `__set__`.
    """
    if isinstance(value, Descriptor):
        return value.kind == "property"
    return isinstance(value, Instance) and class_attribute(m, value.cls, "__set__") is not MISSING


def bind(m: Machine, value: Value, self_: Value) -> Value:
    """What an attribute found on a class is when it is read from an instance of it."""
    if isinstance(value, Guarded):
        return each(m, value, lambda atom: bind(m, atom, self_))
    if isinstance(value, Function | Native | Wrapper):
        return Bound(value, self_)
    if isinstance(value, Descriptor):
        return _bind_descriptor(m, value, self_)
    if isinstance(value, Instance) and isinstance(value.cls, ClassValue):
        return ask_descriptor(m, value, self_, self_.cls if isinstance(self_, Instance) else self_)
    return value


def _bind_descriptor(m: Machine, value: Descriptor, self_: Value) -> Value:
    from .calls import call_value

    if value.kind in ("property", "cached property"):
        return call_value(m, value.func, (self_,), {}, None)
    if value.kind == "classmethod":
        return Bound(value.func, self_.cls if isinstance(self_, Instance) else self_)
    return value.func


def ask_descriptor(m: Machine, value: Instance, self_: Value, cls: Value) -> Value:
    """An object of the engine as a class attribute: its `__get__`, if it has one, tells the value."""
    getter = class_attribute(m, value.cls, "__get__")
    if getter is MISSING:
        return value
    from .calls import call_value

    return call_value(m, bind(m, getter, value), (self_, cls), {}, None)
