"""Builtins that make or walk sequences: range, enumerate, zip, map, iter, next and the constructors."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..evaluate import containers, inheritance
from ..evaluate.atoms import describe, is_open, plain
from ..evaluate.calls import call_value
from ..evaluate.comparing import as_value
from ..evaluate.dicts import new_dict, put, update
from ..evaluate.loops import some
from ..evaluate.operators import binary, computed
from ..evaluate.sets import new_set
from ..evaluate.slices import as_index
from ..evaluate.texts import text_of
from ..evaluate.truth import truth
from ..evaluate.unions import each, each2, join, settle, store
from ..evaluate.values import MISSING, Instance, IteratorValue, ListValue, Unknown, Value
from ..evaluate.walking import Taker, generator, iterator, walk
from .native import Args, Kwargs, Table, argument, atoms, by_python

if TYPE_CHECKING:
    from ..evaluate.machine import Machine
    from ..guards import Guard

table = Table()

LONGEST = 10_000


@table("builtins.range")
def _range(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return atoms(m, args, lambda found: _range_of(m, tuple(map(plain, found))))


def _range_of(m: Machine, ends: Args) -> Value:
    if any(is_open(m, end) for end in ends):
        return m.unknown(f"range({', '.join(map(describe, ends))})")
    made = computed(m, lambda: range(*ends))
    return made if len(made) <= LONGEST else m.unknown(f"range{ends}")


# --- constructors


@table("builtins.list")
def _list(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    items = containers.items_of(m, args[0], None) if args else ()
    return ListValue(items, m.live)


@table("builtins.tuple")
def _tuple(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return containers.items_of(m, args[0], None) if args else ()


@table("builtins.set")
def _set(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return new_set(m, containers.items_of(m, args[0], None) if args else ())


@table("builtins.frozenset")
def _frozenset(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return new_set(m, containers.items_of(m, args[0], None) if args else (), frozen=True)


@table("builtins.dict", "collections.OrderedDict", "types.MappingProxyType", "pydantic.ConfigDict")
def _dict(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    out = new_dict(m)
    if args:
        update(m, out, args[0], None)
    for name, value in kwargs.items():
        put(m, out, name, value)
    return out


@table("collections.defaultdict")
def _defaultdict(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    out = new_dict(m, args[0] if args else None)
    if len(args) > 1:
        update(m, out, args[1], None)
    for name, value in kwargs.items():
        put(m, out, name, value)
    return out


@table("builtins.str")
def _str(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return each(m, args[0], lambda a: text_of(m, a)) if args else ""


@table("builtins.bool")
def _bool(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return as_value(m, truth(m, args[0])) if args else False


@table("builtins.int")
def _int(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return _number(m, "int", int, "int", args)


@table("builtins.float")
def _float(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return _number(m, "float", float, None, args)


def _number(m: Machine, name: str, run: Callable[..., Any], kind: str | None, args: Args) -> Value:
    """int() and float(): an object's own conversion first."""

    def convert(atom: Value) -> Value:
        method = (
            inheritance.class_attribute(m, atom.cls, f"__{name}__") if isinstance(atom, Instance) else MISSING
        )
        if method is not MISSING:
            return call_value(m, inheritance.bind(m, method, atom), (), {})
        return by_python(m, name, run, (atom, *args[1:]), kind)

    return each(m, args[0], convert) if args else run()


# --- iterators


def _sequence(m: Machine, value: Value, make: Callable[[Args], Args]) -> Value:
    """An iterator over what `make` does with the elements of `value`."""
    items = containers.items_of(m, value, None)
    return iterator(m, each(m, items, lambda i: m.unknown(i.label) if isinstance(i, Unknown) else make(i)))


