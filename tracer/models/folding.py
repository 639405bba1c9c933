"""Builtins that make one value of many: len, any, all, sum, min, max, sorted."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..evaluate import containers, inheritance
from ..evaluate.atoms import constant, describe, plain
from ..evaluate.calls import call_value
from ..evaluate.comparing import as_value, compare
from ..evaluate.entries import size_of
from ..evaluate.enums import members
from ..evaluate.loops import some
from ..evaluate.operators import binary
from ..evaluate.truth import truth
from ..evaluate.typenames import type_name
from ..evaluate.unions import WIDEST, alternatives, each, each2, join
from ..evaluate.values import (
    CONSTANTS,
    MISSING,
    ClassValue,
    DictValue,
    DictView,
    Instance,
    ListValue,
    SetValue,
    Unknown,
    Value,
)
from ..evaluate.walking import Taker, walk
from .native import Args, Kwargs, Table, argument

if TYPE_CHECKING:
    from ..evaluate.machine import Machine
    from ..guards import Guard

table = Table()


@table("builtins.len")
def _len(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return each(m, args[0], lambda atom: _len_atom(m, atom))


def _len_atom(m: Machine, atom: Value) -> Value:
    if isinstance(atom, Instance):
        method = inheritance.class_attribute(m, atom.cls, "__len__")
        if method is not MISSING:
            return call_value(m, inheritance.bind(m, method, atom), (), {})
    value = plain(atom)
    if isinstance(value, tuple | str | bytes | range):
        return len(value)
    if isinstance(value, DictValue | SetValue):
        return size_of(m, value)
    if isinstance(value, DictView):
        return size_of(m, value.source)
    if isinstance(value, ListValue):
        return each(
            m,
            value.content,
            lambda i: m.unknown(f"len({i.label})", kind="int") if isinstance(i, Unknown) else len(i),
        )
    if isinstance(value, ClassValue) and "enum" in value.flags:
        return len(members(m, value))
    if isinstance(value, CONSTANTS):
        return m.fail("TypeError", f"object of type '{type_name(value)}' has no len()")
    if isinstance(atom, Unknown):
        return Unknown(f"len({atom.key})", f"len({atom.label})", m.site(None), "int")
    return m.unknown(f"len({describe(atom)})", kind="int")


@table("builtins.any")
def _any(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return _first(m, args[0], stop=True)


@table("builtins.all")
def _all(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return _first(m, args[0], stop=False)


def _first(m: Machine, source: Value, stop: bool) -> Value:
    """`any` stops at the first true element, `all` at the first false one; what comes after is not asked
    for.
    """
    stopped = m.space.false

    def item(value: Value) -> None:
        nonlocal stopped
        holds = truth(m, value)
        hit = m.live & (holds if stop else ~holds)
        stopped = stopped | hit
        m.live = m.live & ~hit

    def rest(items: Unknown) -> None:
        item(m.unknown(f"{'any' if stop else 'all'}({items.label})", kind="bool"))

    walk(m, source, Taker(item, rest), None)
    m.live = m.live | stopped
    if m.live.is_false:
        raise m.kill()
    return as_value(m, stopped if stop else ~stopped)


@table("builtins.sum")
def _sum(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    start = argument(args, kwargs, 1, "start", 0)

    def total(items: Value) -> Value:
        if isinstance(items, Unknown):
            m.may_raise(f"sum({items.label}) raises", "TypeError")
            return m.unknown(f"sum({items.label})")
        out = start
        for item in items:
            out = each2(m, out, item, lambda a, b: binary(m, "+", a, b, None))
        return out

    return each(m, containers.items_of(m, args[0], None), total)


def _extreme(m: Machine, args: Args, kwargs: Kwargs, op: str) -> Value:
    items = containers.items_of(m, args[0], None) if len(args) == 1 else args
    name = "min" if op == "<" else "max"
    return each(m, items, lambda found: _pick(m, found, kwargs, op, name))


def _pick(m: Machine, items: Value, kwargs: Kwargs, op: str, name: str) -> Value:
    if isinstance(items, Unknown):
        if "default" not in kwargs:
            m.may_raise(f"{items.label} is empty", "ValueError")
        _ask_key(m, items, kwargs)
        return m.unknown(f"{name}({items.label})")
    if not items:
        if "default" in kwargs:
            return kwargs["default"]
        return m.fail("ValueError", f"{name}() iterable argument is empty")
    measures = _measured(m, items, kwargs)
    best, measure = items[0], measures[0]
    for item, mine in zip(items[1:], measures[1:], strict=True):
        wins = truth(m, each2(m, mine, measure, lambda a, b: compare(m, op, a, b, None)))
        best, measure = _chosen(m, wins, item, best), _chosen(m, wins, mine, measure)
    return best


def _chosen(m: Machine, wins: Guard, new: Value, old: Value) -> Value:
    yes, no = m.live & wins, m.live & ~wins
    return join(m, [p for p in ((yes, new), (no, old)) if not p[0].is_false])


def _ask_key(m: Machine, items: Unknown, kwargs: Kwargs) -> None:
    """Call `key` as often as there are elements, which nobody knows."""
    key = kwargs.get("key")
    if key is not None:
        some(m, items, lambda item: call_value(m, key, (item,), {}), None)


def _measured(m: Machine, items: Args, kwargs: Kwargs) -> Args:
    """What the elements are compared by."""
    key = kwargs.get("key")
    return items if key is None else tuple(call_value(m, key, (item,), {}) for item in items)


@table("builtins.min")
def _min(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return _extreme(m, args, kwargs, "<")


@table("builtins.max")
def _max(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return _extreme(m, args, kwargs, ">")


@table("builtins.sorted")
def _sorted(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    items = containers.items_of(m, args[0], None)
    return ListValue(each(m, items, lambda found: in_order(m, found, kwargs)), m.live)


def in_order(m: Machine, items: Value, kwargs: Kwargs) -> Value:
    """The elements sorted, a tuple; an unknown where nobody can tell how they compare."""
    if isinstance(items, Unknown):
        _ask_key(m, items, kwargs)
        m.may_raise(f"{items.label} cannot be sorted", "TypeError")
        return m.unknown(f"sorted({items.label})")
    measures = _measured(m, items, kwargs)
    turned = truth(m, kwargs.get("reverse", False))
    ways = 1
    for measure in measures:
        ways *= _ways(m, measure)
    if ways > WIDEST:
        m.coverage.budget(f"more than {WIDEST} orders of a list")
        return m.unknown("sorted()")
    return m.branch(
        turned,
        lambda: _apart(m, measures, (), lambda found: _sort(m, items, found, reverse=True)),
        lambda: _apart(m, measures, (), lambda found: _sort(m, items, found, reverse=False)),
    )


def _ways(m: Machine, value: Value) -> int:
    found = 0
    for _, atom in alternatives(m, value):
        inner = 1
        for part in atom if isinstance(atom, tuple) else ():
            inner *= _ways(m, part)
        found += inner
    return found


def _apart(m: Machine, measures: Args, done: Args, run: Callable[[Value], Value]) -> Value:
    """`run` on every combination of the atoms that the measures can be, inside tuples too."""
    if not measures:
        return run(done)
    return each(
        m, measures[0], lambda atom: _inside(m, atom, lambda a: _apart(m, measures[1:], (*done, a), run))
    )


def _inside(m: Machine, atom: Value, run: Callable[[Value], Value]) -> Value:
    payload = plain(atom)
    if isinstance(payload, tuple):
        return _apart(m, payload, (), run)
    return run(payload if constant(payload) else atom)


def _sort(m: Machine, items: Args, measures: Args, reverse: bool) -> Value:
    if not all(map(constant, measures)):
        return _sort_by_asking(m, items, measures, reverse)
    try:
        order = sorted(range(len(items)), key=lambda at: measures[at], reverse=reverse)
    except TypeError as error:
        return m.fail("TypeError", str(error))
    return tuple(items[at] for at in order)


def _sort_by_asking(m: Machine, items: Args, measures: Args, reverse: bool) -> Value:
    """Insertion by `<` of the elements themselves, where that is decided."""
    order: list[int] = []
    for at in reversed(range(len(items))) if reverse else range(len(items)):
        place = len(order)
        while place:
            less = compare(m, "<", measures[at], measures[order[place - 1]], None)
            if not isinstance(less, bool):
                m.may_raise("elements that cannot be compared", "TypeError")
                m.coverage.unsupported("an order that is not decided", m.site(None))
                return m.unknown("sorted()")
            if not less:
                break
            place -= 1
        order.insert(place, at)
    return tuple(items[at] for at in (reversed(order) if reverse else order))


@table("functools.reduce")
def _reduce(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    def fold(items: Value) -> Value:
        if isinstance(items, Unknown):
            if len(args) < 3:
                m.may_raise(f"{items.label} is empty", "TypeError")
            some(
                m, items, lambda item: call_value(m, args[0], (m.unknown("what was folded"), item), {}), None
            )
            return m.unknown(f"reduce({items.label})")
        left = [*args[2:3], *items]
        if not left:
            return m.fail("TypeError", "reduce() of empty iterable with no initial value")
        out = left[0]
        for item in left[1:]:
            out = call_value(m, args[0], (out, item), {})
        return out

    return each(m, containers.items_of(m, args[1], None), fold)
