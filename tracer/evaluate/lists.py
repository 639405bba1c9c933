"""Lists: one content per path, a tuple of Values or an unknown, replaced as a whole by every change."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .atoms import describe
from .hashing import same_item
from .machine import Dead
from .slices import SliceValue, as_index
from .unions import each, each2, store
from .values import ListValue, Unknown, Value

if TYPE_CHECKING:
    from ..guards import Guard
    from ..tree import Node
    from .machine import Machine

Items = tuple[Value, ...]


def change(m: Machine, target: ListValue, run: Callable[[Items], tuple[Items | Unknown, Value]]) -> Value:
    """Replace the content by the first part of `run(items)`; gives the second."""

    def apply(items: Value) -> Value:
        if isinstance(items, Unknown):
            m.may_raise(f"{items.label} is too short", "IndexError")
            new: Value = m.unknown(items.label)
            out: Value = m.unknown(f"an element of {items.label}")
        else:
            new, out = run(items)
        m.touch(target, "content")
        target.content = store(m, target.content, new, target.born)
        return out

    return each(m, target.content, apply)


def append(m: Machine, target: ListValue, item: Value) -> None:
    """`target.append(item)` on the current path."""
    change(m, target, lambda items: ((*items, item), None))


def extend(m: Machine, target: ListValue, more: Value, node: Node | None) -> None:
    from .containers import items_of

    added = items_of(m, more, node)
    each(
        m,
        added,
        lambda a: change(m, target, lambda items: (a if isinstance(a, Unknown) else (*items, *a), None)),
    )


def smear(m: Machine, target: ListValue, label: str) -> None:
    """What is in the list is no longer known on the current path."""
    m.touch(target, "content")
    target.content = store(m, target.content, m.unknown(label), target.born)


def put(m: Machine, target: ListValue, key: Value, value: Value, node: Node | None) -> None:
    """`target[key] = value` for an index or a slice."""
    at = as_index(m, key)
    if isinstance(at, SliceValue):
        _put_slice(m, target, at, value, node)
    elif isinstance(at, Unknown):
        m.may_raise(f"{describe(at)} is no index of {describe(target)}", "IndexError")
        smear(m, target, "a list written at an unknown index")
    else:
        change(m, target, lambda items: _with_item(m, items, at, value))


def _with_item(m: Machine, items: Items, at: int, value: Value) -> tuple[Items, Value]:
    if not -len(items) <= at < len(items):
        m.fail("IndexError", "list assignment index out of range")
    where = at % len(items)
    return (*items[:where], value, *items[where + 1 :]), None


def _put_slice(m: Machine, target: ListValue, at: SliceValue, value: Value, node: Node | None) -> None:
    from .containers import items_of

    def put_items(items: Items, new: Value) -> tuple[Items | Unknown, Value]:
        if isinstance(new, Unknown):
            return m.unknown("a list with unknown elements"), None
        changed = list(items)
        try:
            changed[at.value] = new
        except ValueError as error:
            m.fail("ValueError", str(error))
        return tuple(changed), None

    added = items_of(m, value, node)
    each(m, added, lambda new: change(m, target, lambda items: put_items(items, new)))


def delete(m: Machine, target: ListValue, key: Value, node: Node | None) -> None:
    """`del target[key]` for an index or a slice."""
    at = as_index(m, key)

    def without(items: Items) -> tuple[Items, Value]:
        left = list(items)
        try:
            del left[at.value if isinstance(at, SliceValue) else at]
        except IndexError:
            m.fail("IndexError", "list assignment index out of range")
        return tuple(left), None

    if isinstance(at, Unknown):
        m.may_raise(f"{describe(at)} is no index of {describe(target)}", "IndexError")
        smear(m, target, "a list shortened at an unknown index")
    else:
        change(m, target, without)


def item(m: Machine, target: ListValue, key: Value, node: Node | None) -> Value:
    """`target[key]`."""

    def pick(items: Value) -> Value:
        if isinstance(items, Unknown):
            m.may_raise(f"{items.label} is too short", "IndexError")
            return m.unknown(f"{items.label}[{describe(key)}]", node)
        picked = sequence_item(m, items, key, "list", node)
        return ListValue(picked, m.live) if isinstance(key, SliceValue) else picked

    return each(m, target.content, pick)


def sequence_item(m: Machine, items: Items, key: Value, kind: str, node: Node | None) -> Value:
    """`items[key]` of a list's or tuple's elements."""
    at = as_index(m, key)
    if isinstance(at, SliceValue):
        return items[at.value]
    if isinstance(at, Unknown):
        m.may_raise(f"{describe(at)} is no index of a {kind} of {len(items)}", "IndexError")
        return m.unknown(f"one of the {len(items)} elements of a {kind}", node)
    if not -len(items) <= at < len(items):
        m.fail("IndexError", f"{kind} index out of range")
    return items[at]


def joined(m: Machine, left: ListValue, right: ListValue) -> ListValue:
    """`left + right`."""
    return ListValue(each2(m, left.content, right.content, _joined), m.live)


def _joined(p: Value, q: Value) -> Value:
    return p if isinstance(p, Unknown) else q if isinstance(q, Unknown) else (*p, *q)


def repeated(m: Machine, target: ListValue, times: int) -> ListValue:
    """`target * times`."""

    def repeat(items: Value) -> Value:
        if isinstance(items, Unknown) or len(items) * times > 10_000:
            return m.unknown(f"{describe(target)} * {times}")
        return items * times

    return ListValue(each(m, target.content, repeat), m.live)


def search(m: Machine, items: Items, wanted: Value) -> list[tuple[int, Guard]]:
    """(place, where it is the first that equals `wanted`); live stays where comparing did not raise."""
    out: list[tuple[int, Guard]] = []
    found = m.space.false
    for at, element in enumerate(items):
        try:
            hit = same_item(m, element, wanted)
        except Dead:
            break
        hit = m.live & hit
        if not hit.is_false:
            out.append((at, hit))
            found = found | hit
        m.live = m.live & ~hit
        if m.live.is_false:
            break
    m.live = m.live | found
    if m.live.is_false:
        raise Dead
    return out
