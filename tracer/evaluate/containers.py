"""Lists, dicts and sets as boxes of guarded slots, and what can be asked of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .hashing import equal, hash_key
from .operators import SliceValue, condition, describe, plain
from .unions import alternatives, cover, each, join, settle, store
from .values import (
    CONSTANTS,
    MISSING,
    ClassValue,
    DictValue,
    Instance,
    ListValue,
    NativeClass,
    Opaque,
    SetValue,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from ..tree import Node
    from .machine import Machine


def make(m: Machine, kind: str, items: Value) -> Value:
    """A tuple, list or set of `items` (a tuple of Values, or a Guarded set of tuples)."""
    if kind in ("tuple", "generator"):
        return items if kind == "tuple" else ListValue(items, m.live)
    if kind == "list":
        return ListValue(items, m.live)
    out = SetValue(m.live)
    for guard, part in alternatives(m, items):
        for item in part if isinstance(part, tuple) else ():
            m_live, m.live = m.live, guard
            add(m, out, item)
            m.live = m_live
        if isinstance(part, Unknown):
            out.other = store(m, out.other, part, out.born)
    return out


def new_dict(m: Machine, factory: Value = None) -> DictValue:
    return DictValue(m.live, factory)


def copy_dict(m: Machine, source: DictValue) -> DictValue:
    out = DictValue(m.live, source.factory)
    out.entries, out.other = dict(source.entries), source.other
    return out


def copy_set(m: Machine, source: SetValue) -> SetValue:
    out = SetValue(m.live, source.frozen)
    out.entries, out.other = dict(source.entries), source.other
    return out


def combine_sets(m: Machine, a: SetValue, b: SetValue, keep: Callable[[bool, bool], bool]) -> SetValue:
    out = SetValue(m.live, a.frozen)
    for key in {**a.entries, **b.entries}:
        atom = (a.entries.get(key) or b.entries[key])[0]
        here = cover(m, a.entries.get(key, (None, MISSING))[1])
        there = cover(m, b.entries.get(key, (None, MISSING))[1])
        kept = m.space.false
        for x, gx in ((True, here), (False, m.live & ~here)):
            for y, gy in ((True, there), (False, m.live & ~there)):
                kept = kept | (gx & gy) if keep(x, y) else kept
        if not kept.is_false:
            out.entries[key] = (atom, join(m, [(kept, True), (m.live & ~kept, MISSING)]))
    for side in (a.other, b.other):
        out.other = side if side is not MISSING else out.other
    return out


def append(m: Machine, target: ListValue, item: Value) -> None:
    """`target.append(item)` on the current path."""
    grown = each(m, target.content, lambda items: items if isinstance(items, Unknown) else (*items, item))
    target.content = store(m, target.content, grown, target.born)


def extend(m: Machine, target: ListValue, more: Value, node: Node | None) -> None:
    added = items_of(m, more, node)

    def grow(items: Value) -> Value:
        return each(m, added, lambda a: items if isinstance(items, Unknown) else a if isinstance(a, Unknown) else (*items, *a))

    target.content = store(m, target.content, each(m, target.content, grow), target.born)


def add(m: Machine, target: SetValue, item: Value) -> None:
    each(m, item, lambda atom: _add_atom(m, target, atom))


def _add_atom(m: Machine, target: SetValue, atom: Value) -> None:
    key = hash_key(m, atom)
    if key is None:
        target.other = store(m, target.other, m.unknown(f"an element of {describe(target)}"), target.born)
        return
    old = target.entries.get(key, (atom, MISSING))
    target.entries[key] = (old[0], store(m, old[1], True, target.born))


def discard(m: Machine, target: SetValue | DictValue, atom: Value) -> None:
    key = hash_key(m, atom)
    if key in target.entries:
        name, old = target.entries[key]
        target.entries[key] = (name, store(m, old, MISSING, target.born))


def set_item(m: Machine, target: Value, key: Value, value: Value, node: Node | None) -> None:
    """`target[key] = value` on the current path."""
    each(m, key, lambda k: _set_atom(m, target, k, value, node))


def _set_atom(m: Machine, target: Value, key: Value, value: Value, node: Node | None) -> None:
    if isinstance(target, Instance) and isinstance(target.payload, DictValue):
        target = target.payload
    if isinstance(target, DictValue):
        name = hash_key(m, key)
        if name is None:
            smeared = m.unknown(f"a value of {describe(target)} under an unknown key")
            target.other = store(m, target.other, smeared, target.born)
            return
        old = target.entries.get(name, (key, MISSING))
        target.entries[name] = (old[0], store(m, old[1], value, target.born))
    elif isinstance(target, ListValue):
        _set_in_list(m, target, key, value, node)
    elif isinstance(target, Instance):
        from . import attributes
        from .calls import call

        call(m, attributes.get(m, target, "__setitem__", node), (key, value), {}, node)
    elif not isinstance(target, Unknown | Opaque):
        raise m.throw(m.world.exception(m, "TypeError", f"{describe(target)} does not support item assignment"))


def _set_in_list(m: Machine, target: ListValue, key: Value, value: Value, node: Node | None) -> None:
    at = plain(key)

    def put(items: Value) -> Value:
        if isinstance(items, Unknown) or not isinstance(at, int):
            return m.unknown("a list written at an unknown index", node)
        if not -len(items) <= at < len(items):
            raise m.throw(m.world.exception(m, "IndexError", "list assignment index out of range"))
        where = at % len(items)
        return (*items[:where], value, *items[where + 1 :])

    changed = each(m, target.content, put)
    target.content = store(m, target.content, changed, target.born)


def update(m: Machine, target: DictValue, more: Value, node: Node | None) -> None:
    """`target.update(more)`: a mapping or pairs."""
    each(m, more, lambda atom: _update_atom(m, target, atom, node))


def _update_atom(m: Machine, target: DictValue, atom: Value, node: Node | None) -> None:
    if isinstance(atom, Instance) and isinstance(atom.payload, DictValue):
        atom = atom.payload
    if isinstance(atom, DictValue):
        for key, (name, value) in list(atom.entries.items()):
            old = target.entries.get(key, (name, MISSING))
            target.entries[key] = (old[0], _merged(m, old[1], value, target))
        if atom.other is not MISSING:
            target.other = store(m, target.other, atom.other, target.born)
        return
    pairs = items_of(m, atom, node)
    for guard, items in alternatives(m, pairs):
        m_live, m.live = m.live, guard
        for pair in items if isinstance(items, tuple) else ():
            each(m, pair, lambda p: set_item(m, target, p[0], p[1], node) if isinstance(p, tuple) else None)
        if isinstance(items, Unknown):
            target.other = store(m, target.other, items, target.born)
        m.live = m_live


def _merged(m: Machine, old: Value, new: Value, target: DictValue) -> Value:
    """Write `new` where it is present, keep `old` elsewhere."""
    there = cover(m, new)
    if there.is_false:
        return old
    m_live, m.live = m.live, there
    out = store(m, old, settle(m, new), target.born)
    m.live = m_live
    return out


def items_of(m: Machine, value: Value, node: Node | None) -> Value:
    """The elements that iterating `value` gives: a tuple of Values, possibly Guarded, or an Unknown."""
    return each(m, value, lambda atom: _items(m, atom, node))


def _items(m: Machine, atom: Value, node: Node | None) -> Value:
    atom = plain(atom)
    if isinstance(atom, tuple):
        return atom
    if isinstance(atom, str | bytes):
        return tuple(atom)
    if isinstance(atom, ListValue):
        return settle(m, atom.content)
    if isinstance(atom, DictValue | SetValue):
        return keys_of(m, atom)
    if isinstance(atom, ClassValue | Instance):
        return m.world.iterate_object(m, atom, node)
    if isinstance(atom, Unknown | Opaque):
        return m.unknown(f"the elements of {describe(atom)}", node)
    if isinstance(atom, range):
        return tuple(atom)
    if isinstance(atom, CONSTANTS) or isinstance(atom, NativeClass):
        kind = type(atom).__name__ if isinstance(atom, CONSTANTS) else "type"
        raise m.throw(m.world.exception(m, "TypeError", f"'{kind}' object is not iterable"))
    return m.unknown(f"the elements of {describe(atom)}", node)


def keys_of(m: Machine, atom: DictValue | SetValue) -> Value:
    """The keys in order, one tuple for every set of keys that can be there."""
    out: Value = ()
    for name, value in atom.entries.values():
        here = cover(m, value)
        if here.is_false:
            continue
        out = _with_key(m, out, name, here)
    for guard, other in alternatives(m, atom.other):
        if other is not MISSING:
            out = join(m, [(guard, m.unknown("the keys of a dict with an unknown key")), (m.live & ~guard, out)])
    return out


def _with_key(m: Machine, keys: Value, name: Value, here: Any) -> Value:
    return m.branch(
        here,
        lambda: each(m, keys, lambda k: k if isinstance(k, Unknown) else (*k, name)),
        lambda: settle(m, keys),
    )


def get_item(m: Machine, atom: Value, key: Value, node: Node | None) -> Value:
    """`atom[key]` for single atoms; raises what Python would."""
    if isinstance(atom, Instance) and atom.payload is not MISSING and not _own_getitem(m, atom):
        atom = plain(atom)
    if isinstance(atom, tuple):
        return _sequence_item(m, atom, key, "tuple", node)
    if isinstance(atom, str | bytes):
        return _text_item(m, atom, key, node)
    if isinstance(atom, ListValue):
        return _list_item(m, atom, key, node)
    if isinstance(atom, DictValue):
        return _dict_item(m, atom, key, node)
    if isinstance(atom, Unknown):
        return Unknown(f"{atom.key}[{_key_text(key)}]", f"{atom.label}[{describe(key)}]", m.site(node), _index_kind(atom))
    return m.world.subscript(m, atom, key, node)


def _own_getitem(m: Machine, atom: Instance) -> bool:
    from . import attributes

    return attributes.class_attribute(m, atom.cls, "__getitem__") is not MISSING


def _key_text(key: Value) -> str:
    from .operators import term

    return term(key)[0]


def _index_kind(atom: Unknown) -> str | None:
    return "tensor" if atom.kind == "tensor" else "int" if atom.label.endswith(".shape") else None


def _list_item(m: Machine, atom: ListValue, key: Value, node: Node | None) -> Value:
    def pick(items: Value) -> Value:
        if isinstance(items, Unknown):
            return m.unknown(f"{items.label}[{describe(key)}]", node)
        picked = _sequence_item(m, items, key, "list", node)
        return ListValue(picked, m.live) if isinstance(key, SliceValue) else picked

    return each(m, atom.content, pick)


def _sequence_item(m: Machine, items: tuple[Value, ...], key: Value, kind: str, node: Node | None) -> Value:
    at = plain(key)
    if isinstance(at, SliceValue):
        return items[at.value]
    if isinstance(at, int):
        if not -len(items) <= at < len(items):
            raise m.throw(m.world.exception(m, "IndexError", f"{kind} index out of range"))
        return items[at]
    if isinstance(at, Unknown):
        return m.unknown(f"one of the {len(items)} elements of a {kind}", node)
    raise m.throw(m.world.exception(m, "TypeError", f"{kind} indices must be integers or slices, not {describe(at)}"))


def _text_item(m: Machine, text: Any, key: Value, node: Node | None) -> Value:
    at = plain(key)
    try:
        if isinstance(at, SliceValue):
            return text[at.value]
        if isinstance(at, int):
            return text[at]
    except IndexError as error:
        raise m.throw(m.world.exception(m, "IndexError", str(error))) from None
    return m.unknown(f"{text!r}[{describe(key)}]", node, "str")


def _dict_item(m: Machine, atom: DictValue, key: Value, node: Node | None) -> Value:
    value = look_up(m, atom, key, node)
    gone = m.live & ~cover(m, value)
    if gone.is_false:
        m.record.dispatch(value, key, node)
        return value

    def missing() -> Value:
        if atom.factory is not None:
            from .calls import call

            made = call(m, atom.factory, (), {}, node)
            set_item(m, atom, key, made, node)
            return made
        raise m.throw(m.world.exception(m, "KeyError", describe(key)))

    found = m.branch(gone, missing, lambda: join(m, [p for p in alternatives(m, value) if p[1] is not MISSING]))
    m.record.dispatch(found, key, node)
    return found


def look_up(m: Machine, atom: DictValue, key: Value, node: Node | None) -> Value:
    """The value under `key`, MISSING where there is none; an unknown key may be any of them."""
    name = hash_key(m, key)
    if name is None:
        return _look_up_unknown(m, atom, key, node)
    value = settle(m, atom.entries.get(name, (None, MISSING))[1])
    if atom.other is MISSING:
        return value
    smeared = m.unknown(f"{describe(atom)}[{describe(key)}]", node)
    other = cover(m, atom.other)
    return join(m, [(m.live & other, smeared), *[(g & ~other, a) for g, a in alternatives(m, value)]])


def _look_up_unknown(m: Machine, atom: DictValue, key: Value, node: Node | None) -> Value:
    """Each entry under the guard that the key equals its name (first match wins), missing elsewhere."""
    if len(atom.entries) > 64 or atom.other is not MISSING:
        return m.unknown(f"{describe(atom)}[{describe(key)}]", node)
    rest, parts = m.live, []
    for name, value in atom.entries.values():
        hit = rest & equal(m, key, name, node)
        parts += [(g & hit, a) for g, a in alternatives(m, value) if a is not MISSING]
        rest = rest & ~(hit & cover(m, value))
    return join(m, [*[p for p in parts if not p[0].is_false], (rest, MISSING)]) if not rest.is_false else join(m, parts)


def contains(m: Machine, atom: Value, item: Value, node: Node | None) -> Value:
    """`item in atom`."""
    from .operators import _as_value

    atom = plain(atom)
    if isinstance(atom, str) and isinstance(plain(item), str):
        return plain(item) in atom
    if isinstance(atom, DictValue | SetValue):
        return _as_value(m, _member(m, atom, item, node))
    if isinstance(atom, tuple | ListValue):
        return _as_value(m, _in_items(m, items_of(m, atom, node), item, node))
    if isinstance(atom, ClassValue):
        return _as_value(m, _in_items(m, m.world.iterate_object(m, atom, node), item, node))
    if isinstance(atom, Instance):
        return _instance_contains(m, atom, item, node)
    if isinstance(atom, range) and isinstance(plain(item), int):
        return plain(item) in atom
    if isinstance(atom, CONSTANTS) and not isinstance(atom, str | bytes):
        kind = type(atom).__name__
        raise m.throw(m.world.exception(m, "TypeError", f"argument of type '{kind}' is not iterable"))
    return _as_value(m, condition(m, "in", item, atom))


def _instance_contains(m: Machine, atom: Instance, item: Value, node: Node | None) -> Value:
    from . import attributes
    from .calls import call
    from .operators import _as_value

    if attributes.class_attribute(m, atom.cls, "__contains__") is MISSING:
        return _as_value(m, condition(m, "in", item, atom))
    return call(m, attributes.get(m, atom, "__contains__", node), (item,), {}, node)


def _member(m: Machine, atom: DictValue | SetValue, item: Value, node: Node | None) -> Any:
    key = hash_key(m, item)
    if key is not None:
        here = cover(m, atom.entries.get(key, (None, MISSING))[1])
        fuzzy = cover(m, atom.other)
        return here if fuzzy.is_false else here | (fuzzy & condition(m, "in", item, atom))
    out = cover(m, atom.other) & condition(m, "in", item, atom)
    for name, value in atom.entries.values():
        out = out | (cover(m, value) & equal(m, item, name, node))
    return out


def _in_items(m: Machine, items: Value, item: Value, node: Node | None) -> Any:
    out = m.space.false
    for guard, part in alternatives(m, items):
        if isinstance(part, Unknown):
            out = out | (guard & condition(m, "in", item, part))
            continue
        for element in part:
            out = out | (guard & equal(m, item, element, node))
    return out
