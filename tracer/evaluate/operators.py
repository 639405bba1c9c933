"""Operators and formatting over single atoms."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...report.predicate import Compare, Predicate
from . import attributes
from .hashing import equal, hash_key
from .unions import each, join
from .values import (
    CONSTANTS,
    MISSING,
    Bound,
    ClassValue,
    DictValue,
    Function,
    Instance,
    ListValue,
    Native,
    NativeClass,
    Opaque,
    SetValue,
    Token,
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
ORDER: dict[str, tuple[Callable[[Any, Any], Any], str, str]] = {
    "<": (operator.lt, "__lt__", "__gt__"),
    "<=": (operator.le, "__le__", "__ge__"),
    ">": (operator.gt, "__gt__", "__lt__"),
    ">=": (operator.ge, "__ge__", "__le__"),
}
NEUTRAL = {("%", 1), ("//", 1), ("*", 1), ("+", 0), ("-", 0)}
"""Operations on a whole number that leave it as it is, or leave nothing of it."""
NEGATED = {"!=": "==", "is not": "is", "not in": "in"}
UNARY: dict[str, tuple[Callable[[Any], Any], str]] = {
    "-": (operator.neg, "__neg__"),
    "+": (operator.pos, "__pos__"),
    "~": (operator.invert, "__invert__"),
}
BIG = 1 << 4096


def plain(atom: Value) -> Value:
    """The Python constant behind an atom: itself, or a str/int enum member's payload."""
    if isinstance(atom, Instance) and atom.payload is not MISSING:
        return atom.payload
    return atom


def constant(atom: Value) -> bool:
    """Whether Python can compute with `atom` directly: a constant, or a tuple of such."""
    if isinstance(atom, tuple):
        return all(map(constant, atom))
    return isinstance(atom, CONSTANTS)


def describe(atom: Value) -> str:
    """An atom in a few words, for labels and conditions."""
    if isinstance(atom, Unknown):
        return atom.label
    if isinstance(atom, tuple):
        return f"({', '.join(map(describe, atom))})"
    if isinstance(atom, Instance):
        return describe(atom.payload) if atom.payload is not MISSING else f"<{atom.cls.name}>"
    if isinstance(atom, ClassValue | NativeClass):
        return atom.name
    if isinstance(atom, Function | Native | Opaque | Token):
        return atom.symbol
    if isinstance(atom, Bound):
        return describe(atom.func)
    if isinstance(atom, ListValue | DictValue | SetValue):
        return f"<{type(atom).__name__.removesuffix('Value').lower()}>"
    return repr(atom) if isinstance(atom, CONSTANTS) else "<values>"


def unary(m: Machine, op: str, atom: Value, node: Node | None) -> Value:
    run, method = UNARY[op]
    value = plain(atom)
    if isinstance(value, bool | int | float):
        return run(value)
    own = _own(m, atom, method)
    if own is not None:
        return own(())
    return m.unknown(f"{op}{describe(atom)}", node, _number(atom))


def _own(m: Machine, atom: Value, name: str) -> Callable[[tuple[Value, ...]], Value] | None:
    if not isinstance(atom, Instance):
        return None
    method = attributes.class_attribute(m, atom.cls, name)
    if method is MISSING:
        return None
    from .calls import call

    return lambda args: call(m, attributes.bind(m, method, atom), args, {}, None)


def _number(*atoms: Value) -> str | None:
    """`int` when the result of arithmetic on `atoms` is certainly one."""
    kinds = {a.kind if isinstance(a, Unknown) else type(a).__name__ for a in atoms}
    return "int" if kinds <= {"int", "bool"} else "tensor" if "tensor" in kinds else None


def binary(m: Machine, op: str, a: Value, b: Value, node: Node | None) -> Value:
    """`a op b`."""
    run, name = BINARY[op]
    for atom, other, method in ((a, b, f"__{name}__"), (b, a, f"__r{name}__")):
        own = _own(m, atom, method)
        if own is not None:
            return own((other,))
    x, y = plain(a), plain(b)
    special = SPECIAL.get((op, type(x)))
    if special is not None and (result := special(m, x, y, node)) is not None:
        return result
    if isinstance(x, CONSTANTS) and isinstance(y, CONSTANTS):
        return _compute(m, op, run, x, y, node)
    if op == "|" and isinstance(a, ClassValue | NativeClass | Opaque | Native) or isinstance(b, ClassValue | NativeClass):
        return m.unknown(f"{describe(a)} | {describe(b)}", node)
    kind = _number(a, b) if op != "/" else None
    if kind == "int":
        return _whole_number(m, op, a, b, node)
    return m.unknown(f"{_wrap(a)} {op} {_wrap(b)}", node, kind)


