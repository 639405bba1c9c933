"""Operators over single atoms: what an object's own methods say first, then what Python computes."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from . import inheritance
from .atoms import describe, is_open, is_positive, number_kind, plain
from .dicts import copy_dict, update
from .lists import joined, repeated
from .sets import combine, set_like
from .typenames import type_name
from .unions import each
from .values import (
    CONSTANTS,
    MISSING,
    ClassValue,
    DictValue,
    Instance,
    ListValue,
    Native,
    NativeClass,
    Opaque,
    SetValue,
    UnionType,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from ..tree import Node
    from .machine import Machine

BINARY: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "+": (operator.add, "add"),
    "-": (operator.sub, "sub"),
    "*": (operator.mul, "mul"),
    "/": (operator.truediv, "truediv"),
    "//": (operator.floordiv, "floordiv"),
    "%": (operator.mod, "mod"),
    "**": (operator.pow, "pow"),
    "&": (operator.and_, "and"),
    "|": (operator.or_, "or"),
    "^": (operator.xor, "xor"),
    "<<": (operator.lshift, "lshift"),
    ">>": (operator.rshift, "rshift"),
    "@": (operator.matmul, "matmul"),
}
OPERATOR_NAMES = {"**": "** or pow()"}
"""How Python names an operator in its errors, where that is not as it is written."""
NEUTRAL = {("%", 1), ("//", 1), ("*", 1), ("+", 0), ("-", 0)}
"""Operations on a whole number that leave it as it is, or leave nothing of it."""
ALIKE = {"-": 0, "%": 0, "//": 1}
"""What operations on a whole number and itself leave, where they do not divide by zero."""
UNARY: dict[str, tuple[Callable[[Any], Any], str]] = {
    "-": (operator.neg, "__neg__"),
    "+": (operator.pos, "__pos__"),
    "~": (operator.invert, "__invert__"),
}
BIG = 1 << 4096
LONG = 10_000
"""Elements that a multiplied list or tuple may have."""


def own_method(m: Machine, atom: Value, name: str) -> Value:
    """A special method of an object, bound; MISSING where its class has none."""
    if not isinstance(atom, Instance):
        return MISSING
    method = inheritance.class_attribute(m, atom.cls, name)
    return MISSING if method is MISSING else inheritance.bind(m, method, atom)


def declined(value: Value) -> bool:
    """Whether a special method answered `NotImplemented`."""
    return isinstance(value, Opaque) and value.symbol == "NotImplemented"


def ask(m: Machine, tries: list[tuple[Value, str, Value]], otherwise: Callable[[], Value]) -> Value:
    """The first answer of `atom.name(other)` that is not `NotImplemented`, else `otherwise`."""
    from .calls import call_value

    for at, (atom, name, other) in enumerate(tries):
        method = own_method(m, atom, name)
        if method is not MISSING:
            answer = call_value(m, method, (other,), {}, None)
            return each(m, answer, partial(_or_next, m, tries[at + 1 :], otherwise))
    return otherwise()


def _or_next(
    m: Machine, rest: list[tuple[Value, str, Value]], otherwise: Callable[[], Value], answer: Value
) -> Value:
    return ask(m, rest, otherwise) if declined(answer) else answer


def unary(m: Machine, op: str, atom: Value, node: Node | None) -> Value:
    """`op atom`."""
    from .calls import call_value

    run, name = UNARY[op]
    method = own_method(m, atom, name)
    if method is not MISSING:
        return call_value(m, method, (), {}, node)
    value = plain(atom)
    if isinstance(value, CONSTANTS):
        return computed(m, lambda: run(value))
    if not is_open(m, atom):
        return m.fail("TypeError", f"bad operand type for unary {op}: '{type_name(atom)}'")
    return m.unknown(f"{op}{describe(atom)}", node, number_kind(atom))


def in_place(m: Machine, op: str, a: Value, b: Value, node: Node | None) -> Value:
    """`a op= b` of an object: its own method for that, else `a op b`."""
    return ask(m, [(a, f"__i{BINARY[op][1]}__", b)], lambda: binary(m, op, a, b, node))


def binary(m: Machine, op: str, a: Value, b: Value, node: Node | None) -> Value:
    """`a op b`."""
    if isinstance(a, Instance) or isinstance(b, Instance):
        name = BINARY[op][1]
        tries = [(a, f"__{name}__", b), (b, f"__r{name}__", a)]
        if isinstance(a, Instance) and isinstance(b, Instance) and b.cls is not a.cls and a.cls in b.cls.mro:
            tries.reverse()
        return ask(m, tries, lambda: _plainly(m, op, a, b, node))
    return _plainly(m, op, a, b, node)


def _plainly(m: Machine, op: str, a: Value, b: Value, node: Node | None) -> Value:
    a, b = set_like(m, a), set_like(m, b)
    x, y = plain(a), plain(b)
    special = SPECIAL.get((op, type(x))) or (SPECIAL.get((op, type(y))) if op == "*" else None)
    if special is not None and (result := special(m, a, b, node)) is not None:
        return result
    if isinstance(x, CONSTANTS) and isinstance(y, CONSTANTS):
        return _compute(m, op, x, y, node)
    if op == "|" and any(map(_is_type, (a, b))):
        return union_of(a, b)
    if not (is_open(m, a) or is_open(m, b)):
        names = f"'{type_name(a)}' and '{type_name(b)}'"
        return m.fail("TypeError", f"unsupported operand type(s) for {OPERATOR_NAMES.get(op, op)}: {names}")
    _may_fail(m, op, a, b)
    kind = number_kind(a, b) if op not in ("/", "**") else None
    if kind == "int":
        return _whole_number(m, op, a, b, node)
    return m.unknown(f"{_wrap(a)} {op} {_wrap(b)}", node, kind)


def _is_type(atom: Value) -> bool:
    """Whether an operand of `|` makes a union of types of it."""
    if isinstance(atom, Instance):
        return str(atom.cls.symbol).startswith("typing.")
    return isinstance(atom, ClassValue | NativeClass | Opaque | Native | UnionType)


def union_of(a: Value, b: Value) -> UnionType:
    """`a | b` of types, `None` standing for its own."""
    parts = tuple(p for v in (a, b) for p in (v.parts if isinstance(v, UnionType) else (v,)))
    return UnionType(" | ".join(map(describe, parts)), parts)


def _may_fail(m: Machine, op: str, a: Value, b: Value) -> None:
    """What an operation on unknowns may raise: it divides by zero, or its operands do not go together."""
    y = plain(b)
    if op in ("//", "%", "/"):
        if y == 0 and isinstance(y, int | float) and number_kind(a) == "int":
            m.fail("ZeroDivisionError", "division by zero")
        if isinstance(b, Unknown) and b.kind in ("int", None):
            m.may_raise(f"{describe(b)} == 0", "ZeroDivisionError")
    kinds = {v.kind if isinstance(v, Unknown) else type(plain(v)).__name__ for v in (a, b)}
    if "tensor" not in kinds and not kinds <= {"int", "bool"} and not (kinds == {"str"} and op == "+"):
        m.may_raise(f"{_wrap(a)} {op} {_wrap(b)} raises", "TypeError")


def _whole_number(m: Machine, op: str, a: Value, b: Value, node: Node | None) -> Value:
    """Arithmetic on whole numbers that are not all known: the same term is the same value."""
    from .comparing import term

    if isinstance(plain(b), int) and (op, plain(b)) in NEUTRAL:
        return 0 if op == "%" else a
    if isinstance(a, Unknown) and isinstance(b, Unknown) and a.key == b.key and op in ALIKE:
        return ALIKE[op]
    if op in ("+", "*") and plain(a) == (0 if op == "+" else 1) and not isinstance(a, Unknown):
        return b
    key, label = f"({term(m, a)[0]} {op} {term(m, b)[0]})", f"{_wrap(a)} {op} {_wrap(b)}"
    above = op in ("+", "*") and all(map(is_positive, (a, b)))
    return Unknown(key, label, m.site(node), "int", above)


def _wrap(atom: Value) -> str:
    text = describe(atom)
    return f"({text})" if " " in text and isinstance(atom, Unknown) else text


def _compute(m: Machine, op: str, x: Any, y: Any, node: Node | None) -> Value:
    if op in ("**", "<<") and isinstance(y, int) and (abs(y) > 4096 or (isinstance(x, int) and abs(x) > BIG)):
        return m.unknown(f"{x} {op} {y}", node, "int")
    if op == "*" and _is_long(x, y):
        return m.unknown(f"{op} of a text", node, "str")
    return computed(m, lambda: BINARY[op][0](x, y))


def _is_long(x: Any, y: Any) -> bool:
    return any(isinstance(v, int) and v > 1_000_000 for v in (x, y)) and any(
        isinstance(v, str | bytes) for v in (x, y)
    )


def computed(m: Machine, run: Callable[[], Any]) -> Value:
    """What Python itself computes; what it raises is raised on the current path."""
    try:
        return run()
    except (TypeError, ValueError, ArithmeticError, LookupError, AttributeError) as error:
        kind = next(c.__name__ for c in type(error).__mro__ if c.__module__ == "builtins")
        return m.fail(kind, error.args[0] if isinstance(error, KeyError) else str(error))


def _tuple_add(m: Machine, a: Value, b: Value, node: Node | None) -> Value:
    y = plain(b)
    return (*plain(a), *y) if isinstance(y, tuple) else None


def _multiply(m: Machine, a: Value, b: Value, node: Node | None) -> Value:
    x, y = plain(a), plain(b)
    if isinstance(x, int):
        x, y = y, x
    if not isinstance(y, int):
        return None
    if isinstance(x, ListValue):
        return repeated(m, x, y)
    return x * y if len(x) * y <= LONG else m.unknown(f"{describe(x)} * {y}", node)


def _list_add(m: Machine, a: Value, b: Value, node: Node | None) -> Value:
    y = plain(b)
    return joined(m, plain(a), y) if isinstance(y, ListValue) else None


def _str_mod(m: Machine, a: Value, b: Value, node: Node | None) -> Value:
    from .texts import percent

    return percent(m, plain(a), b, node)


def _dict_or(m: Machine, a: Value, b: Value, node: Node | None) -> Value:
    y = plain(b)
    if not isinstance(y, DictValue):
        return None
    out = copy_dict(m, plain(a))
    update(m, out, y, node)
    return out


def _set_op(keep: Callable[[bool, bool], bool]) -> Callable[..., Value]:
    def run(m: Machine, a: Value, b: Value, node: Node | None) -> Value:
        return combine(m, a, b, keep) if isinstance(b, SetValue) else None

    return run


SPECIAL: dict[tuple[str, type], Callable[..., Value]] = {
    ("+", tuple): _tuple_add,
    ("*", tuple): _multiply,
    ("+", ListValue): _list_add,
    ("*", ListValue): _multiply,
    ("%", str): _str_mod,
    ("|", DictValue): _dict_or,
    ("|", SetValue): _set_op(lambda a, b: a or b),
    ("&", SetValue): _set_op(lambda a, b: a and b),
    ("-", SetValue): _set_op(lambda a, b: a and not b),
    ("^", SetValue): _set_op(lambda a, b: a != b),
}
