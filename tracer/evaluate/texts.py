"""`str()`, `repr()`, `format()` and messages of evaluated values."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from . import inheritance
from .atoms import describe, plain
from .entries import elements_of, keys_of, look_up
from .operators import computed
from .unions import each, each2
from .values import (
    CONSTANTS,
    MISSING,
    ClassValue,
    DictValue,
    DictView,
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
    if isinstance(atom, range):
        return repr(atom)
    if isinstance(atom, Unknown) and atom.kind == "str" and style == "s":
        return atom
    if isinstance(atom, Token):
        return atom.symbol
    if isinstance(atom, ClassValue | NativeClass):
        return f"<class '{atom.symbol.removeprefix('builtins.')}'>"
    if isinstance(atom, Instance):
        return _instance(m, atom, style, node)
    if isinstance(atom, DictView):
        shown = f"dict_{atom.kind}(["
        return each(
            m, elements_of(m, atom), lambda items: _listing(m, items, shown, "])", node, single=False)
        )
    if isinstance(atom, tuple | ListValue | SetValue | DictValue):
        return _container(m, atom, node)
    return m.unknown(
        f"<function {atom.symbol}>" if isinstance(atom, Function) else f"str({describe(atom)})", node, "str"
    )


def repr_of(m: Machine, value: Value, node: Node | None = None) -> Value:
    """`repr(value)` of a value that may be Guarded."""
    return each(m, value, lambda atom: text_of(m, atom, "r", node))


def _instance(m: Machine, atom: Instance, style: str, node: Node | None) -> Value:
    from .calls import call_value

    for name in ("__str__", "__repr__") if style == "s" else ("__repr__",):
        method = inheritance.class_attribute(m, atom.cls, name)
        if method is not MISSING:
            return call_value(m, inheritance.bind(m, method, atom), (), {}, node)
    flags: set[str] = getattr(atom.cls, "flags", set())
    if "enum" in flags:
        return _enum(m, atom, style, node)
    if "namedtuple" in flags or any(
        "dataclass" in b.flags for b in atom.cls.mro if isinstance(b, ClassValue)
    ):
        return _fields(m, atom, node)
    if atom.payload is not MISSING:
        return text_of(m, atom.payload, style, node)
    return m.unknown(describe(atom), node, "str")


def _enum(m: Machine, atom: Instance, style: str, node: Node | None) -> Value:
    name, value = atom.attrs["name"], atom.attrs["value"]
    if style == "r":
        return each(m, repr_of(m, value, node), lambda text: _enum_repr(m, atom, name, text))
    plain_text = any(b.symbol in ("enum.StrEnum", "enum.IntEnum", "enum.IntFlag") for b in atom.cls.mro)
    return text_of(m, value, "s", node) if plain_text else f"{atom.cls.name}.{name}"


def _enum_repr(m: Machine, atom: Instance, name: Value, text: Value) -> Value:
    shown = text if isinstance(text, str) else f"{{{describe(text)}}}"
    return f"<{atom.cls.name}.{name}: {shown}>"


def message(m: Machine, exc: Instance) -> Value:
    """The text of an exception."""
    args = exc.attrs.get("args", ())
    if not isinstance(args, tuple):
        return m.unknown("the text of an exception", kind="str") if args is not None else ""
    if not args:
        return ""
    if len(args) == 1:
        style = "r" if any(b.symbol == "builtins.KeyError" for b in exc.cls.mro) else "s"
        return each(m, args[0], lambda a: text_of(m, a, style))
    return text_of(m, args, "r")


def exception_repr(m: Machine, exc: Instance, node: Node | None = None) -> Value:
    """The text of an exception for those who debug: its class with its arguments."""
    args = exc.attrs.get("args", ())
    items = args if isinstance(args, tuple) else ()
    return _listing(m, items, f"{exc.cls.name}(", ")", node, single=False)


def _fields(m: Machine, atom: Instance, node: Node | None) -> Value:
    from .fields import fields_of

    out: Value = f"{atom.cls.name}("
    shown = [f.name for f in fields_of(m, atom.cls) if f.repr] if isinstance(atom.cls, ClassValue) else []
    for at, name in enumerate(shown):
        out = _plus(m, out, f"{', ' if at else ''}{name}=", node)
        out = _plus(m, out, repr_of(m, atom.attrs.get(name, MISSING), node), node)
    return _plus(m, out, ")", node)


def _container(m: Machine, atom: Value, node: Node | None) -> Value:
    from .containers import items_of

    if isinstance(atom, DictValue):
        return each(m, keys_of(m, atom), lambda keys: _mapping(m, atom, keys, node))
    items = items_of(m, atom, node)
    if isinstance(atom, SetValue):
        return each(m, items, lambda found: _set(m, atom, found, node))
    left, right = ("(", ")") if isinstance(atom, tuple) else ("[", "]")
    return each(m, items, lambda found: _listing(m, found, left, right, node, single=right == ")"))


def _set(m: Machine, atom: SetValue, items: Value, node: Node | None) -> Value:
    """The order in which a set of several elements shows them is not known."""
    name = "frozenset" if atom.frozen else "set"
    if isinstance(items, Unknown) or len(items) > 1:
        m.coverage.unsupported("the text of a set", m.site(node))
        return m.unknown(f"a {name}", node, "str")
    if not items:
        return f"{name}()"
    left, right = (f"{name}({{", "})") if atom.frozen else ("{", "}")
    return _listing(m, items, left, right, node, single=False)


def _listing(m: Machine, items: Value, left: str, right: str, node: Node | None, single: bool) -> Value:
    if isinstance(items, Unknown):
        return m.unknown(f"{left}{items.label}{right}", node, "str")
    out: Value = left
    for at, item in enumerate(items):
        out = _plus(m, out, ", " if at else "", node)
        out = _plus(m, out, repr_of(m, item, node), node)
    return _plus(m, out, f",{right}" if single and len(items) == 1 else right, node)


def _mapping(m: Machine, atom: DictValue, keys: Value, node: Node | None) -> Value:

    if isinstance(keys, Unknown):
        return m.unknown("a dict", node, "str")
    out: Value = "{"
    for at, key in enumerate(keys):
        out = _plus(m, out, ", " if at else "", node)
        out = _plus(m, out, repr_of(m, key, node), node)
        out = _plus(m, out, ": ", node)
        out = _plus(m, out, repr_of(m, look_up(m, atom, key, node), node), node)
    return _plus(m, out, "}", node)


def _plus(m: Machine, a: Value, b: Value, node: Node | None) -> Value:
    return each2(m, a, b, lambda x, y: joined_text(m, plain(x), plain(y), node))


def joined_text(m: Machine, a: Value, b: Value, node: Node | None) -> Value:
    if isinstance(a, str) and isinstance(b, str):
        return a + b
    return m.unknown(f"{_shown(a)}{_shown(b)}", node, "str")


def _shown(value: Value) -> str:
    """A part of a text; a part that is itself joined of known and unknown ones has its braces already."""
    if isinstance(value, str):
        return value
    label = describe(value)
    joined = isinstance(value, Unknown) and value.kind == "str" and "{" in label
    return label if joined else f"{{{label}}}"


# --- formatting


def format_value(m: Machine, atom: Value, conversion: str, spec: Value, node: Node | None) -> Value:
    """`{atom!conversion:spec}` of an f-string."""
    if conversion or not spec:
        value = text_of(m, atom, "r" if conversion in ("r", "a") else "s", node)
    else:
        value = _formattable(m, atom, node)
    if not spec:
        return value
    return each(m, value, lambda v: _formatted(m, v, spec, node))


def _formattable(m: Machine, atom: Value, node: Node | None) -> Value:
    """What `format()` with a specification sees: the number or text behind an object, else its text."""
    if isinstance(atom, Instance):
        mixed = any(b.symbol in ("enum.StrEnum", "enum.IntEnum", "enum.IntFlag") for b in atom.cls.mro)
        return atom.payload if mixed else text_of(m, atom, "s", node)
    return atom


def _formatted(m: Machine, value: Value, spec: Value, node: Node | None) -> Value:
    if isinstance(value, CONSTANTS) and isinstance(spec, str):
        return computed(m, lambda: format(value, spec))
    return m.unknown(f"{{{describe(value)}:{describe(spec)}}}", node, "str")


def percent(m: Machine, text: str, value: Value, node: Node | None) -> Value:
    """`text % value`."""
    return _as_python(m, value, lambda given: _percent(m, text, given, value, node))


def _percent(m: Machine, text: str, given: Value, value: Value, node: Node | None) -> Value:
    if _all_python(given):
        return computed(m, lambda: text % given)
    return m.unknown(f"{text!r} % {describe(value)}", node, "str")


def _all_python(value: Value) -> bool:
    return (
        all(map(_all_python, value)) if isinstance(value, tuple) else isinstance(value, (*CONSTANTS, Shown))
    )


class Shown:
    """An object of the engine as Python's own formatting sees it: it has a text and a repr."""

    def __init__(self, text: str, shown: str) -> None:
        self.text, self.shown = text, shown

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.shown

    def __format__(self, spec: str) -> str:
        return format(self.text, spec)