def _whole_number(m: Machine, op: str, a: Value, b: Value, node: Node | None) -> Value:
    """Arithmetic on whole numbers that are not all known: the same term is the same value."""
    if isinstance(plain(b), int) and (op, plain(b)) in NEUTRAL:
        return 0 if op == "%" else a
    if op in ("+", "*") and plain(a) == (0 if op == "+" else 1) and not isinstance(a, Unknown):
        return b
    return Unknown(f"({term(a)[0]} {op} {term(b)[0]})", f"{_wrap(a)} {op} {_wrap(b)}", m.site(node), "int")


def _wrap(atom: Value) -> str:
    text = describe(atom)
    return f"({text})" if " " in text and isinstance(atom, Unknown) else text


def _compute(m: Machine, op: str, run: Callable[[Any, Any], Any], x: Any, y: Any, node: Node | None) -> Value:
    if op in ("**", "<<") and isinstance(y, int) and (abs(y) > 4096 or (isinstance(x, int) and abs(x) > BIG)):
        return m.unknown(f"{x} {op} {y}", node, "int")
    if op == "*" and any(isinstance(v, int) and v > 1_000_000 for v in (x, y)) and any(
        isinstance(v, str | bytes) for v in (x, y)
    ):
        return m.unknown(f"{op} of a text", node, "str")
    try:
        return run(x, y)
    except (TypeError, ValueError, ZeroDivisionError, OverflowError) as error:
        raise m.throw(m.world.exception(m, type(error).__name__, str(error))) from None


def _tuple_add(m: Machine, x: Any, y: Any, node: Node | None) -> Value:
    return (*x, *y) if isinstance(y, tuple) else None


def _tuple_mul(m: Machine, x: Any, y: Any, node: Node | None) -> Value:
    return x * y if isinstance(y, int) and len(x) * y <= 10_000 else None


def _list_add(m: Machine, x: Any, y: Any, node: Node | None) -> Value:
    if not isinstance(y, ListValue):
        return None
    return ListValue(
        each(m, x.content, lambda p: each(m, y.content, lambda q: _joined(p, q))),
        m.live,
    )


def _joined(p: Value, q: Value) -> Value:
    return p if isinstance(p, Unknown) else q if isinstance(q, Unknown) else (*p, *q)


def _list_mul(m: Machine, x: Any, y: Any, node: Node | None) -> Value:
    if not isinstance(y, int):
        return None
    return ListValue(each(m, x.content, lambda p: p if isinstance(p, Unknown) or len(p) * y > 10_000 else p * y), m.live)


def _str_mod(m: Machine, x: Any, y: Any, node: Node | None) -> Value:
    if constant(y):
        return None if isinstance(y, CONSTANTS) else x % y
    return m.unknown(f"{x!r} % {describe(y)}", node, "str")


def _dict_or(m: Machine, x: Any, y: Any, node: Node | None) -> Value:
    from .containers import copy_dict, update

    if not isinstance(y, DictValue):
        return None
    out = copy_dict(m, x)
    update(m, out, y, node)
    return out


def _set_op(keep: Callable[[bool, bool], bool]) -> Callable[..., Value]:
    def run(m: Machine, x: Any, y: Any, node: Node | None) -> Value:
        from .containers import combine_sets

        return combine_sets(m, x, y, keep) if isinstance(y, SetValue) else None

    return run


SPECIAL: dict[tuple[str, type], Callable[..., Value]] = {
    ("+", tuple): _tuple_add,
    ("*", tuple): _tuple_mul,
    ("+", ListValue): _list_add,
    ("*", ListValue): _list_mul,
    ("%", str): _str_mod,
    ("|", DictValue): _dict_or,
    ("|", SetValue): _set_op(lambda a, b: a or b),
    ("&", SetValue): _set_op(lambda a, b: a and b),
    ("-", SetValue): _set_op(lambda a, b: a and not b),
    ("^", SetValue): _set_op(lambda a, b: a != b),
}


def compare(m: Machine, op: str, a: Value, b: Value, node: Node | None) -> Value:
    """`a op b` as True, False or both under their guards."""
    if op in NEGATED:
        value = compare(m, NEGATED[op], a, b, node)
        return each(m, value, lambda v: not v if isinstance(v, bool) else m.unknown(f"not {describe(v)}", node, "bool"))
    if op == "is":
        return _as_value(m, identical(m, a, b, node))
    if op == "==":
        return _as_value(m, equal(m, a, b, node))
    if op == "in":
        from .containers import contains

        return contains(m, b, a, node)
    return _order(m, op, a, b, node)


