"""`str()`, `repr()` and messages of evaluated values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import attributes
from .operators import describe, plain
from .unions import alternatives, each, each2
from .values import (
    CONSTANTS,
    MISSING,
    ClassValue,
    DictValue,
    Function,
    Instance,
    ListValue,
    NativeClass,
    SetValue,
    Token,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from ..tree import Node
    from .machine import Machine


def text_of(m: Machine, atom: Value, style: str = "s", node: Node | None = None) -> Value:
    """`str(atom)` or, for style `r`, `repr(atom)`; a str, or an unknown one."""
    if isinstance(atom, CONSTANTS):
        return str(atom) if style == "s" else repr(atom)
    if isinstance(atom, Token):
        return atom.symbol
    if isinstance(atom, ClassValue | NativeClass):
        return f"<class '{atom.symbol.removeprefix('builtins.')}'>"
    if isinstance(atom, Function):
        return m.unknown(f"<function {atom.symbol}>", node, "str")
    if isinstance(atom, Instance):
        return _instance(m, atom, style, node)
    if isinstance(atom, tuple | ListValue | SetValue | DictValue):
        return _container(m, atom, node)
    return m.unknown(f"str({describe(atom)})", node, "str")


def _instance(m: Machine, atom: Instance, style: str, node: Node | None) -> Value:
    from .calls import call

    for name in ("__str__", "__repr__") if style == "s" else ("__repr__",):
        method = attributes.class_attribute(m, atom.cls, name)
        if method is not MISSING:
            return call(m, attributes.bind(m, method, atom), (), {}, node)
    flags = getattr(atom.cls, "flags", set())
    if atom.payload is not MISSING and "enum" not in flags and not isinstance(atom.payload, tuple):
        return text_of(m, atom.payload, style, node)
    if "enum" in flags:
        return _enum(m, atom, style, node)
    if _is_exception(atom):
        return message(m, atom)
    if "dataclass" in flags or "namedtuple" in flags:
        return _fields(m, atom, node)
    return m.unknown(describe(atom), node, "str")


def _enum(m: Machine, atom: Instance, style: str, node: Node | None) -> Value:
    name, value = atom.attrs["name"], atom.attrs["value"]
    if style == "r":
        return f"<{atom.cls.name}.{name}: {value!r}>"
    plain_text = any(b.symbol in ("enum.StrEnum", "enum.IntEnum") for b in atom.cls.mro)
    return str(value) if plain_text else f"{atom.cls.name}.{name}"


def _is_exception(atom: Instance) -> bool:
    return any(b.symbol == "builtins.BaseException" for b in atom.cls.mro)


def message(m: Machine, exc: Instance) -> Value:
    """The text of an exception."""
    args = exc.attrs.get("args", ())
    if not isinstance(args, tuple) or not args:
        return ""
    if len(args) == 1:
        return each(m, args[0], lambda a: text_of(m, a, "s"))
    return text_of(m, args, "r")


def _fields(m: Machine, atom: Instance, node: Node | None) -> Value:
    from .classes import fields_of

    out: Value = f"{atom.cls.name}("
    for at, field in enumerate(fields_of(m, atom.cls)) if isinstance(atom.cls, ClassValue) else ():
        out = _plus(m, out, f"{', ' if at else ''}{field.name}=", node)
        out = _plus(m, out, each(m, atom.attrs.get(field.name, MISSING), lambda a: text_of(m, a, "r", node)), node)
    return _plus(m, out, ")", node)


def _container(m: Machine, atom: Value, node: Node | None) -> Value:
    from .containers import items_of

    if isinstance(atom, DictValue):
        return _mapping(m, atom, node)
    left, right = {tuple: ("(", ")"), ListValue: ("[", "]"), SetValue: ("{", "}")}[type(atom)]
    return each(m, items_of(m, atom, node), lambda items: _listing(m, items, left, right, node))


def _listing(m: Machine, items: Value, left: str, right: str, node: Node | None) -> Value:
    if isinstance(items, Unknown):
        return m.unknown(f"{left}{items.label}{right}", node, "str")
    out: Value = left
    for at, item in enumerate(items):
        out = _plus(m, out, ", " if at else "", node)
        out = _plus(m, out, each(m, item, lambda a: text_of(m, a, "r", node)), node)
    return _plus(m, out, ",)" if right == ")" and len(items) == 1 else right, node)


def _mapping(m: Machine, atom: DictValue, node: Node | None) -> Value:
    out: Value = "{"
    for at, (name, value) in enumerate(atom.entries.values()):
        if any(a is MISSING for _, a in alternatives(m, value)) or atom.other is not MISSING:
            return m.unknown("a dict", node, "str")
        out = _plus(m, out, ", " if at else "", node)
        out = _plus(m, out, text_of(m, name, "r", node), node)
        out = _plus(m, out, ": ", node)
        out = _plus(m, out, each(m, value, lambda a: text_of(m, a, "r", node)), node)
    return _plus(m, out, "}", node)


def _plus(m: Machine, a: Value, b: Value, node: Node | None) -> Value:
    def add(x: Value, y: Value) -> Value:
        x, y = plain(x), plain(y)
        if isinstance(x, str) and isinstance(y, str):
            return x + y
        return m.unknown(f"{_shown(x)}{_shown(y)}", node, "str")

    return each2(m, a, b, add)


def _shown(value: Value) -> str:
    return value if isinstance(value, str) else f"{{{describe(value)}}}"
