"""Iteration: every element of a value in turn, of lists that change on the way and of generators that run
on demand.

A generator is not run ahead: its body runs while it is walked, and each `yield` hands its element to
whoever walks,
in that one's frame. So effects happen in Python's order, and a loop that is left early leaves the rest
undone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import is_
from typing import TYPE_CHECKING, Any

from . import inheritance
from .entries import element_of, keys_of
from .machine import LOOPS, Dead
from .unions import alternatives, each, join, same, settle, store
from .values import (
    MISSING,
    DictValue,
    DictView,
    Instance,
    IteratorValue,
    ListValue,
    SetValue,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from ..guards import Guard
    from ..tree import Node
    from .machine import Machine


class Taker:
    """Who walks: `item` takes an element, `rest` takes that more may come, of which nothing is known.

    Both run on the current path, and may end it: what is live afterwards goes on to the next element.
    """

    __slots__ = ("item", "rest")

    def __init__(self, item: Callable[[Value], None], rest: Callable[[Unknown], None]) -> None:
        self.item, self.rest = item, rest


def walk(m: Machine, value: Value, taker: Taker, node: Node | None) -> None:
    """Give every element of `value` to `taker`; live afterwards are the paths on which there are no more."""
    over(m, alternatives(m, value), lambda atom: _walk(m, atom, taker, node))


def over(m: Machine, parts: Iterable[tuple[Guard, Value]], run: Callable[[Value], None]) -> None:
    """`run` on every part of the path; live afterwards is what is left of any of them, possibly nothing."""
    after = m.space.false
    for guard, atom in list(parts):
        m.live = guard
        give(m, run, atom)
        after = after | m.live
    m.live = after


def give(m: Machine, run: Callable[[Value], None], value: Value) -> None:
    """`run(value)`, after which nothing may be live."""
    if m.live.is_false:
        return
    try:
        run(value)
    except Dead:
        m.live = m.space.false


def _walk(m: Machine, atom: Value, taker: Taker, node: Node | None) -> None:
    from .containers import items_of

    if (
        isinstance(atom, Instance)
        and isinstance(atom.payload, ListValue | DictValue | SetValue)
        and _iter_of(m, atom) is MISSING
    ):
        atom = atom.payload
    if isinstance(atom, IteratorValue):
        _walk_iterator(m, atom, taker)
    elif isinstance(atom, ListValue):
        over(m, alternatives(m, atom.content), lambda items: _walk_list(m, atom, items, taker))
    elif isinstance(atom, DictValue | SetValue | DictView):
        held = atom.source if isinstance(atom, DictView) else atom
        over(m, alternatives(m, items_of(m, held, node)), lambda keys: _walk_sized(m, atom, keys, taker))
    elif isinstance(atom, Instance) and (method := _iter_of(m, atom)) is not MISSING:
        from .calls import call_value

        walk(m, call_value(m, inheritance.bind(m, method, atom), (), {}, node), taker, node)
    else:
        over(m, alternatives(m, items_of(m, atom, node)), lambda items: _walk_items(m, items, taker))


def _iter_of(m: Machine, atom: Instance) -> Value:
    return inheritance.class_attribute(m, atom.cls, "__iter__")


def _walk_items(m: Machine, items: Value, taker: Taker) -> None:
    if isinstance(items, Unknown):
        taker.rest(items)
        return
    if len(items) > LOOPS:
        m.coverage.budget(f"a loop of more than {LOOPS} iterations")
        raise m.abandon()
    for item in items:
        give(m, taker.item, item)


def _walk_list(m: Machine, target: ListValue, items: Value, taker: Taker) -> None:
    """The elements of a list as it is when each is reached."""
    if isinstance(items, Unknown):
        taker.rest(items)
        return
    at = 0
    while not m.live.is_false:
        if settle(m, target.content) is not items:
            _walk_changed(m, target, at, taker)
            return
        if at >= len(items):
            return
        give(m, taker.item, items[at])
        at += 1


def _walk_changed(m: Machine, target: ListValue, at: int, taker: Taker) -> None:
    """What is left of a list from `at` on, once its content differs from path to path."""
    ended = m.space.false
    while not m.live.is_false:
        ready: list[tuple[Guard, Value]] = []
        for guard, items in alternatives(m, target.content):
            if isinstance(items, Unknown):
                m.live = guard
                give(m, taker.rest, items)
                ended = ended | m.live
            elif at < len(items):
                ready.append((guard, items[at]))
            else:
                ended = ended | guard
        _next(m, ready, taker)
        at += 1
        if at > LOOPS:
            m.coverage.budget(f"a loop of more than {LOOPS} iterations")
            raise m.abandon()
    m.live = ended


def _next(m: Machine, ready: list[tuple[Guard, Value]], taker: Taker) -> None:
    m.live = m.space.false
    for guard, _ in ready:
        m.live = m.live | guard
    if ready:
        give(m, taker.item, join(m, ready))


def _walk_sized(m: Machine, atom: DictValue | SetValue | DictView, keys: Value, taker: Taker) -> None:
    """The elements of a dict or set, values as when reached; it must not grow or shrink meanwhile."""

    held = atom.source if isinstance(atom, DictView) else atom
    if isinstance(keys, Unknown):
        with m.watching() as touched:
            give(m, taker.rest, keys)
        if any(box is held for box, _ in touched.values()):
            give(m, lambda _: _may_refuse_change(m, held), None)
        return
    for key in keys:
        before, again = _written(held), _again(held)
        give(m, lambda k: taker.item(element_of(m, atom, k)), key)
        after = _written(held)
        if len(before) != len(after) or not all(map(is_, before, after)):
            put_back = _again(held) != again
            give(m, lambda _: _refuse_change(m, held, keys, put_back), None)  # noqa: B023 - given at once


def _again(held: DictValue | SetValue) -> int:
    """How often a key was put back: it stands in another place then, also where the order is the same."""
    return held.again if isinstance(held, DictValue) else 0


def _written(held: DictValue | SetValue) -> list[Any]:
    """What is a new object with every write: an entry that was taken away and put back is another one."""
    return [held.other, *held.entries.values()]


def _refuse_change(m: Machine, held: DictValue | SetValue, keys: Value, put_back: bool) -> None:
    """RuntimeError where the size changed; where other keys took the place of some, the rest is open."""

    def check(now: Value) -> None:
        if isinstance(now, Unknown):
            _may_refuse_change(m, held)
            return
        if same(now, keys) and not put_back:
            return
        if len(now) != len(keys):
            m.fail("RuntimeError", f"{_kind(held)} changed size during iteration")
        m.coverage.unsupported("a dict whose keys change while it is walked", m.site(None))
        raise m.abandon()

    each(m, keys_of(m, held), check)


def _may_refuse_change(m: Machine, held: DictValue | SetValue) -> None:
    m.may_raise(f"{_kind(held)} changed size during iteration", "RuntimeError")


def _kind(held: DictValue | SetValue) -> str:
    return "dictionary" if isinstance(held, DictValue) else "Set"


# --- iterators and generators


def iterator(m: Machine, items: Value) -> IteratorValue:
    """An iterator over elements that are already there."""
    return IteratorValue(items, m.live, m.space.false)


def generator(m: Machine, start: Callable[[Taker], None]) -> IteratorValue:
    """An iterator whose elements come from running `start`."""
    return IteratorValue((), m.live, m.live, start)


def _walk_iterator(m: Machine, atom: IteratorValue, taker: Taker) -> None:
    fresh, begun = m.live & atom.fresh, m.live & ~atom.fresh
    over(
        m,
        [(g, run) for g, run in ((fresh, _start), (begun, _resume)) if not g.is_false],
        lambda run: run(m, atom, taker),
    )


def _start(m: Machine, atom: IteratorValue, taker: Taker) -> None:
    """Run a generator from its beginning; where it is left early, nobody knows what would have come."""
    assert atom.start is not None
    m.touch(atom, "content")
    atom.fresh = atom.fresh & ~m.live
    atom.content = store(m, atom.content, m.unknown("what is left of a generator"), atom.born)
    atom.start(away(m, taker))
    if not m.live.is_false:
        atom.content = store(m, atom.content, (), atom.born)


def _resume(m: Machine, atom: IteratorValue, taker: Taker) -> None:
    """Take what is left, one by one."""
    ended = m.space.false
    while not m.live.is_false:
        ready: list[tuple[Guard, Value]] = []
        left: list[tuple[Guard, Value]] = []
        for guard, items in alternatives(m, atom.content):
            if isinstance(items, Unknown):
                m.live = guard
                m.coverage.unsupported("a generator that is taken up again", m.site(None))
                give(m, taker.rest, items)
                ended = ended | m.live
            elif items:
                ready.append((guard, items[0]))
                left.append((guard, items[1:]))
            else:
                ended = ended | guard
        m.live = m.space.false
        for guard, _ in ready:
            m.live = m.live | guard
        if ready:
            m.touch(atom, "content")
            atom.content = store(m, atom.content, join(m, left), atom.born)
            give(m, taker.item, join(m, ready))
    m.live = ended


def away(m: Machine, taker: Taker, catches: bool = False) -> Taker:
    """`taker` as a generator calls it from its own frame: it runs in the frame and the `try` blocks of now.

    With `catches` its exceptions are raised where the generator yields, as in a `with` block.
    """
    depth, height = len(m.frames), len(m.raised)
    trying, handling = m.record.trying, m.record.handling

    def home(run: Callable[[Value], None]) -> Callable[[Value], None]:
        def there(value: Value) -> None:
            frames, raised, record = m.frames[depth:], m.raised[height:], (m.record.trying, m.record.handling)
            del m.frames[depth:]
            m.record.handling = handling
            if not catches:
                del m.raised[height:]
                m.record.trying = trying
            try:
                give(m, run, value)
            finally:
                m.frames += frames
                m.raised += [] if catches else raised
                m.record.trying, m.record.handling = record
            if m.live.is_false:
                raise Dead

        return there

    return Taker(home(taker.item), home(taker.rest))
