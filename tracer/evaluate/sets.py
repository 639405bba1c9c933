"""Sets: elements under the guards that they are there; iterated in the order of insertion.

What CPython's order of a set is depends on hashes, for texts even on the process: nothing that the engine
decides
may hang on it, and the order of insertion is as good as any.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .atoms import describe
from .dicts import shown_key
from .entries import elements_of, matches
from .hashing import atoms_of_key, hash_key, hashes_itself
from .unions import alternatives, cover, join, store
from .values import MISSING, DictView, SetValue, Unknown, Value

if TYPE_CHECKING:
    from ..guards import Guard
    from .machine import Machine


def new_set(m: Machine, items: Value, frozen: bool = False) -> SetValue:
    """A set of `items`: a tuple of Values, or a Guarded set of tuples."""
    out = SetValue(m.live, frozen)
    entry, after = m.live, m.space.false
    for guard, part in alternatives(m, items):
        m.live = guard
        add_all(m, out, part)
        after = after | m.live
    m.live = after if items != () else entry
    return out


def set_like(m: Machine, atom: Value) -> Value:
    """The keys or items of a dict as operators see them: a set."""
    if not isinstance(atom, DictView) or atom.kind == "values":
        return atom
    return new_set(m, elements_of(m, atom))


def copy_set(m: Machine, source: SetValue) -> SetValue:
    out = SetValue(m.live, source.frozen)
    out.entries, out.other = dict(source.entries), source.other
    return out


def add_all(m: Machine, target: SetValue, items: Value) -> None:
    if isinstance(items, Unknown):
        m.touch(target, "other")
        target.other = store(m, target.other, items, target.born)
        return
    for item in items:
        add(m, target, item)


def add(m: Machine, target: SetValue, item: Value) -> None:
    """`target.add(item)` on the current path."""
    atoms_of_key(m, item, lambda atom: _add(m, target, atom))


def _add(m: Machine, target: SetValue, atom: Value) -> None:
    key = hash_key(m, atom)
    entry = m.live
    if key is None and hashes_itself(m, atom):
        for _, _, hit in matches(m, target, atom, None):
            m.live = m.live & ~hit
        key = ("object", m.tag(atom))
    if key is None:
        m.touch(target, "other")
        target.other = store(m, target.other, m.unknown(f"an element of {describe(target)}"), target.born)
        return
    if not m.live.is_false:
        shown, old = target.entries.get(key, (atom, MISSING))
        shown = shown_key(m, shown, atom, old, target.born)
        m.touch(target, ("entry", key))
        target.entries[key] = (shown, store(m, old, True, target.born))
    m.live = entry


def where_in(m: Machine, target: SetValue, item: Value) -> Guard:
    """Where on the current path `item` is an element that can be told."""
    key = hash_key(m, item)
    if key is not None:
        return cover(m, target.entries.get(key, (None, MISSING))[1])
    out = m.space.false
    for _, _, hit in matches(m, target, item, None):
        out = out | hit
    return out


def discard(m: Machine, target: SetValue, item: Value) -> Guard:
    """Take `item` away; gives where it was there."""
    there = m.space.false

    def one(atom: Value) -> None:
        nonlocal there
        key = hash_key(m, atom)
        entry = m.live
        names = [(n, hit) for n, _, hit in matches(m, target, atom, None)] if key is None else [(key, m.live)]
        for name, hit in names:
            if name in target.entries and not hit.is_false:
                m.live = hit
                shown, old = target.entries[name]
                there = there | cover(m, old)
                m.touch(target, ("entry", name))
                target.entries[name] = (shown, store(m, old, MISSING, target.born))
        m.live = entry

    atoms_of_key(m, item, one)
    return there


def clear(m: Machine, target: SetValue) -> None:
    for name, (shown, old) in list(target.entries.items()):
        m.touch(target, ("entry", name))
        target.entries[name] = (shown, store(m, old, MISSING, target.born))
    m.touch(target, "other")
    target.other = store(m, target.other, MISSING, target.born)


def combine(m: Machine, a: SetValue, b: SetValue, keep: Callable[[bool, bool], bool]) -> SetValue:
    """The elements for which `keep(in a, in b)`."""
    out = SetValue(m.live, a.frozen)
    for key in {**a.entries, **b.entries}:
        atom = (a.entries.get(key) or b.entries[key])[0]
        kept = _where(m, key, a, b, keep)
        if not kept.is_false:
            out.entries[key] = (atom, join(m, [(kept, True), (m.live & ~kept, MISSING)]))
    for side in (a.other, b.other):
        out.other = side if side is not MISSING else out.other
    return out


def _where(m: Machine, key: Any, a: SetValue, b: SetValue, keep: Callable[[bool, bool], bool]) -> Guard:
    here = cover(m, a.entries.get(key, (None, MISSING))[1])
    there = cover(m, b.entries.get(key, (None, MISSING))[1])
    kept = m.space.false
    for x, gx in ((True, here), (False, m.live & ~here)):
        for y, gy in ((True, there), (False, m.live & ~there)):
            kept = kept | (gx & gy) if keep(x, y) else kept
    return kept


def subset(m: Machine, small: SetValue, large: SetValue) -> Guard:
    """The guard that every element of `small` is in `large`."""
    if small.other is not MISSING or large.other is not MISSING:
        return m.holds(m.unknown("a set with unknown elements is part of another"))
    out = m.space.true
    for key, (_, value) in small.entries.items():
        out = out & (~cover(m, value) | cover(m, large.entries.get(key, (None, MISSING))[1]))
    return out
