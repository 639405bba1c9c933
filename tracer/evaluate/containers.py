"""What Python's operators ask of any container: iterate, index, write, delete."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import attributes, dicts, fallbacks, inheritance, lists, sets
from .atoms import describe, plain
from .comparing import term
from .dicts import new_dict, update
from .entries import elements_of, keys_of, look_up
from .inheritance import has
from .lists import append, extend
from .sets import add
from .slices import SliceValue
from .typenames import type_name
from .unions import cover, each, settle, store
from .values import (
    CONSTANTS,
    MISSING,
    ClassValue,
    DictValue,
    DictView,
    Instance,
    IteratorValue,
    ListValue,
    NativeClass,
    Opaque,
    SetValue,
    Unknown,
    Value,
)
from .walking import Taker, walk

if TYPE_CHECKING:
    from ..tree import Node
    from .machine import Machine

__all__ = ["add", "append", "extend", "new_dict", "update"]


def make(m: Machine, kind: str, items: Value) -> Value:
    """A tuple, list or set of `items` (a tuple of Values, or a Guarded set of tuples)."""
    if kind == "tuple":
        return items
    return ListValue(items, m.live) if kind == "list" else sets.new_set(m, items)


def become(m: Machine, target: ListValue | SetValue, new: ListValue | SetValue) -> None:
    """Change a list or set in place to what `new` is."""
    if isinstance(target, ListValue) and isinstance(new, ListValue):
        m.touch(target, "content")
        target.content = store(m, target.content, settle(m, new.content), target.born)
    elif isinstance(target, SetValue) and isinstance(new, SetValue):
        for key in {**target.entries, **new.entries}:
            name, old = target.entries.get(key, new.entries.get(key, (None, MISSING)))
            old = old if key in target.entries else MISSING
            there = new.entries.get(key, (None, MISSING))[1]
            m.touch(target, ("entry", key))
            target.entries[key] = (name, store(m, old, settle(m, there), target.born))
        if new.other is not MISSING or target.other is not MISSING:
            m.touch(target, "other")
            target.other = store(m, target.other, new.other, target.born)


def smear(m: Machine, target: Value, label: str) -> None:
    """What is in a container is no longer known on the current path."""
    if isinstance(target, ListValue):
        lists.smear(m, target, label)
    elif isinstance(target, DictValue | SetValue):
        m.touch(target, "other")
        target.other = store(m, target.other, m.unknown(label), target.born)
        for key in list(target.entries):
            dicts.smear_entry(m, target, key, label)


# --- iterating


def items_of(m: Machine, value: Value, node: Node | None) -> Value:
    """The elements that iterating `value` gives: a tuple of Values, possibly Guarded, or an Unknown."""
    return each(m, value, lambda atom: _items(m, atom, node))


def _items(m: Machine, atom: Value, node: Node | None) -> Value:
    atom = atom if iterates_itself(m, atom) else plain(atom)
    if isinstance(atom, tuple):
        return atom
    if isinstance(atom, str | bytes | range):
        return tuple(atom)
    if isinstance(atom, ListValue):
        return settle(m, atom.content)
    if isinstance(atom, DictValue | SetValue):
        return keys_of(m, atom)
    if isinstance(atom, DictView):
        return elements_of(m, atom)
    if isinstance(atom, IteratorValue):
        return drained(m, atom, node)
    if isinstance(atom, Instance):
        return _object_items(m, atom, node)
    if isinstance(atom, ClassValue):
        return fallbacks.iterate_class(m, atom, node)
    if isinstance(atom, (*CONSTANTS, NativeClass)):
        return m.fail("TypeError", f"'{type_name(atom)}' object is not iterable")
    return m.unknown(f"the elements of {describe(atom)}", node)


def iterates_itself(m: Machine, atom: Value) -> bool:
    """Whether an object says by its own `__iter__` what its elements are."""
    return isinstance(atom, Instance) and has(m, atom, "__iter__")


def _object_items(m: Machine, atom: Instance, node: Node | None) -> Value:
    method = inheritance.class_attribute(m, atom.cls, "__iter__")
    if method is MISSING:
        if (
            isinstance(atom.cls, ClassValue)
            and not m.world.is_open(atom.cls)
            and not has(m, atom, "__getitem__")
        ):
            return m.fail("TypeError", f"'{atom.cls.name}' object is not iterable")
        return m.unknown(f"the elements of {describe(atom)}", node)
    from .calls import call_value

    return items_of(m, call_value(m, inheritance.bind(m, method, atom), (), {}, node), node)


def drained(m: Machine, atom: IteratorValue, node: Node | None) -> Value:
    """All that is left of an iterator; it is used up afterwards."""
    out = ListValue((), m.live)
    walk(
        m,
        atom,
        Taker(lambda item: append(m, out, item), lambda items: lists.smear(m, out, items.label)),
        node,
    )
    if m.live.is_false:
        raise m.kill()
    return settle(m, out.content)


# --- indexing


def get_item(m: Machine, atom: Value, key: Value, node: Node | None) -> Value:
    """`atom[key]` for single atoms; raises what Python would."""
    if isinstance(atom, Instance) and atom.payload is not MISSING and not has(m, atom, "__getitem__"):
        return _payload_item(m, atom, key, node)
    if isinstance(atom, tuple):
        return lists.sequence_item(m, atom, key, "tuple", node)
    if isinstance(atom, str | bytes | range):
        return _text_item(m, atom, key, node)
    if isinstance(atom, ListValue):
        return lists.item(m, atom, key, node)
    if isinstance(atom, DictValue):
        return dicts.get(m, atom, key, node)
    if isinstance(atom, Unknown):
        return Unknown(
            f"{atom.key}[{_key_text(m, key)}]",
            f"{atom.label}[{describe(key)}]",
            m.site(node),
            _index_kind(atom, key),
        )
    return fallbacks.subscript(m, atom, key, node)


def _payload_item(m: Machine, atom: Instance, key: Value, node: Node | None) -> Value:
    hook = inheritance.class_attribute(m, atom.cls, "__missing__")
    if hook is MISSING or not isinstance(atom.payload, DictValue):
        return get_item(m, atom.payload, key, node)
    from .calls import call_value

    value = look_up(m, atom.payload, key, node)
    missing = inheritance.bind(m, hook, atom)
    return each(m, value, lambda v: call_value(m, missing, (key,), {}, node) if v is MISSING else v)


def _key_text(m: Machine, key: Value) -> str:
    return term(m, key)[0]


def _index_kind(atom: Unknown, key: Value) -> str | None:
    if atom.kind == "tensor":
        return "tensor"
    return "int" if atom.key.endswith(".shape") and isinstance(plain(key), int) else None


def _text_item(m: Machine, text: Any, key: Value, node: Node | None) -> Value:
    at = plain(key)
    if isinstance(at, Unknown):
        m.may_raise(f"{describe(at)} is no index of {text!r}", "IndexError")
        return m.unknown(f"{text!r}[{describe(key)}]", node, "str")
    try:
        return text[at.value if isinstance(at, SliceValue) else at]
    except (IndexError, TypeError) as error:
        return m.fail(type(error).__name__, str(error))


# --- writing


def set_item(m: Machine, target: Value, key: Value, value: Value, node: Node | None) -> None:
    """`target[key] = value` on the current path."""
    if isinstance(target, Instance) and has(m, target, "__setitem__"):
        call_method(m, target, "__setitem__", (key, value), node)
        return
    target = plain(target)
    if isinstance(target, DictValue):
        dicts.put(m, target, key, value)
    elif isinstance(target, ListValue):
        each(m, key, lambda k: lists.put(m, target, k, value, node))
    elif not isinstance(target, Unknown | Opaque):
        m.fail("TypeError", f"{describe(target)} does not support item assignment")


def call_method(m: Machine, target: Instance, name: str, args: tuple[Value, ...], node: Node | None) -> Value:
    """What `target.name(*args)` gives."""
    from .calls import call_value

    return call_value(m, attributes.get(m, target, name, node), args, {}, node)


def delete_item(m: Machine, target: Value, key: Value, node: Node | None) -> None:
    """`del target[key]` on the current path."""
    if isinstance(target, Instance) and has(m, target, "__delitem__"):
        call_method(m, target, "__delitem__", (key,), node)
        return
    target = plain(target)
    if isinstance(target, DictValue):
        gone = m.live & ~cover(m, look_up(m, target, key, node))
        m.branch(gone, lambda: m.fail("KeyError", key), lambda: None)
        dicts.remove(m, target, key)
    elif isinstance(target, ListValue):
        lists.delete(m, target, key, node)
    elif not isinstance(target, Unknown | Opaque):
        m.fail("TypeError", f"{describe(target)} does not support item deletion")
