"""What Python calls the type of an atom."""

from __future__ import annotations

from .values import (
    Bound,
    ClassValue,
    Descriptor,
    DictValue,
    DictView,
    Function,
    Instance,
    IteratorValue,
    ListValue,
    Manager,
    ModuleValue,
    Native,
    NativeClass,
    Partial,
    SetValue,
    Value,
    Wrapper,
)

NAMES: dict[type, str] = {
    ListValue: "list",
    DictValue: "dict",
    Function: "function",
    Native: "builtin_function_or_method",
    Bound: "method",
    Wrapper: "function",
    IteratorValue: "generator",
    Manager: "_GeneratorContextManager",
    Partial: "partial",
    Descriptor: "property",
    ModuleValue: "module",
    ClassValue: "type",
    NativeClass: "type",
}


def type_name(atom: Value) -> str:
    """`type(atom).__name__`."""
    if isinstance(atom, Instance):
        return str(atom.cls.name)
    if isinstance(atom, SetValue):
        return "frozenset" if atom.frozen else "set"
    if isinstance(atom, DictView):
        return f"dict_{atom.kind}"
    return NAMES.get(type(atom), type(atom).__name__)


def owner_name(atom: Value) -> str:
    """How an AttributeError names what has no such attribute."""
    if isinstance(atom, ClassValue | NativeClass):
        return f"type object '{atom.name}'"
    if isinstance(atom, ModuleValue):
        return f"module '{atom.name}'"
    if isinstance(atom, Instance):
        return f"'{atom.cls.name}' object"
    return f"'{type_name(atom)}' object"
