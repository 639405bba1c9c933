"""Methods of str, list, dict, set and tuple over evaluated values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..evaluate import containers
from ..evaluate.hashing import equal
from ..evaluate.operators import constant, describe, plain
from ..evaluate.unions import alternatives, cover, each, join, settle, store
from ..evaluate.values import CONSTANTS, MISSING, DictValue, Instance, ListValue, Native, SetValue, Unknown, Value

if TYPE_CHECKING:
    from ..evaluate.machine import Machine

Args = tuple[Value, ...]
Kwargs = dict[str, Value]

METHODS: dict[tuple[type, str], Native] = {}


def _declare(kind: type, *names: str) -> Any:
    def keep(run: Any) -> Any:
        for name in names:
            METHODS[kind, name] = Native(f"{kind.__name__}.{name}", run)
        return run

    return keep


def python_method(kind: type, name: str) -> Native | None:
    """A method of an immutable constant, run by Python itself when everything is known."""
    if not hasattr(kind, name) or name.startswith("__"):
        return None

    def run(m: Machine, args: Args, kwargs: Kwargs) -> Value:
        return _python(m, name, args, kwargs, ())

    return Native(f"{kind.__name__}.{name}", run)


def _python(m: Machine, name: str, args: Args, kwargs: Kwargs, done: Args) -> Value:
    if args:
        return each(m, args[0], lambda a: _python(m, name, args[1:], kwargs, (*done, a)))
    values = tuple(_known(m, d) for d in done)
    named = {k: _known(m, settle(m, v)) for k, v in kwargs.items()}
    if any(v is MISSING for v in (*values, *named.values())):
        kind = "bool" if name.startswith(("is", "startswith", "endswith")) else "str"
        return m.unknown(f"{describe(done[0])}.{name}({', '.join(map(describe, done[1:]))})", kind=kind)
    try:
        return _box(m, getattr(values[0], name)(*values[1:], **named))
    except (TypeError, ValueError, IndexError, KeyError, LookupError) as error:
        raise m.throw(m.world.exception(m, type(error).__name__, str(error))) from None


def _known(m: Machine, atom: Value) -> Value:
    """The Python value of an atom made of constants alone, MISSING otherwise."""
    value = plain(atom)
    if constant(value):
        return value
    if isinstance(value, ListValue | SetValue):
        items = containers.items_of(m, value, None)
        parts = [_known(m, settle(m, i)) for i in items] if isinstance(items, tuple) else [MISSING]
        return MISSING if any(p is MISSING for p in parts) else parts
    return MISSING


def _box(m: Machine, value: Any) -> Value:
    return ListValue(tuple(value), m.live) if isinstance(value, list) else value


@_declare(ListValue, "append")
def _append(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    m.record.noted(args[0], args[1], None)
    containers.append(m, args[0], args[1])
    return None


@_declare(ListValue, "extend")
def _extend(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    containers.extend(m, args[0], args[1], None)
    return None


def _change(m: Machine, target: ListValue, change: Any) -> Value:
    """Replace the content by `change(items)`, which gives (new items, result)."""
    result: list[tuple[Any, Value]] = []

    def apply(items: Value) -> Value:
        if isinstance(items, Unknown):
            result.append((m.live, m.unknown(f"an element of {items.label}")))
            return items
        new, out = change(items)
        result.append((m.live, out))
        return new

    changed = each(m, target.content, apply)
    target.content = store(m, target.content, changed, target.born)
    return join(m, result)


@_declare(ListValue, "insert")
def _insert(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    at = plain(args[1])
    if not isinstance(at, int):
        return _smear(m, args[0])
    return _change(m, args[0], lambda items: ((*items[:at], args[2], *items[at:]), None))


def _smear(m: Machine, target: ListValue) -> Value:
    target.content = store(m, target.content, m.unknown("a list changed at an unknown place"), target.born)
    return None


@_declare(ListValue, "pop")
def _pop(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    at = plain(args[1]) if len(args) > 1 else -1

    def change(items: Args) -> tuple[Value, Value]:
        if not isinstance(at, int) or not -len(items) <= at < len(items):
            raise m.throw(m.world.exception(m, "IndexError", "pop index out of range"))
        where = at % len(items)
        return (*items[:where], *items[where + 1 :]), items[where]

    return _change(m, args[0], change)


@_declare(ListValue, "remove")
def _remove(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    def change(items: Args) -> tuple[Value, Value]:
        for at, item in enumerate(items):
            hit = m.live & equal(m, item, args[1])
            if hit is m.live:
                return (*items[:at], *items[at + 1 :]), None
            if not hit.is_false:
                return m.unknown("a list after remove()"), None
        raise m.throw(m.world.exception(m, "ValueError", "list.remove(x): x not in list"))

    return _change(m, args[0], change)


@_declare(ListValue, "clear")
def _clear(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return _change(m, args[0], lambda items: ((), None))


@_declare(ListValue, "reverse")
def _reverse(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return _change(m, args[0], lambda items: (tuple(reversed(items)), None))


@_declare(ListValue, "sort")
def _sort(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    from .iteration import _sort as sort

    return _change(m, args[0], lambda items: (sort(m, items, kwargs).content, None))


@_declare(ListValue, "copy")
def _copy(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return ListValue(settle(m, args[0].content), m.live)


@_declare(tuple, "index")
@_declare(ListValue, "index")
def _index(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    def find(items: Value) -> Value:
        if isinstance(items, Unknown):
            return m.unknown(f"{items.label}.index()", kind="int")
        rest, parts = m.live, []
        for at, item in enumerate(items):
            hit = rest & equal(m, item, args[1])
            if not hit.is_false:
                parts.append((hit, at))
                rest = rest & ~hit
        if not rest.is_false:
            return m.branch(rest, lambda: _not_there(m), lambda: join(m, parts))
        return join(m, parts)

    return each(m, containers.items_of(m, args[0], None), find)


def _not_there(m: Machine) -> Value:
    raise m.throw(m.world.exception(m, "ValueError", "value is not in list"))


@_declare(tuple, "count")
@_declare(ListValue, "count")
def _count(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    from ..evaluate.operators import binary
    from ..evaluate.unions import each2

    def count(items: Value) -> Value:
        if isinstance(items, Unknown):
            return m.unknown(f"{items.label}.count()", kind="int")
        total: Value = 0
        for item in items:
            hit = m.live & equal(m, item, args[1])
            one = 1 if hit is m.live else 0 if hit.is_false else join(m, [(hit, 1), (m.live & ~hit, 0)])
            total = each2(m, total, one, lambda a, b: binary(m, "+", a, b, None))
        return total

    return each(m, containers.items_of(m, args[0], None), count)


@_declare(DictValue, "get")
def _get(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    default = args[2] if len(args) > 2 else kwargs.get("default")

    def read(key: Value) -> Value:
        value = containers.look_up(m, args[0], key, None)
        parts = [(g, default if a is MISSING else a) for g, a in alternatives(m, value)]
        found = join(m, parts)
        m.record.dispatch(found, key, None)
        return found

    return each(m, args[1], read)


@_declare(DictValue, "setdefault")
def _setdefault(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    default = args[2] if len(args) > 2 else None

    def read(key: Value) -> Value:
        value = containers.look_up(m, args[0], key, None)
        gone = m.live & ~cover(m, value)
        if not gone.is_false:
            m.branch(gone, lambda: containers.set_item(m, args[0], key, default, None), lambda: None)
        return containers.look_up(m, args[0], key, None)

    return each(m, args[1], read)


@_declare(DictValue, "pop")
def _dict_pop(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    def take(key: Value) -> Value:
        if len(args) > 2:
            value = _get(m, (args[0], key, args[2]), {})
        else:
            value = containers.get_item(m, args[0], key, None)
        containers.discard(m, args[0], key)
        return value

    return each(m, args[1], take)


@_declare(DictValue, "keys")
def _keys(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return containers.make(m, "set", containers.keys_of(m, args[0]))


@_declare(DictValue, "values")
def _values(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    keys = containers.keys_of(m, args[0])
    return each(m, keys, lambda ks: ks if isinstance(ks, Unknown) else tuple(containers.get_item(m, args[0], k, None) for k in ks))


@_declare(DictValue, "items")
def _items(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    keys = containers.keys_of(m, args[0])

    def pairs(ks: Value) -> Value:
        return ks if isinstance(ks, Unknown) else tuple((k, containers.get_item(m, args[0], k, None)) for k in ks)

    return each(m, keys, pairs)


@_declare(DictValue, "update")
def _update(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    for part in args[1:]:
        containers.update(m, args[0], part, None)
    for name, value in kwargs.items():
        containers.set_item(m, args[0], name, value, None)
    return None


@_declare(DictValue, "copy")
def _dict_copy(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return containers.copy_dict(m, args[0])


@_declare(DictValue, "clear")
@_declare(SetValue, "clear")
def _clear_entries(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    for key, (name, value) in list(args[0].entries.items()):
        args[0].entries[key] = (name, store(m, value, MISSING, args[0].born))
    return None


@_declare(SetValue, "add")
def _add(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    containers.add(m, args[0], args[1])
    return None


@_declare(SetValue, "update")
def _set_update(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    from ..evaluate.statements import _add_all

    for part in args[1:]:
        each(m, containers.items_of(m, part, None), lambda items: _add_all(m, args[0], items))
    return None


@_declare(SetValue, "discard", "remove")
def _discard(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    each(m, args[1], lambda a: containers.discard(m, args[0], a))
    return None


@_declare(SetValue, "copy")
def _set_copy(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return containers.copy_set(m, args[0])


def _combining(name: str, keep: Any) -> None:
    def run(m: Machine, args: Args, kwargs: Kwargs) -> Value:
        out = args[0]
        for part in args[1:]:
            other = containers.make(m, "set", containers.items_of(m, part, None))
            out = containers.combine_sets(m, out, other, keep)
        return out

    METHODS[SetValue, name] = Native(f"set.{name}", run)


_combining("union", lambda a, b: a or b)
_combining("intersection", lambda a, b: a and b)
_combining("difference", lambda a, b: a and not b)
_combining("symmetric_difference", lambda a, b: a != b)


def _subset(name: str, flip: bool) -> None:
    def run(m: Machine, args: Args, kwargs: Kwargs) -> Value:
        from ..evaluate.operators import _as_value

        other = containers.make(m, "set", containers.items_of(m, args[1], None))
        small, large = (other, args[0]) if flip else (args[0], other)
        out = m.space.true
        for key, (_, value) in small.entries.items():
            there = cover(m, large.entries.get(key, (None, MISSING))[1])
            out = out & (~cover(m, value) | there)
        return _as_value(m, out)

    METHODS[SetValue, name] = Native(f"set.{name}", run)


_subset("issubset", False)
_subset("issuperset", True)

__all__ = ["CONSTANTS", "METHODS", "Instance", "python_method"]
