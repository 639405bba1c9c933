"""Comparisons: True, False, or both under the conditions that decide."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...report.predicate import Compare, Predicate
from .atoms import constant, describe, is_positive, is_tensor, number_kind, plain
from .hashing import equal
from .operators import ask, computed
from .sets import set_like, subset
from .typenames import type_name
from .unions import each, join
from .values import (
    CONSTANTS,
    MISSING,
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
    from ..guards import Guard
    from ..tree import Node
    from .machine import Machine

ORDER: dict[str, tuple[Callable[[Any, Any], Any], str, str]] = {
    "<": (operator.lt, "__lt__", "__gt__"),
    "<=": (operator.le, "__le__", "__ge__"),
    ">": (operator.gt, "__gt__", "__lt__"),
    ">=": (operator.ge, "__ge__", "__le__"),
}
MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
ABOVE = {"==": False, "<": False, "<=": False, ">": True, ">=": True}
"""What a comparison comes to whose left side is above its right."""
NEGATED = {"is not": "is", "not in": "in"}


def compare(m: Machine, op: str, a: Value, b: Value, node: Node | None) -> Value:
    """`a op b` as True, False or both under their guards."""
    if op in NEGATED:
        return negated(m, compare(m, NEGATED[op], a, b, node), node)
    if op == "is":
        return as_value(m, identical(m, a, b, node))
    if op != "in" and _by_element(a, b):
        return m.world.models.compared(m, op, a, b)
    if op == "==":
        return as_value(m, equal(m, a, b, node))
    if op == "!=":
        return ask(m, [(a, "__ne__", b)], lambda: negated(m, as_value(m, equal(m, a, b, node)), node))
    if op == "in":
        from .membership import contains

        return contains(m, b, a, node)
    return order(m, op, a, b, node)


def _by_element(a: Value, b: Value) -> bool:
    """Whether comparing gives a tensor: of a tensor with another, a number or what may be either."""
    return any(map(is_tensor, (a, b))) and all(
        is_tensor(v) or isinstance(v, int | float | Unknown) for v in (a, b)
    )


def negated(m: Machine, value: Value, node: Node | None) -> Value:
    return each(
        m, value, lambda v: not v if isinstance(v, bool) else m.unknown(f"not {describe(v)}", node, "bool")
    )


def as_value(m: Machine, guard: Guard) -> Value:
    """True where `guard` holds on the current path, False elsewhere."""
    yes = m.live & guard
    if yes is m.live:
        return True
    return False if yes.is_false else join(m, [(yes, True), (m.live & ~guard, False)], m.live)


def identical(m: Machine, a: Value, b: Value, node: Node | None) -> Guard:
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


def condition(m: Machine, op: str, a: Value, b: Value) -> Guard:
    """A boolean variable for a comparison that source cannot decide, unless the sign does."""
    for op_read, x, y in ((op, a, b), (MIRRORED.get(op, op), b, a)):
        if is_positive(x) and isinstance(number := plain(y), int) and number <= 0 and op_read in ABOVE:
            return m.space.true if ABOVE[op_read] else m.space.false
    left, right = term(m, a), term(m, b)
    if op in ("==", "is") and right[0] < left[0]:
        left, right = right, left
    if op == "==" and isinstance(b, Unknown) and not isinstance(a, Unknown):
        left, right = term(m, b), term(m, a)
    predicate: Predicate = Compare(left[1], op, right[1])
    key = f"{left[0]} {op} {right[0]}"
    if op != "is" and any(isinstance(atom, ListValue | DictValue | SetValue) for atom in (a, b)):
        key = m.unknown(key).key  # what it holds may change, and then the answer
    return m.atom(key, predicate)


def term(m: Machine, atom: Value) -> tuple[str, str]:
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
    return f"{text}@{m.tag(atom)}", text


def order(m: Machine, op: str, a: Value, b: Value, node: Node | None) -> Value:
    """`a op b` for `<`, `<=`, `>`, `>=`."""
    if isinstance(a, Instance) or isinstance(b, Instance):
        _, method, swapped = ORDER[op]
        return ask(m, [(a, method, b), (b, swapped, a)], lambda: _plainly(m, op, a, b, node))
    return _plainly(m, op, a, b, node)


def _plainly(m: Machine, op: str, a: Value, b: Value, node: Node | None) -> Value:
    a, b = set_like(m, a), set_like(m, b)
    x, y = plain(a), plain(b)
    if constant(x) and constant(y):
        return computed(m, lambda: bool(ORDER[op][0](x, y)))
    if isinstance(x, tuple) and isinstance(y, tuple):
        return _lexical(m, op, x, y, node)
    if isinstance(x, ListValue) and isinstance(y, ListValue):
        return each(m, x.content, lambda p: each(m, y.content, lambda q: _plainly(m, op, p, q, node)))
    if isinstance(x, SetValue) and isinstance(y, SetValue):
        return _subsets(m, op, x, y)
    fields = _by_fields(m, op, a, b, node)
    if fields is not MISSING:
        return fields
    if any(isinstance(v, Unknown | Opaque | Token) for v in (x, y)) or _open(m, a) or _open(m, b):
        _may_refuse(m, op, a, b)
        return as_value(m, _ordered(m, op, a, b))
    return _refuse(m, op, a, b)


def _refuse(m: Machine, op: str, a: Value, b: Value) -> Value:
    names = " and ".join(f"'{v.kind if isinstance(v, Unknown) else type_name(v)}'" for v in (a, b))
    return m.fail("TypeError", f"'{op}' not supported between instances of {names}")


def _may_refuse(m: Machine, op: str, a: Value, b: Value) -> None:
    """TypeError where the kinds of an unknown and another value do not go together, or perhaps do not."""
    kinds = {_kind(a), _kind(b)}
    if kinds <= {"int", "bool", "float"} or kinds == {"str"} or "tensor" in kinds:
        return
    if None not in kinds:
        _refuse(m, op, a, b)
    m.may_raise(f"{describe(a)} {op} {describe(b)} raises", "TypeError")


def _kind(atom: Value) -> str | None:
    """The name of the atom's type; None where that is not known."""
    if isinstance(atom, Unknown):
        return atom.kind
    return None if isinstance(atom, Opaque | Token | Instance) else type_name(atom)


