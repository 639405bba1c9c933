"""collections.Counter: a dict in which what was never counted is 0."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..evaluate.atoms import plain
from ..evaluate.dicts import new_dict, put
from ..evaluate.entries import keys_of, look_up
from ..evaluate.operators import binary
from ..evaluate.unions import each, each2, store
from ..evaluate.values import MISSING, DictValue, Instance, Native, NativeClass, Unknown, Value
from ..evaluate.walking import Taker, walk
from .native import Args, Kwargs

if TYPE_CHECKING:
    from ..evaluate.machine import Machine


def counter_class(base: NativeClass) -> NativeClass:
    """The class, below that of dicts."""
    out = NativeClass("collections.Counter", (base,))
    out.construct = lambda m, args, kwargs: _new(m, out, args, kwargs)
    out.attrs["update"] = Native("Counter.update", _update)
    out.attrs["__missing__"] = Native("Counter.__missing__", lambda m, args, kwargs: 0)
    return out


def _new(m: Machine, cls: NativeClass, args: Args, kwargs: Kwargs) -> Value:
    out = Instance(cls, m.live, new_dict(m))
    return each(m, _update(m, (out, *args), kwargs), lambda _: out)


def _update(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    target = args[0].payload
    for more in args[1:]:
        each(m, more, lambda atom: _count(m, target, plain(atom)))
    for name, value in kwargs.items():
        _add(m, target, name, value)
    return None


def _count(m: Machine, target: DictValue, atom: Value) -> None:
    if isinstance(atom, DictValue):
        each(m, keys_of(m, atom), lambda keys: _add_all(m, target, atom, keys))
    else:
        walk(
            m,
            atom,
            Taker(lambda item: _add(m, target, item, 1), lambda items: _smear(m, target, items)),
            None,
        )


def _add_all(m: Machine, target: DictValue, source: DictValue, keys: Value) -> None:
    if isinstance(keys, Unknown):
        _smear(m, target, keys)
        return
    for key in keys:
        _add(m, target, key, look_up(m, source, key, None))


def _add(m: Machine, target: DictValue, item: Value, more: Value) -> None:
    def add(key: Value) -> None:
        old = each(m, look_up(m, target, key, None), lambda v: 0 if v is MISSING else v)
        put(m, target, key, each2(m, old, more, lambda a, b: binary(m, "+", a, b, None)))

    each(m, item, add)


def _smear(m: Machine, target: DictValue, items: Unknown) -> None:
    m.touch(target, "other")
    target.other = store(m, target.other, items, target.born)
