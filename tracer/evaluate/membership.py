"""`in`: whether a container holds an item, and under which conditions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import lists, sets
from .atoms import plain
from .comparing import as_value, condition
from .containers import call_method, items_of, iterates_itself
from .entries import matches
from .hashing import atoms_of_key, hash_key
from .inheritance import has
from .truth import truth
from .typenames import type_name
from .unions import cover
from .values import (
    CONSTANTS,
    MISSING,
    ClassValue,
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


def contains(m: Machine, atom: Value, item: Value, node: Node | None) -> Value:
    """`item in atom`."""
    if isinstance(atom, Instance) and has(m, atom, "__contains__"):
        return _contained(m, call_method(m, atom, "__contains__", (item,), node))
    atom = atom if iterates_itself(m, atom) else plain(atom)
    if isinstance(atom, str | bytes):
        return _in_text(m, atom, item, node)
    if isinstance(atom, DictView) and atom.kind == "keys":
        atom = atom.source
    if isinstance(atom, DictValue | SetValue):
        return as_value(m, _member(m, atom, item, node))
    if isinstance(atom, tuple | ListValue | DictView | IteratorValue | ClassValue) or iterates_itself(
        m, atom
    ):
        return as_value(m, _in_items(m, items_of(m, atom, node), item, node))
    if isinstance(atom, range) and isinstance(plain(item), CONSTANTS):
        return plain(item) in atom
    if isinstance(atom, CONSTANTS):
        return m.fail("TypeError", f"argument of type '{type_name(atom)}' is not iterable")
    return as_value(m, condition(m, "in", item, atom))


def _contained(m: Machine, answer: Value) -> Value:
    return as_value(m, truth(m, answer))


def _in_text(m: Machine, text: Any, item: Value, node: Node | None) -> Value:
    part = plain(item)
    if isinstance(part, CONSTANTS):
        try:
            return part in text
        except TypeError as error:
            return m.fail("TypeError", str(error))
    return as_value(m, condition(m, "in", item, text))


def _member(m: Machine, atom: DictValue | SetValue, item: Value, node: Node | None) -> Guard:
    here = _told(m, atom, item, node)
    fuzzy = cover(m, atom.other)
    return here if fuzzy.is_false else here | (fuzzy & condition(m, "in", item, atom))


def _told(m: Machine, atom: DictValue | SetValue, item: Value, node: Node | None) -> Guard:
    out = m.space.false

    def one(key: Value) -> None:
        nonlocal out
        if isinstance(atom, SetValue):
            out = out | sets.where_in(m, atom, key)
            return
        name = hash_key(m, key)
        if name is not None:
            out = out | cover(m, atom.entries.get(name, (None, MISSING))[1])
            return
        for _, _, hit in matches(m, atom, key, node):
            out = out | hit

    atoms_of_key(m, item, one)
    return out


def _in_items(m: Machine, items: Value, item: Value, node: Node | None) -> Guard:
    def one(part: Value) -> Guard:
        if isinstance(part, Unknown):
            return condition(m, "in", item, part)
        out = m.space.false
        for _, hit in lists.search(m, part, item):
            out = out | hit
        return out

    return m.decide(items, one)
