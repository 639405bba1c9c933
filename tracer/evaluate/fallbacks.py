"""Attributes and items that no code of the engine defines: of Python's own values and of library objects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import inheritance
from .atoms import describe
from .typenames import type_name
from .unions import each
from .values import (
    CONSTANTS,
    MISSING,
    Bound,
    ClassValue,
    Descriptor,
    DictValue,
    Function,
    Instance,
    Native,
    NativeClass,
    Opaque,
    Partial,
    Token,
    Unknown,
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


def class_attribute(m: Machine, cls: Value, name: str, node: Node | None) -> Value:
    """An attribute of a class that no class in its order has."""
    if isinstance(cls, NativeClass) and cls.symbol not in m.world.models.table:
        return m.world.library(m, f"{cls.symbol}.{name}", node)
    return m.world.models.class_attribute(m, cls, name)


def library_attribute(m: Machine, atom: Opaque, name: str, node: Node | None) -> Value:
    written = m.outside.get((atom.symbol, name), MISSING)
    if written is not MISSING:
        return each(
            m, written, lambda v: m.world.library(m, f"{atom.symbol}.{name}", node) if v is MISSING else v
        )
    return m.world.library(m, f"{atom.symbol}.{name}", node)


def unknown_attribute(m: Machine, atom: Unknown, name: str, node: Node | None) -> Value:
    written = m.outside.get((atom.key, name), MISSING)
    if written is MISSING:
        return _read_unknown(m, atom, name, node)
    return each(m, written, lambda v: _read_unknown(m, atom, name, node) if v is MISSING else v)


def _read_unknown(m: Machine, atom: Unknown, name: str, node: Node | None) -> Value:
    if atom.kind == "tensor":
        found = m.world.models.tensor_attribute(m, atom, name)
        if found is not MISSING:
            return found
    kind = "tensor" if atom.kind == "tensor" and name == "data" else None
    return Unknown(f"{atom.key}.{name}", f"{atom.label}.{name}", atom.site or m.site(node), kind)


def partial_attribute(m: Machine, atom: Partial, name: str, node: Node | None) -> Value:
    parts = {"func": atom.func, "args": atom.args}
    if name == "keywords":
        out = DictValue(m.live)
        for keyword, value in atom.kwargs.items():
            out.entries["constant", keyword] = (keyword, value)
        return out
    return parts.get(name, MISSING)


def property_attribute(m: Machine, atom: Descriptor, name: str, node: Node | None) -> Value:
    if atom.kind == "property" and name in ("setter", "getter", "deleter"):
        return Native(f"property.{name}", lambda m, args, kwargs: _with_setter(atom, name, args[0]))
    return MISSING


def _with_setter(atom: Descriptor, name: str, func: Value) -> Descriptor:
    return Descriptor(
        "property", atom.func if name != "getter" else func, func if name == "setter" else atom.setter
    )


def iterate_class(m: Machine, cls: ClassValue, node: Node | None) -> Value:
    """The elements of a class: the members of an enum."""
    from .enums import members

    if "enum" in cls.flags:
        return tuple(members(m, cls))
    return m.unknown(f"the elements of {describe(cls)}", node)


TRANSPARENT = frozenset({"pydantic.SkipValidation"})
"""Annotations of a library that stand for the type in their brackets."""


def subscript(m: Machine, atom: Value, key: Value, node: Node | None) -> Value:
    """`atom[key]` of what is no container: a generic class, an enum by name, a Triton launch."""
    from .calls import call_value

    if isinstance(atom, ClassValue):
        return _class_item(m, atom, key, node)
    if isinstance(atom, NativeClass) and atom.symbol == "typing.Literal":
        return Instance(atom, m.live, _literals(key))
    if isinstance(atom, NativeClass | Native):
        return atom
    if isinstance(atom, Opaque) and atom.symbol in TRANSPARENT:
        return key
    if isinstance(atom, Instance):
        method = inheritance.class_attribute(m, atom.cls, "__getitem__")
        if method is not MISSING:
            return call_value(m, inheritance.bind(m, method, atom), (key,), {}, node)
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


def _literals(key: Value) -> tuple[Value, ...]:
    """The values of `Literal[...]`; those of a `Literal` inside it are its own."""
    found: list[Value] = []
    for item in key if isinstance(key, tuple) else (key,):
        inner = isinstance(item, Instance) and item.cls.symbol == "typing.Literal"
        found += item.payload if inner else (item,)
    return tuple(dict.fromkeys(found))


def _class_item(m: Machine, cls: ClassValue, key: Value, node: Node | None) -> Value:
    from .calls import call_value
    from .enums import by_name

    if "enum" in cls.flags:
        return by_name(m, cls, key)
    hook = inheritance.class_attribute(m, cls, "__class_getitem__")
    func = getattr(hook, "func", hook)
    return call_value(m, func, (cls, key), {}, node) if isinstance(func, Function) else cls