@table("builtins.enumerate")
def _enumerate(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    start = argument(args, kwargs, 1, "start", 0)

    each(m, start, lambda atom: as_index(m, atom))

    def pair(at: Value, item: Value) -> Value:
        return (each2(m, at, start, lambda a, s: binary(m, "+", a, s, None)), item)

    def numbered(atom: Value) -> Value:
        if isinstance(atom, IteratorValue | Instance | Unknown):
            return _lazily(m, atom, pair)
        return _sequence(m, atom, lambda items: tuple(pair(at, item) for at, item in enumerate(items)))

    return each(m, args[0], numbered)


def _lazily(m: Machine, source: Value, make: Callable[[Value, Value], Value]) -> IteratorValue:
    """A generator of `make(place, element)`; how far it is may differ from path to path."""

    def start(taker: Taker) -> None:
        taken = ListValue(0, m.live)  # how many: no list, but a loop forgets it as it does what a list holds

        def step() -> Value:
            now = settle(m, taken.content)
            m.touch(taken, "content")
            taken.content = store(
                m, taken.content, each(m, now, lambda at: binary(m, "+", at, 1, None)), taken.born
            )
            return now

        def rest(items: Unknown) -> None:
            def turn(value: Value) -> None:
                make(step(), value)
                taker.rest(m.unknown(items.label))

            some(m, items, turn, None)

        walk(m, source, Taker(lambda value: taker.item(make(step(), value)), rest), None)

    return generator(m, start)


@table("builtins.map")
def _map(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    if len(args) == 2:
        return _lazily(m, args[1], lambda _, item: call_value(m, args[0], (item,), {}))
    rows = [containers.items_of(m, a, None) for a in args[1:]]
    return iterator(m, atoms(m, tuple(rows), lambda found: _mapped(m, args[0], found)))


def _mapped(m: Machine, func: Value, rows: Args) -> Value:
    unknown = next((row for row in rows if isinstance(row, Unknown)), None)
    if unknown is not None:
        given = tuple(m.unknown(f"an element of {describe(row)}") for row in rows)
        some(m, unknown, lambda _: call_value(m, func, given, {}), None)
        return m.unknown("map()")
    return tuple(call_value(m, func, given, {}) for given in zip(*rows, strict=False))


@table("builtins.filter")
def _filter(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    def start(taker: Taker) -> None:
        def kept(value: Value, take: Callable[[], None]) -> None:
            holds = truth(m, value if args[0] is None else call_value(m, args[0], (value,), {}))
            m.branch(holds, take, lambda: None)

        def rest(items: Unknown) -> None:
            some(m, items, lambda value: kept(value, lambda: taker.rest(m.unknown(items.label))), None)

        walk(m, args[1], Taker(lambda value: kept(value, lambda: taker.item(value)), rest), None)

    return generator(m, start)


@table("builtins.zip")
def _zip(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    rows = tuple(containers.items_of(m, a, None) for a in args)
    return iterator(m, atoms(m, rows, lambda found: _zipped(m, found, kwargs.get("strict", False))))


def _zipped(m: Machine, rows: Args, strict: Value) -> Value:
    if any(isinstance(row, Unknown) for row in rows):
        return m.unknown("zip()")
    if strict is True and len(set(map(len, rows))) > 1:
        return m.fail("ValueError", "zip() arguments have different lengths")
    return tuple(zip(*rows, strict=False))


@table("builtins.reversed")
def _reversed(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return _sequence(m, args[0], lambda items: tuple(reversed(items)))


@table("builtins.iter")
def _iter(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return each(m, args[0], lambda atom: atom if isinstance(atom, IteratorValue) else _iterator_of(m, atom))


def _iterator_of(m: Machine, atom: Value) -> Value:
    """What iterating gives, as an iterator; a list that changes afterwards is not seen to."""
    method = inheritance.class_attribute(m, atom.cls, "__iter__") if isinstance(atom, Instance) else MISSING
    if method is not MISSING:
        return call_value(m, inheritance.bind(m, method, atom), (), {})
    return _sequence(m, atom, lambda items: items)


@table("builtins.next")
def _next(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    """The next element of an iterator, which loses it."""
    return each(m, args[0], lambda atom: _take_one(m, atom, args[1:]))


def _take_one(m: Machine, atom: Value, default: Args) -> Value:
    if isinstance(atom, Unknown):
        return m.unknown(f"next({atom.label})")
    parts: list[tuple[Guard, Value]] = []

    def item(value: Value) -> None:
        parts.append((m.live, value))
        m.live = m.space.false

    def rest(items: Unknown) -> None:
        if not default:
            m.may_raise(f"{items.label} is empty", "StopIteration")
        item(m.unknown(f"next({items.label})"))

    walk(m, atom, Taker(item, rest), None)
    if not m.live.is_false:
        parts += _ended(m, default)
    for guard, _ in parts:
        m.live = m.live | guard
    if m.live.is_false:
        raise m.kill()
    return join(m, parts)


def _ended(m: Machine, default: Args) -> list[tuple[Guard, Value]]:
    if default:
        return [(m.live, default[0])]
    m.raised[-1].append((m.live, m.world.exception(m, "StopIteration")))
    m.live = m.space.false
    return []


# --- itertools


@table("itertools.chain")
def _chain(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return _chained(m, args)


@table("itertools.chain.from_iterable")
def _chain_from(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return _chained(m, args[0])


def _chained(m: Machine, parts: Value) -> Value:
    def start(taker: Taker) -> None:
        walk(m, parts, Taker(lambda part: walk(m, part, taker, None), taker.rest), None)

    return generator(m, start)


@table("itertools.pairwise")
def _pairwise(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return _sequence(m, args[0], lambda items: tuple(itertools.pairwise(items)))


@table("itertools.product")
def _product(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    rows = tuple(containers.items_of(m, a, None) for a in args)
    return iterator(m, atoms(m, rows, lambda found: _multiplied(m, found, kwargs.get("repeat", 1))))


def _multiplied(m: Machine, rows: Args, repeat: Value) -> Value:
    if any(isinstance(row, Unknown) for row in rows) or not isinstance(repeat, int):
        return m.unknown("product()")
    return tuple(itertools.product(*rows, repeat=repeat))
