"""Dicts: `d[key]` as Python reads it, and every change, each on the paths that make it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .atoms import describe, plain
from .entries import in_order, look_up, matches
from .hashing import atoms_of_key, hash_key, hashes_itself
from .unions import alternatives, cover, each, join, same, settle, store
from .values import MISSING, DictValue, Instance, SetValue, Unknown, Value
from .walking import Taker, walk

if TYPE_CHECKING:
    from ..guards import Guard
    from ..tree import Node
    from .machine import Machine


def new_dict(m: Machine, factory: Value = None) -> DictValue:
    return DictValue(m.live, factory)


def copy_dict(m: Machine, source: DictValue) -> DictValue:
    out = DictValue(m.live, source.factory)
    out.entries, out.other, out.moves = dict(source.entries), source.other, list(source.moves)
    return out


def get(m: Machine, atom: DictValue, key: Value, node: Node | None) -> Value:
    """`atom[key]`: KeyError, or what the factory makes, on the paths where it is not there."""
    value = look_up(m, atom, key, node)
    gone = m.live & ~cover(m, value)
    if gone.is_false:
        m.record.dispatch(value, key, node)
        return value
    found = m.branch(
        gone,
        lambda: _missing(m, atom, key, node),
        lambda: join(m, [p for p in alternatives(m, value) if p[1] is not MISSING]),
    )
    m.record.dispatch(found, key, node)
    return found


def _missing(m: Machine, atom: DictValue, key: Value, node: Node | None) -> Value:
    if atom.factory is None:
        raise m.throw(m.world.exception(m, "KeyError", key))
    from .calls import call_value

    made = call_value(m, atom.factory, (), {}, node)
    put(m, atom, key, made)
    return made


def put(m: Machine, target: DictValue, key: Value, value: Value) -> None:
    """`target[key] = value` on the current path."""
    atoms_of_key(m, key, lambda k: _put(m, target, k, value))


def _put(m: Machine, target: DictValue, key: Value, value: Value) -> None:
    name = hash_key(m, key)
    if name is not None:
        _put_at(m, target, name, key, value)
    elif hashes_itself(m, key):
        _put_by_equality(m, target, key, value)
    else:
        m.coverage.unsupported("a key that nobody can tell", m.site(None))
        smeared = m.unknown(f"a value of {describe(target)} under an unknown key")
        m.touch(target, "other")
        target.other = store(m, target.other, smeared, target.born)


def _put_by_equality(m: Machine, target: DictValue, key: Instance, value: Value) -> None:
    entry = m.live
    for name, _, hit in matches(m, target, key, None):
        m.live = hit
        if not hit.is_false:
            _put_at(m, target, name, key, value)
        entry = entry & ~hit
    m.live, after = entry, m.live | entry
    if not entry.is_false:
        _put_at(m, target, ("object", m.tag(key)), key, value)
    m.live = after


def _put_at(m: Machine, target: DictValue, name: Any, key: Value, value: Value) -> None:
    shown, old = target.entries.get(name, (key, MISSING))
    if name in target.entries:
        _move(m, target, name, old)
        shown = shown_key(m, shown, key, old, target.born)
    m.touch(target, ("entry", name))
    target.entries[name] = (shown, store(m, old, value, target.born))


def shown_key(m: Machine, shown: Value, key: Value, old: Value, born: Guard) -> Value:
    """What a key reads as: of equal ones, such as 1 and True, the one that was inserted."""
    gone = m.live & ~cover(m, old)
    if gone.is_false or same(shown, key):
        return shown
    live, m.live = m.live, gone
    shown = store(m, shown, key, born)
    m.live = live
    return shown


def _move(m: Machine, target: DictValue, name: Any, old: Value) -> None:
    """Where a known key is not there now, writing it puts it last."""
    gone = m.live & ~cover(m, old)
    target.again += not gone.is_false
    if not gone.is_false and (target.moves or next(reversed(list(target.entries))) != name):
        target.moves.append((len(target.entries), name, gone))


def remove(m: Machine, target: DictValue, key: Value) -> None:
    """Take `key` away on the current path, where it is there."""
    atoms_of_key(m, key, lambda k: _remove(m, target, k))


def _remove(m: Machine, target: DictValue, key: Value) -> None:
    name = hash_key(m, key)
    if name is None:
        entry = m.live
        for found, _, hit in matches(m, target, key, None):
            m.live = hit
            _remove_at(m, target, found)
        m.live = entry
    elif name in target.entries:
        _remove_at(m, target, name)


def _remove_at(m: Machine, target: DictValue, name: Any) -> None:
    shown, old = target.entries[name]
    if not m.live.is_false:
        m.touch(target, ("entry", name))
        target.entries[name] = (shown, store(m, old, MISSING, target.born))


def clear(m: Machine, target: DictValue) -> None:
    for name in list(target.entries):
        _remove_at(m, target, name)
    m.touch(target, "other")
    target.other = store(m, target.other, MISSING, target.born)


def smear_entry(m: Machine, target: DictValue | SetValue, name: Any, label: str) -> None:
    """Whether a key is there, and with what, is no longer known on the current path."""
    shown, old = target.entries[name]
    there = m.holds(m.unknown(f"{describe_shown(m, shown)} in {label}"))
    value = True if isinstance(target, SetValue) else m.unknown(f"{label}[{describe_shown(m, shown)}]")
    m.touch(target, ("entry", name))
    new = join(m, [(m.live & there, value), (m.live & ~there, MISSING)])
    target.entries[name] = (shown, store(m, old, new, target.born))


def describe_shown(m: Machine, shown: Value) -> str:
    return " or ".join(describe(atom) for _, atom in alternatives(m, shown))


def update(m: Machine, target: DictValue, more: Value, node: Node | None) -> None:
    """`target.update(more)`: a mapping or pairs."""
    each(m, more, lambda atom: _update(m, target, plain(atom), node))


def _update(m: Machine, target: DictValue, atom: Value, node: Node | None) -> None:
    if isinstance(atom, DictValue):
        _update_from_dict(m, target, atom)
        return
    walk(
        m,
        atom,
        Taker(lambda pair: _put_pair(m, target, pair, node), lambda items: _smear(m, target, items)),
        node,
    )


def _update_from_dict(m: Machine, target: DictValue, atom: DictValue) -> None:
    entry = m.live
    for key, here in in_order(m, atom):
        name, value = atom.entries[key]
        m.live = entry & here
        if not m.live.is_false:
            _put_at(m, target, key, name, settle(m, value))
        m.live = entry
    if not cover(m, atom.other).is_false:
        m.touch(target, "other")
        target.other = store(m, target.other, atom.other, target.born)


def _put_pair(m: Machine, target: DictValue, pair: Value, node: Node | None) -> None:
    from .containers import items_of

    def put_pair(items: Value) -> None:
        if isinstance(items, Unknown):
            _smear(m, target, items)
        elif len(items) != 2:
            m.fail("ValueError", f"dictionary update sequence element has length {len(items)}; 2 is required")
        else:
            put(m, target, items[0], items[1])

    each(m, items_of(m, pair, node), put_pair)


def _smear(m: Machine, target: DictValue, items: Unknown) -> None:
    m.touch(target, "other")
    target.other = store(m, target.other, items, target.born)
