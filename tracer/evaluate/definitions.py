"""Attributes of what the engine defines: classes, also through `super()`, functions and modules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import fallbacks
from .inheritance import ask_descriptor, bind, class_attribute
from .unions import each, settle
from .values import (
    MISSING,
    Bound,
    ClassValue,
    Descriptor,
    Function,
    Instance,
    ModuleValue,
    Native,
    Super,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from ..tree import Node
    from .machine import Machine


def of_class(m: Machine, atom: Value, name: str, node: Node | None) -> Value:
    special = _class_special(m, atom, name)
    if special is not MISSING:
        return special
    value = class_attribute(m, atom, name)
    if value is not MISSING:
        return each(m, value, lambda v: MISSING if v is MISSING else _unbind(m, v, atom, name))
    return fallbacks.class_attribute(m, atom, name, node)


def _class_special(m: Machine, atom: Value, name: str) -> Value:
    if name in ("__name__", "__qualname__"):
        return atom.name if name == "__name__" else atom.symbol.removeprefix(f"{_module_of(atom)}.")
    if name == "__module__":
        return _module_of(atom)
    if name in ("__mro__", "__bases__"):
        found, top = (
            (atom.mro, m.world.models.classes["builtins.object"]) if name == "__mro__" else (atom.bases, None)
        )
        return _with_object(m, atom, found, top)
    return MISSING


def _with_object(m: Machine, cls: Value, found: tuple[Value, ...], top: Value) -> tuple[Value, ...]:
    """`object` ends every order, and is the base of what names none."""
    root = m.world.models.classes["builtins.object"]
    if top is None:
        return found or (() if cls is root else (root,))
    return found if found[-1] is root else (*found, root)


def _module_of(atom: Value) -> str:
    return str(atom.module.name) if isinstance(atom, ClassValue) else str(atom.symbol.rpartition(".")[0])


def _unbind(m: Machine, value: Value, cls: Value, name: str) -> Value:
    if isinstance(value, Descriptor) and value.kind in ("classmethod", "staticmethod"):
        return Bound(value.func, cls) if value.kind == "classmethod" else value.func
    if isinstance(value, Instance) and isinstance(value.cls, ClassValue) and isinstance(cls, ClassValue):
        return ask_descriptor(m, value, None, cls)
    if isinstance(value, Native) and name in ("__init_subclass__", "__class_getitem__"):
        return Bound(value, cls)
    return value


def of_super(m: Machine, atom: Super, name: str, node: Node | None) -> Value:
    cls = atom.self_.cls if isinstance(atom.self_, Instance) else atom.self_
    if isinstance(cls, Unknown):  # a method called on what nobody knows, by its class's name
        return fallbacks.unknown_attribute(m, cls, name, node)
    value = class_attribute(m, cls, name, after=atom.owner)
    if value is MISSING:
        return m.world.models.super_attribute(m, atom, name)
    if name == "__new__":
        return value.func if isinstance(value, Descriptor) else value
    return each(
        m,
        value,
        lambda v: m.world.models.super_attribute(m, atom, name) if v is MISSING else bind(m, v, atom.self_),
    )


def of_module(m: Machine, atom: ModuleValue, name: str, node: Node | None) -> Value:
    if name == "__name__":
        return atom.name
    if name == "__dict__":
        return m.unknown(f"{atom.name}.__dict__", node)
    return m.world.module_attribute(m, atom, name)


def of_function(m: Machine, atom: Function, name: str, node: Node | None) -> Value:
    own = settle(m, atom.attrs.get(name, MISSING))
    return each(m, own, lambda v: _unset(m, atom, name, node) if v is MISSING else v)


def _unset(m: Machine, atom: Function, name: str, node: Node | None) -> Value:
    if name in ("__name__", "__qualname__"):
        return atom.symbol.rpartition(".")[2]
    if name == "__module__":
        return atom.module.name
    if name in FUNCTION_ATTRIBUTES or (atom.marked and not name.startswith("__")):
        return m.unknown(f"{atom.symbol}.{name}", node)
    return MISSING


FUNCTION_ATTRIBUTES = frozenset(dir(_module_of))