def _open(m: Machine, atom: Value) -> bool:
    return isinstance(atom, Instance) and m.world.is_open(atom.cls)


def _lexical(m: Machine, op: str, x: tuple[Value, ...], y: tuple[Value, ...], node: Node | None) -> Value:
    """The first elements that differ decide, else the lengths."""
    if not x or not y:
        return bool(ORDER[op][0](len(x), len(y)))
    same = equal(m, x[0], y[0], node)
    return m.branch(
        same,
        lambda: _lexical(m, op, x[1:], y[1:], node),
        lambda: each(m, x[0], lambda p: each(m, y[0], lambda q: order(m, op, p, q, node))),
    )


def _subsets(m: Machine, op: str, x: SetValue, y: SetValue) -> Value:
    small, large = (x, y) if op in ("<", "<=") else (y, x)
    holds = subset(m, small, large)
    return as_value(m, holds if op in ("<=", ">=") else holds & ~subset(m, large, small))


def _by_fields(m: Machine, op: str, a: Value, b: Value, node: Node | None) -> Value:
    """A dataclass with `order=True` compares as the tuple of its fields."""
    from .fields import fields_of

    if not isinstance(a, Instance) or not isinstance(b, Instance) or a.cls is not b.cls:
        return MISSING
    if not any("order" in base.flags for base in a.cls.mro if isinstance(base, ClassValue)):
        return MISSING
    names = [f.name for f in fields_of(m, a.cls) if f.compare]
    x, y = (tuple(o.attrs.get(n, MISSING) for n in names) for o in (a, b))
    return _lexical(m, op, x, y, node)


def _ordered(m: Machine, op: str, a: Value, b: Value) -> Guard:
    """`a >= b` and `a < b` are one variable when both sides are certainly whole numbers."""
    if number_kind(a, b) == "int" and op in ("<", ">"):
        return ~condition(m, ">=" if op == "<" else "<=", a, b)
    return condition(m, op, a, b)
