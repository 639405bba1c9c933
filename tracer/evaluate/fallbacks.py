"""Attributes and items that no code of the engine defines: of Python's own values and of library objects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import attributes
from .typenames import type_name
from .values import (
    CONSTANTS,
    MISSING,
    Bound,
    ClassValue,
    Function,
    Instance,
    Native,
    NativeClass,
    Opaque,
    Token,
    Value,
    Wrapper,
)

if TYPE_CHECKING:
    from ..tree import Node
    from .machine import Machine


def native_attribute(m: Machine, atom: Value, name: str, node: Node | None) -> Value:
    """An attribute of a Python constant or container."""
    models = m.world.models
    method = models.method(type(atom), name)
    if method is not None:
        return Bound(method, atom)
    if name == "__class__":
        return models.type_of(m, atom)
    if isinstance(atom, int | float) and name in ("real", "imag", "numerator", "denominator"):
        return getattr(atom, name, MISSING)
    if isinstance(atom, Token):
        return models.token_attribute(m, atom, name)
    if isinstance(atom, Native):
        return m.world.library(m, f"{atom.symbol}.{name}", node)
    return MISSING


def instance_attribute(m: Machine, atom: Instance, name: str, node: Node | None) -> Value:
    """An attribute that neither the object nor its classes have: payload methods, tensor attributes."""
    if atom.payload is not MISSING:
        found = attributes.find(m, atom.payload, name, node)
        if found is not MISSING:
            return found
    return m.world.models.instance_attribute(m, atom, name, node)


def class_attribute(m: Machine, cls: Value, name: str, node: Node | None) -> Value:
    """An attribute of a class that no class in its order has."""
    if isinstance(cls, NativeClass) and cls.symbol not in m.world.models.table:
        return m.world.library(m, f"{cls.symbol}.{name}", node)
    return m.world.models.class_attribute(m, cls, name)


def iterate_class(m: Machine, cls: ClassValue, node: Node | None) -> Value:
    """The elements of a class: the members of an enum."""
    from .enums import members
    from .operators import describe

    if "enum" in cls.flags:
        return tuple(members(m, cls))
    return m.unknown(f"the elements of {describe(cls)}", node)


def subscript(m: Machine, atom: Value, key: Value, node: Node | None) -> Value:
    """`atom[key]` of what is no container: a generic class, an enum by name, a Triton launch."""
    from .calls import call_value
    from .operators import describe

    if isinstance(atom, ClassValue):
        return _class_item(m, atom, key, node)
    if isinstance(atom, NativeClass) and atom.symbol == "typing.Literal":
        return Instance(atom, m.live, key if isinstance(key, tuple) else (key,))
    if isinstance(atom, NativeClass | Native):
        return atom
    if isinstance(atom, Instance):
        method = attributes.class_attribute(m, atom.cls, "__getitem__")
        if method is not MISSING:
            return call_value(m, attributes.bind(m, method, atom), (key,), {}, node)
        if isinstance(atom.cls, ClassValue) and not m.world.is_open(atom.cls):
            return m.fail("TypeError", f"'{atom.cls.name}' object is not subscriptable")
    if isinstance(atom, Function | Wrapper):
        func = atom.func if isinstance(atom, Wrapper) else atom
        return (
            m.world.models.launcher(func) if isinstance(func, Function) else m.unknown(describe(atom), node)
        )
    if isinstance(atom, CONSTANTS):
        return m.fail("TypeError", f"'{type_name(atom)}' object is not subscriptable")
    label = f"{describe(atom)}[{describe(key)}]"
    return m.world.library(m, label, node) if isinstance(atom, Opaque) else m.unknown(label, node)


def _class_item(m: Machine, cls: ClassValue, key: Value, node: Node | None) -> Value:
    from .calls import call_value
    from .enums import by_name

    if "enum" in cls.flags:
        return by_name(m, cls, key)
    hook = attributes.class_attribute(m, cls, "__class_getitem__")
    func = getattr(hook, "func", hook)
    return call_value(m, func, (cls, key), {}, node) if isinstance(func, Function) else cls
