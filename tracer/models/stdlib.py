"""The standard library and pydantic, as far as selection code asks them."""

from __future__ import annotations

import fnmatch
import json
import math
import os
import re
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from ..evaluate import attributes, containers
from ..evaluate.atoms import constant, describe, plain
from ..evaluate.operators import BINARY, binary, computed
from ..evaluate.unions import each, each2, settle
from ..evaluate.values import (
    MISSING,
    DictValue,
    Instance,
    ListValue,
    Native,
    Opaque,
    Unknown,
    Value,
)
from .mapping_methods import method
from .native import Args, Kwargs, Table, argument, atoms

if TYPE_CHECKING:
    from ..evaluate.machine import Machine

table = Table()
CONSTANT_ROWS: dict[str, Value] = {
    "typing.TYPE_CHECKING": False,
    "math.inf": math.inf,
    "math.pi": math.pi,
    "os.sep": "/",
    "sys.maxsize": 2**63 - 1,
    "transformers.utils.CONFIG_NAME": "config.json",
    "dataclasses.MISSING": Opaque("dataclasses.MISSING"),
}


@table("typing.cast")
def _cast(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return argument(args, kwargs, 1, "val")


# --- importing


@table("importlib.import_module")
def _import_module(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    def load(name: Value) -> Value:
        if not isinstance(name, str):
            return m.unknown(f"import_module({describe(name)})")
        return m.world.import_module(m, name, None)

    return each(m, args[0], load)


@table("importlib.util.find_spec")
def _find_spec(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    def find(name: Value) -> Value:
        if not isinstance(name, str):
            return m.unknown(f"find_spec({describe(name)})")
        if m.world.source.module(name) is not None:
            return Opaque(f"spec of {name}")
        return m.branch(m.world.has(m, name), lambda: Opaque(f"spec of {name}"), lambda: None)

    return each(m, args[0], find)


# --- os


@table("os.getenv")
def _getenv(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return method.rows[DictValue, "get"].call(m, (m.world.settings["os.environ"], *args), kwargs)


# --- functions that Python computes


def _pure(symbol: str, run: Callable[..., Any]) -> None:
    """A function that Python computes when its arguments are constants."""

    def native(m: Machine, args: Args, kwargs: Kwargs) -> Value:
        return atoms(m, args, lambda found: _compute(m, symbol, run, found))

    table(symbol)(native)


def _compute(m: Machine, symbol: str, run: Callable[..., Any], found: Args) -> Value:
    values = [_python_value(m, d) for d in found]
    if any(v is MISSING for v in values):
        return m.unknown(f"{symbol}({', '.join(map(describe, found))})")
    out = computed(m, lambda: run(*values))
    return ListValue(tuple(out), m.live) if isinstance(out, list) else out


def _python_value(m: Machine, atom: Value) -> Value:
    value = plain(atom)
    if isinstance(value, ListValue):
        items = containers.items_of(m, value, None)
        return list(items) if isinstance(items, tuple) and constant(items) else MISSING
    return value if constant(value) else MISSING


for _symbol, _run in (
    ("os.path.join", os.path.join),
    ("os.path.dirname", os.path.dirname),
    ("os.path.basename", os.path.basename),
    ("math.floor", math.floor),
    ("math.ceil", math.ceil),
    ("math.gcd", math.gcd),
    ("math.lcm", math.lcm),
    ("math.log2", math.log2),
    ("math.sqrt", math.sqrt),
    ("math.isclose", math.isclose),
    ("math.isnan", math.isnan),
    ("math.isinf", math.isinf),
    ("fnmatch.fnmatch", fnmatch.fnmatch),
    ("fnmatch.fnmatchcase", fnmatch.fnmatchcase),
    ("re.escape", re.escape),
):
    _pure(_symbol, _run)


@table("math.prod")
def _prod(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    def product(items: Value) -> Value:
        if isinstance(items, Unknown):
            return m.unknown(f"prod({items.label})")
        out: Value = argument((), kwargs, 0, "start", 1)
        for item in items:
            out = each2(m, out, item, lambda a, b: binary(m, "*", a, b, None))
        return out

    return each(m, containers.items_of(m, args[0], None), product)


# --- operator


def _operator(symbol: str, name: str) -> None:
    def native(m: Machine, args: Args, kwargs: Kwargs) -> Value:
        return each2(m, args[0], args[1], lambda a, b: binary(m, symbol, a, b, None))

    table(f"operator.{name}", f"operator.__{name}__")(native)


for _symbol, (_, _name) in BINARY.items():
    _operator(_symbol, {"and": "and_", "or": "or_"}.get(_name, _name))


@table("operator.itemgetter")
def _itemgetter(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    def pick(m: Machine, more: Args, _: Kwargs) -> Value:
        found = tuple(each2(m, more[0], key, lambda a, k: containers.get_item(m, a, k, None)) for key in args)
        return found[0] if len(found) == 1 else found

    return Native("operator.itemgetter()", pick)


@table("operator.attrgetter")
def _attrgetter(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    def pick(m: Machine, more: Args, _: Kwargs) -> Value:
        found = tuple(_dotted(m, more[0], path) for path in args)
        return found[0] if len(found) == 1 else found

    return Native("operator.attrgetter()", pick)


def _attribute(m: Machine, name: str, atom: Value) -> Value:
    return attributes.get(m, atom, name, None)


def _dotted(m: Machine, value: Value, path: Value) -> Value:
    if not isinstance(path, str):
        return m.unknown("attrgetter()")
    for name in path.split("."):
        value = each(m, value, partial(_attribute, m, name))
    return value


# --- the rest


@table("contextvars.ContextVar")
def _context_var(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    """A context variable holds one value; `reset` puts back the one before."""
    out = Instance(m.world.outside_class("contextvars.ContextVar"), m.space.true)
    out.attrs["value"] = kwargs.get("default", MISSING)

    def get(m: Machine, args: Args, kwargs: Kwargs) -> Value:
        default = argument(args, kwargs, 0, "default", MISSING)

        def missing() -> Value:
            return (
                m.fail("LookupError", "a context variable without a value") if default is MISSING else default
            )

        return each(m, settle(m, out.attrs["value"]), lambda v: missing() if v is MISSING else v)

    def put(m: Machine, args: Args, kwargs: Kwargs) -> Value:
        old = out.attrs["value"]
        attributes.put(m, out, "value", args[0], None)
        return (old,)

    def reset(m: Machine, args: Args, kwargs: Kwargs) -> Value:
        attributes.put(m, out, "value", args[0][0], None)

    for name, run in (("get", get), ("set", put), ("reset", reset)):
        out.attrs[name] = Native(f"ContextVar.{name}", run)
    return out


@table("threading.local")
def _thread_local(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    """One thread is followed: what it has set there, and nothing else."""
    return Instance(m.world.outside_class("_thread._local"), m.space.true)


@table("weakref.WeakValueDictionary", "weakref.WeakKeyDictionary")
def _empty_dict(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return containers.new_dict(m)


@table("json.loads")
def _loads(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    def load(text: Value) -> Value:
        if not isinstance(text, str):
            return m.unknown("json.loads()")
        try:
            return box_json(m, json.loads(text))
        except json.JSONDecodeError as error:
            raise m.throw(m.world.exception(m, "json.JSONDecodeError", str(error))) from error

    return each(m, args[0], lambda atom: load(plain(atom)))


@table("json.dumps")
def _dumps(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    def dump(atom: Value) -> Value:
        found = MISSING if kwargs else unbox_json(m, atom)
        return (
            m.unknown(f"json.dumps({describe(atom)})", kind="str") if found is MISSING else json.dumps(found)
        )

    return each(m, args[0], dump)


def unbox_json(m: Machine, value: Value) -> Any:
    """Evaluated containers as plain JSON data, MISSING where not all of it is known."""
    atom = plain(settle(m, value))
    if isinstance(atom, DictValue) and atom.other is MISSING:
        parts = {key: unbox_json(m, held) for key, held in atom.entries.values()}
        return MISSING if MISSING in parts.values() or not constant(tuple(parts)) else parts
    if isinstance(atom, ListValue | tuple):
        items = atom if isinstance(atom, tuple) else containers.items_of(m, atom, None)
        found = [unbox_json(m, item) for item in items] if isinstance(items, tuple) else [MISSING]
        return MISSING if MISSING in found else found
    return atom if isinstance(atom, str | int | float | None) else MISSING


def box_json(m: Machine, value: Any) -> Value:
    """Plain JSON data as evaluated containers."""
    if isinstance(value, dict):
        out = DictValue(m.space.true)
        out.entries = {("constant", k): (k, box_json(m, v)) for k, v in value.items()}
        return out
    if isinstance(value, list | tuple):
        return ListValue(tuple(box_json(m, v) for v in value), m.space.true)
    return value
