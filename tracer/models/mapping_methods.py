"""Methods of dicts and sets."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from ..evaluate import containers, dicts, entries, sets
from ..evaluate.comparing import as_value
from ..evaluate.unions import alternatives, cover, each, join
from ..evaluate.values import MISSING, DictValue, DictView, SetValue, Unknown, Value
from ..evaluate.walking import Taker, walk
from .native import Args, Kwargs, MethodTable

if TYPE_CHECKING:
    from ..evaluate.machine import Machine
    from ..guards import Guard

method = MethodTable()


@method(DictValue, "get")
def _get(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    default = args[2] if len(args) > 2 else kwargs.get("default")

    def read(key: Value) -> Value:
        value = entries.look_up(m, args[0], key, None)
        found = join(m, [(g, default if a is MISSING else a) for g, a in alternatives(m, value)])
        m.record.dispatch(found, key, None)
        return found

    return each(m, args[1], read)


@method(DictValue, "setdefault")
def _setdefault(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    default = args[2] if len(args) > 2 else None

    def put(key: Value) -> Value:
        dicts.put(m, args[0], key, default)
        return default

    def read(key: Value) -> Value:
        value = entries.look_up(m, args[0], key, None)
        return each(m, value, lambda v: put(key) if v is MISSING else v)

    return each(m, args[1], read)


@method(DictValue, "pop")
def _pop(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    def take(key: Value) -> Value:
        value = entries.look_up(m, args[0], key, None)
        if len(args) > 2:
            found = join(m, [(g, args[2] if a is MISSING else a) for g, a in alternatives(m, value)])
        else:
            gone = m.live & ~cover(m, value)
            there = [(g, a) for g, a in alternatives(m, value) if a is not MISSING]
            found = m.branch(gone, lambda: m.fail("KeyError", key), lambda: join(m, there))
        dicts.remove(m, args[0], key)
        return found

    return each(m, args[1], take)


@method(DictValue, "popitem")
def _popitem(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    def take(keys: Value) -> Value:
        if isinstance(keys, Unknown):
            containers.smear(m, args[0], "a dict after popitem()")
            return m.unknown("an item of a dict")
        if not keys:
            return m.fail("KeyError", "popitem(): dictionary is empty")
        value = entries.look_up(m, args[0], keys[-1], None)
        dicts.remove(m, args[0], keys[-1])
        return (keys[-1], value)

    return each(m, entries.keys_of(m, args[0]), take)


@method(DictValue, "keys")
def _keys(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return DictView(args[0], "keys")


@method(DictValue, "values")
def _values(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return DictView(args[0], "values")


@method(DictValue, "items")
def _items(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return DictView(args[0], "items")


@method(DictView, "isdisjoint")
def _view_disjoint(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return as_value(m, _disjoint(m, _other(m, args[0]), _other(m, args[1])))


@method(DictValue, "update")
def _update(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    for part in args[1:]:
        dicts.update(m, args[0], part, None)
    for name, value in kwargs.items():
        dicts.put(m, args[0], name, value)


@method(DictValue, "copy")
def _copy(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return dicts.copy_dict(m, args[0])


@method(DictValue, "clear")
def _clear(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    dicts.clear(m, args[0])


# --- sets


@method(SetValue, "add")
def _add(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    sets.add(m, args[0], args[1])


@method(SetValue, "update")
def _set_update(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    for part in args[1:]:
        each(m, containers.items_of(m, part, None), lambda items: sets.add_all(m, args[0], items))


@method(SetValue, "discard")
def _discard(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    sets.discard(m, args[0], args[1])


@method(SetValue, "remove")
def _remove(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    there = sets.discard(m, args[0], args[1])
    if args[0].other is MISSING:
        m.branch(m.live & ~there, lambda: m.fail("KeyError", args[1]), lambda: None)


@method(SetValue, "clear")
def _set_clear(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    sets.clear(m, args[0])


@method(SetValue, "pop")
def _set_pop(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    """One element, of several any: which one is the interpreter's own affair."""

    def take(items: Value) -> Value:
        if isinstance(items, Unknown):
            return m.unknown(f"an element of {items.label}")
        if not items:
            return m.fail("KeyError", "pop from an empty set")
        which = m.unknown("the element that a set pops").key
        places = tuple(range(len(items)))
        ways: list[tuple[Guard, Callable[[], Value]]] = [
            (m.live & m.space.choice(which, places, (at,)), partial(_popped, m, args[0], item))
            for at, item in enumerate(items)
        ]
        return m.split(ways)

    return each(m, containers.items_of(m, args[0], None), take)


def _popped(m: Machine, target: SetValue, item: Value) -> Value:
    sets.discard(m, target, item)
    return item


@method(SetValue, "copy")
def _set_copy(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return sets.copy_set(m, args[0])


def _other(m: Machine, value: Value) -> SetValue:
    return sets.new_set(m, containers.items_of(m, value, None))


def _combining(name: str, keep: Callable[[bool, bool], bool]) -> None:
    def run(m: Machine, args: Args, kwargs: Kwargs) -> Value:
        out = sets.copy_set(m, args[0])
        for part in args[1:]:
            out = sets.combine(m, out, _other(m, part), keep)
        return out

    method(SetValue, name)(run)


_combining("union", lambda a, b: a or b)
_combining("intersection", lambda a, b: a and b)
_combining("difference", lambda a, b: a and not b)
_combining("symmetric_difference", lambda a, b: a != b)


def _asking(name: str, ask: Callable[[Machine, SetValue, SetValue], Guard]) -> None:
    def run(m: Machine, args: Args, kwargs: Kwargs) -> Value:
        return as_value(m, ask(m, args[0], _other(m, args[1])))

    method(SetValue, name)(run)


def _disjoint(m: Machine, a: SetValue, b: SetValue) -> Guard:
    shared = sets.combine(m, a, b, lambda x, y: x and y)
    return sets.subset(m, shared, SetValue(m.live))


_asking("issubset", sets.subset)
_asking("issuperset", lambda m, a, b: sets.subset(m, b, a))
_asking("isdisjoint", _disjoint)


def from_keys(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    """`dict.fromkeys`, which is asked of the class."""
    out = containers.new_dict(m)
    value = args[1] if len(args) > 1 else None
    taker = Taker(
        lambda item: containers.set_item(m, out, item, value, None),
        lambda items: containers.smear(m, out, items.label),
    )
    walk(m, args[0], taker, None)
    return out
