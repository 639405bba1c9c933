"""copy.copy and copy.deepcopy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..evaluate import inheritance
from ..evaluate.calls import call_value
from ..evaluate.dicts import copy_dict
from ..evaluate.sets import copy_set
from ..evaluate.unions import each, settle
from ..evaluate.values import MISSING, DictValue, Instance, ListValue, SetValue, Unknown, Value
from .native import Args, Kwargs, Table
from .numbers import SHARED, share
from .tensors import is_tensor

if TYPE_CHECKING:
    from ..evaluate.machine import Machine

table = Table()
Seen = dict[int, Value]


@table("copy.copy")
def _copy(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return each(m, args[0], lambda a: copied(m, a, {}, deep=False))


@table("copy.deepcopy")
def _deepcopy(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    seen: Seen = {}
    return each(m, args[0], lambda a: copied(m, a, seen, deep=True))


def copied(m: Machine, atom: Value, seen: Seen, deep: bool) -> Value:
    """A copy of an atom; `seen` keeps what was copied already, so that shared parts stay shared."""
    if id(atom) in seen:
        return seen[id(atom)]
    if isinstance(atom, Instance):
        return _object(m, atom, seen, deep)
    if isinstance(atom, ListValue):
        made = seen[id(atom)] = ListValue((), m.live)
        made.content = each(
            m, atom.content, lambda i: i if isinstance(i, Unknown) else _all(m, i, seen, deep)
        )
        return made
    if isinstance(atom, DictValue):
        out = seen[id(atom)] = copy_dict(m, atom)
        out.entries = {k: (n, _part(m, settle(m, v), seen, deep)) for k, (n, v) in out.entries.items()}
        return out
    if isinstance(atom, SetValue):
        return copy_set(m, atom)
    return _all(m, atom, seen, deep) if isinstance(atom, tuple) else atom


def _part(m: Machine, value: Value, seen: Seen, deep: bool) -> Value:
    return each(m, value, lambda a: a if a is MISSING else copied(m, a, seen, deep)) if deep else value


def _all(m: Machine, items: tuple[Value, ...], seen: Seen, deep: bool) -> tuple[Value, ...]:
    return tuple(_part(m, item, seen, deep) for item in items)


def _object(m: Machine, atom: Instance, seen: Seen, deep: bool) -> Value:
    if "enum" in getattr(atom.cls, "flags", ()):
        return atom
    hook = inheritance.class_attribute(m, atom.cls, "__deepcopy__" if deep else "__copy__")
    if hook is not MISSING:
        return call_value(m, inheritance.bind(m, hook, atom), (m.unknown("memo"),) if deep else (), {})
    out = seen[id(atom)] = Instance(atom.cls, m.live, atom.payload)
    out.attrs = {k: _part(m, settle(m, v), seen, deep) for k, v in atom.attrs.items() if k != SHARED}
    if not deep and is_tensor(atom):
        share(atom, out)
    if out.payload is not MISSING:
        payload = out.payload
        out.payload = (
            copied(m, payload, seen, deep) if not isinstance(payload, tuple) else _all(m, payload, seen, deep)
        )
    return out
