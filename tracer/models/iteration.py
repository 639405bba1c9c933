"""Builtins that make or walk sequences: range, enumerate, zip, sorted, map, next and the constructors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..evaluate import attributes, containers
from ..evaluate.calls import call_value
from ..evaluate.operators import constant, describe, plain
from ..evaluate.texts import text_of
from ..evaluate.truth import truth
from ..evaluate.unions import alternatives, each
from ..evaluate.values import MISSING, DictValue, Instance, ListValue, SetValue, Unknown, Value
from .builtins import _apply, _as_value
from .native import Table, argument

if TYPE_CHECKING:
    from ..evaluate.machine import Machine

Args = tuple[Value, ...]
Kwargs = dict[str, Value]
table = Table()


@table("builtins.range")
def _range(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return _range_of(m, args, ())


def _range_of(m: Machine, args: Args, done: Args) -> Value:
    if args:
        return each(m, args[0], lambda a: _range_of(m, args[1:], (*done, plain(a))))
    if all(isinstance(d, int) for d in done):
        made = range(*done)
        return made if len(made) <= 10_000 else m.unknown(f"range{done}")
    return m.unknown(f"range({', '.join(map(describe, done))})")


def _sequence(m: Machine, value: Value, make: Any, label: str) -> Value:
    """A new list made from the elements of `value`, or an unknown."""
    items = containers.items_of(m, value, None)

    def build(items: Value) -> Value:
        return m.unknown(f"{label}({items.label})") if isinstance(items, Unknown) else make(items)

    return each(m, items, build)


@table("builtins.list")
def _list(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    items = containers.items_of(m, args[0], None) if args else ()
    return ListValue(items, m.live)


@table("builtins.tuple")
def _tuple(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return containers.items_of(m, args[0], None) if args else ()


@table("builtins.set", "builtins.frozenset")
def _set(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return containers.make(m, "set", containers.items_of(m, args[0], None) if args else ())


@table("builtins.dict", "collections.OrderedDict", "types.MappingProxyType", "pydantic.ConfigDict")
def _dict(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    out = containers.new_dict(m)
    if args:
        containers.update(m, out, args[0], None)
    for name, value in kwargs.items():
        containers.set_item(m, out, name, value, None)
    return out


@table("collections.defaultdict")
def _defaultdict(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    out = containers.new_dict(m, args[0] if args else None)
    if len(args) > 1:
        containers.update(m, out, args[1], None)
    return out


@table("builtins.str")
def _str(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return each(m, args[0], lambda a: text_of(m, a)) if args else ""


@table("builtins.bool")
def _bool(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return _as_value(m, truth(m, args[0])) if args else False


@table("builtins.int")
def _int(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return _number(m, "int", int, "int", args)


@table("builtins.float")
def _float(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return _number(m, "float", float, None, args)


def _number(m: Machine, name: str, run: Any, kind: str | None, args: Args) -> Value:
    """int() and float(): an object's own conversion first."""

    def convert(atom: Value) -> Value:
        method = attributes.class_attribute(m, atom.cls, f"__{name}__") if isinstance(atom, Instance) else MISSING
        if method is not MISSING:
            return call_value(m, attributes.bind(m, method, atom), (), {})
        return _apply(m, name, run, kind, (atom, *args[1:]), ())

    return each(m, args[0], convert) if args else run()


@table("builtins.enumerate")
def _enumerate(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    start = argument(args, kwargs, 1, "start", 0)
    return _sequence(m, args[0], lambda items: tuple((start + at, i) for at, i in enumerate(items)), "enumerate")


@table("builtins.zip")
def _zip(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return _zipped(m, args, ())


def _zipped(m: Machine, args: Args, done: Args) -> Value:
    if args:
        items = containers.items_of(m, args[0], None)
        return each(m, items, lambda i: _zipped(m, args[1:], (*done, i)))
    if any(isinstance(d, Unknown) for d in done):
        return m.unknown("zip()")
    return tuple(zip(*done, strict=False))


@table("builtins.reversed")
def _reversed(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return _sequence(m, args[0], lambda items: tuple(reversed(items)), "reversed")


@table("builtins.iter")
def _iter(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return _sequence(m, args[0], lambda items: ListValue(items, m.live), "iter")


@table("builtins.map")
def _map(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return _sequence(m, args[1], lambda items: tuple(call_value(m, args[0], (i,), {}) for i in items), "map")


@table("builtins.filter")
def _filter(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    def keep(items: Args) -> Value:
        out = ListValue((), m.live)
        for item in items:
            holds = truth(m, item if args[0] is None else call_value(m, args[0], (item,), {}))
            m.branch(holds, lambda item=item: containers.append(m, out, item), lambda: None)
        return out

    return _sequence(m, args[1], keep, "filter")


@table("builtins.next")
def _next(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    """The first element; a list that stands for an iterator loses it."""

    def first(items: Value, atom: Value) -> Value:
        if isinstance(items, Unknown):
            return m.unknown(f"next({items.label})")
        if items:
            if isinstance(atom, ListValue):
                from ..evaluate.unions import store

                atom.content = store(m, atom.content, items[1:], atom.born)
            return items[0]
        if len(args) > 1:
            return args[1]
        raise m.throw(m.world.exception(m, "StopIteration", ""))

    return each(m, args[0], lambda atom: each(m, containers.items_of(m, atom, None), lambda i: first(i, atom)))


@table("builtins.sorted")
def _sorted(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return _sequence(m, args[0], lambda items: _sort(m, items, kwargs), "sorted")


def _sort(m: Machine, items: Args, kwargs: Kwargs) -> Value:
    key = kwargs.get("key")
    measures = [i if key is None else call_value(m, key, (i,), {}) for i in items]
    measures = [_measure(x) for x in measures]
    if any(x is MISSING for x in measures):
        return ListValue(m.unknown("sorted()"), m.live)
    order = sorted(range(len(items)), key=lambda at: measures[at], reverse=bool(kwargs.get("reverse", False)))
    return ListValue(tuple(items[at] for at in order), m.live)


def _measure(value: Value) -> Value:
    value = plain(value)
    return value if constant(value) else MISSING


@table("itertools.chain", "itertools.chain.from_iterable")
def _chain(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    out = ListValue((), m.live)
    for part in args:
        containers.extend(m, out, part, None)
    return out


@table("itertools.pairwise")
def _pairwise(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return _sequence(m, args[0], lambda items: tuple(zip(items, items[1:], strict=False)), "pairwise")


@table("itertools.product")
def _product(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    import itertools

    parts = [containers.items_of(m, a, None) for a in args]
    if all(isinstance(p, tuple) for p in parts):
        return tuple(itertools.product(*parts))
    return m.unknown("product()")


__all__ = ["DictValue", "SetValue", "alternatives", "table"]