def _as_value(m: Machine, guard: Any) -> Value:
    yes = m.live & guard
    if yes is m.live:
        return True
    return False if yes.is_false else join(m, [(yes, True), (m.live & ~guard, False)])


def identical(m: Machine, a: Value, b: Value, node: Node | None) -> Any:
    """The guard that `a is b`."""
    if isinstance(a, Unknown) or isinstance(b, Unknown):
        if a is b or (isinstance(a, Unknown) and isinstance(b, Unknown) and a.key == b.key):
            return m.space.true
        if (a is None and b.kind is not None) or (b is None and a.kind is not None):
            return m.space.false  # whatever it is, it is of a class of its own
        return condition(m, "is", a, b)
    if isinstance(a, Token) and isinstance(b, Token):
        return m.space.true if a.symbol == b.symbol else m.space.false
    if isinstance(a, Opaque) and isinstance(b, Opaque):
        return m.space.true if a.symbol == b.symbol else condition(m, "is", a, b)
    if isinstance(a, CONSTANTS) and isinstance(b, CONSTANTS):
        return m.space.true if a is b or (type(a) is type(b) and a == b) else m.space.false
    return m.space.true if a is b else m.space.false


def condition(m: Machine, op: str, a: Value, b: Value) -> Any:
    """A boolean variable for a comparison that source cannot decide."""
    left, right = term(a), term(b)
    if op in ("==", "is") and right[0] < left[0]:
        left, right = right, left
    if op == "==" and isinstance(b, Unknown) and not isinstance(a, Unknown):
        left, right = term(b), term(a)
    predicate: Predicate = Compare(left[1], op, right[1])
    return m.atom(f"{left[0]} {op} {right[0]}", predicate)


def term(atom: Value) -> tuple[str, str]:
    """(what tells the atom apart, how people read it)."""
    if isinstance(atom, Unknown):
        return atom.key, atom.label
    text = describe(atom)
    if isinstance(atom, CONSTANTS):
        return f"{type(atom).__name__}:{text}", text
    if isinstance(atom, Token | Opaque | NativeClass | ClassValue | Function | Native):
        return text, text
    if isinstance(atom, tuple) and constant(atom):
        return text, text
    return f"{text}@{id(atom)}", text


def _order(m: Machine, op: str, a: Value, b: Value, node: Node | None) -> Value:
    run, method, swapped = ORDER[op]
    for atom, other, name in ((a, b, method), (b, a, swapped)):
        own = _own(m, atom, name)
        if own is not None:
            return own((other,))
    x, y = plain(a), plain(b)
    if constant(x) and constant(y):
        try:
            return bool(run(x, y))
        except TypeError as error:
            raise m.throw(m.world.exception(m, "TypeError", str(error))) from None
    if isinstance(x, tuple) and isinstance(y, tuple):
        return m.unknown(f"{describe(a)} {op} {describe(b)}", node, "bool")
    return _as_value(m, _ordered(m, op, a, b))


def _ordered(m: Machine, op: str, a: Value, b: Value) -> Any:
    """`a >= b` and `a < b` are one variable when both sides are certainly whole numbers."""
    if _number(a, b) == "int" and op in ("<", ">"):
        return ~condition(m, ">=" if op == "<" else "<=", a, b)
    return condition(m, op, a, b)


def make_slice(m: Machine, a: Value, b: Value, c: Value, node: Node | None) -> Value:
    parts = tuple(map(plain, (a, b, c)))
    if all(p is None or isinstance(p, int) for p in parts):
        return SliceValue(parts)
    return m.unknown("a slice", node)


class SliceValue:
    """A slice with known ends."""

    __slots__ = ("value",)

    def __init__(self, parts: tuple[int | None, int | None, int | None]) -> None:
        self.value = slice(*parts)


def format_value(m: Machine, atom: Value, conversion: str, spec: Value, node: Node | None) -> Value:
    """`{atom!conversion:spec}` of an f-string."""
    from .texts import text_of

    value = text_of(m, atom, "r" if conversion in ("r", "a") else "s", node) if not spec or conversion else plain(atom)
    if spec and isinstance(value, CONSTANTS) and isinstance(spec, str):
        try:
            return format(value, spec)
        except (TypeError, ValueError) as error:
            raise m.throw(m.world.exception(m, type(error).__name__, str(error))) from None
    return value if not spec else m.unknown(f"{{{describe(atom)}:{describe(spec)}}}", node, "str")


__all__ = ["binary", "compare", "describe", "format_value", "hash_key", "unary"]
