"""Methods of lists, and those that tuples share with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..evaluate import containers, lists
from ..evaluate.atoms import describe
from ..evaluate.hashing import same_item
from ..evaluate.slices import as_index
from ..evaluate.unions import each, join, settle, store
from ..evaluate.values import ListValue, Unknown, Value
from .folding import in_order
from .native import Args, Kwargs, MethodTable

if TYPE_CHECKING:
    from ..evaluate.machine import Machine
    from ..guards import Guard

method = MethodTable()


@method(ListValue, "append")
def _append(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    m.record.noted(args[0], args[1], None)
    lists.append(m, args[0], args[1])


@method(ListValue, "extend")
def _extend(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    lists.extend(m, args[0], args[1], None)


@method(ListValue, "insert")
def _insert(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    def insert(at: Value) -> Value:
        if isinstance(at, Unknown):
            lists.smear(m, args[0], "a list changed at an unknown place")
            return None
        return lists.change(m, args[0], lambda items: ((*items[:at], args[2], *items[at:]), None))

    return each(m, args[1], lambda at: insert(as_index(m, at)))


@method(ListValue, "pop")
def _pop(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return each(m, args[1] if len(args) > 1 else -1, lambda at: _pop_at(m, args[0], as_index(m, at)))


def _pop_at(m: Machine, target: ListValue, at: Value) -> Value:
    if isinstance(at, Unknown):
        m.may_raise(f"{describe(at)} is no index of {describe(target)}", "IndexError")
        lists.smear(m, target, "a list shortened at an unknown place")
        return m.unknown(f"{describe(target)}.pop()")

    def take(items: Args) -> tuple[Args, Value]:
        if not -len(items) <= at < len(items):
            m.fail("IndexError", "pop index out of range" if items else "pop from empty list")
        where = at % len(items)
        return (*items[:where], *items[where + 1 :]), items[where]

    return lists.change(m, target, take)


@method(ListValue, "remove")
def _remove(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    def at(items: Value) -> Value:
        if isinstance(items, Unknown):
            m.may_raise(f"{items.label} does not hold it", "ValueError")
            lists.smear(m, args[0], items.label)
            return None
        found = lists.search(m, items, args[1])
        rest = m.live
        for place, hit in found:
            m.live = hit
            rest = rest & ~hit
            lists.delete(m, args[0], place, None)
        return _or_fail(m, rest, [(hit, None) for _, hit in found], "list.remove(x): x not in list")

    return each(m, settle(m, args[0].content), at)


def _or_fail(m: Machine, rest: Guard, found: list[tuple[Guard, Value]], message: str) -> Value:
    """The value found; ValueError on the paths in `rest`."""
    m.live = rest
    for hit, _ in found:
        m.live = m.live | hit
    return m.branch(rest, lambda: m.fail("ValueError", message), lambda: join(m, found))


@method(ListValue, "clear")
def _clear(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    m.touch(args[0], "content")
    args[0].content = store(m, args[0].content, (), args[0].born)


@method(ListValue, "reverse")
def _reverse(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return lists.change(m, args[0], lambda items: (tuple(reversed(items)), None))


@method(ListValue, "sort")
def _sort(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    ordered = each(m, args[0].content, lambda items: in_order(m, items, kwargs))
    m.touch(args[0], "content")
    args[0].content = store(m, args[0].content, ordered, args[0].born)


@method(ListValue, "copy")
def _copy(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return ListValue(settle(m, args[0].content), m.live)


@method(tuple, "index")
@method(ListValue, "index")
def _index(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    def find(items: Value) -> Value:
        if isinstance(items, Unknown):
            return m.unknown(f"{items.label}.index()", kind="int")
        found = lists.search(m, items, args[1])
        rest = m.live
        for _, hit in found:
            rest = rest & ~hit
        return _or_fail(m, rest, [(hit, at) for at, hit in found], "value is not in list")

    return each(m, containers.items_of(m, args[0], None), find)


@method(tuple, "count")
@method(ListValue, "count")
def _count(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    def count(items: Value) -> Value:
        if isinstance(items, Unknown):
            return m.unknown(f"{items.label}.count()", kind="int")
        total: Value = 0
        for item in items:
            hit = same_item(m, item, args[1])
            total = join(m, [(m.live & hit, _plus(m, total, 1)), (m.live & ~hit, total)])
        return total

    return each(m, containers.items_of(m, args[0], None), count)


def _plus(m: Machine, total: Value, more: int) -> Value:
    return each(m, total, lambda n: n + more)