def _as_python(m: Machine, value: Value, run: Callable[[Value], Value]) -> Value:
    """`run` on what Python can format: constants as they are, objects by their texts."""
    if isinstance(value, tuple):
        return _tuple_as_python(m, value, (), run)
    return each(m, value, lambda atom: _atom_as_python(m, atom, run))


def _tuple_as_python(
    m: Machine, left: tuple[Value, ...], done: tuple[Value, ...], run: Callable[[Value], Value]
) -> Value:
    if not left:
        return run(done)
    return _as_python(m, left[0], lambda first: _tuple_as_python(m, left[1:], (*done, first), run))


def _atom_as_python(m: Machine, atom: Value, run: Callable[[Value], Value]) -> Value:
    if isinstance(atom, tuple):
        return _as_python(m, atom, run)
    if isinstance(atom, (*CONSTANTS, Unknown, Shown)):
        return run(atom)
    if isinstance(atom, Instance) and isinstance(atom.payload, int | float):
        return run(atom.payload)
    text, shown = text_of(m, atom, "s"), text_of(m, atom, "r")
    return each2(
        m, text, shown, lambda t, r: run(Shown(t, r) if isinstance(t, str) and isinstance(r, str) else t)
    )


def formatted_with(m: Machine, text: str, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """`text.format(*args, **kwargs)`."""
    names = list(kwargs)

    def run(given: Value) -> Value:
        values = dict(zip(names, given[len(args) :], strict=True))
        if _all_python(given):
            return computed(m, lambda: text.format(*given[: len(args)], **values))
        return m.unknown(f"{text!r}.format(...)", kind="str")

    if re.search(r"{[^}:!]*[.\[]", text):
        return m.unknown(f"{text!r}.format(...)", kind="str")
    return _as_python(m, (*args, *kwargs.values()), run)
