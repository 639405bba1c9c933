"""The standard library and pydantic, as far as selection code asks them."""

from __future__ import annotations

import fnmatch
import math
import os
import re
from typing import TYPE_CHECKING, Any

from ..evaluate import attributes, containers
from ..evaluate.calls import call_value
from ..evaluate.classes import AutoValue, Field, fields_of
from ..evaluate.operators import constant, describe, plain
from ..evaluate.unions import each, join, settle
from ..evaluate.values import (
    CONSTANTS,
    MISSING,
    ClassValue,
    Descriptor,
    DictValue,
    FieldDefault,
    Function,
    Instance,
    ListValue,
    Native,
    NativeClass,
    Opaque,
    Partial,
    SetValue,
    Unknown,
    Value,
)
from .native import Table, argument

if TYPE_CHECKING:
    from ..evaluate.machine import Machine

Args = tuple[Value, ...]
Kwargs = dict[str, Value]
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


@table(
    "typing.final", "typing.overload", "typing.runtime_checkable", "typing_extensions.runtime_checkable",
    "typing.override", "typing_extensions.override", "typing_extensions.deprecated", "abc.abstractmethod",
    "contextlib.contextmanager", "contextlib.asynccontextmanager", "enum.unique", "functools.cache",
    "functools.total_ordering", "functools.singledispatch", "atexit.register", "typing.no_type_check",
)  # fmt: skip
def _keep(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return args[0]


@table("functools.lru_cache")
def _lru_cache(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    if args and isinstance(args[0], Function | Descriptor):
        return args[0]
    return Native("functools.lru_cache()", _keep)


@table(
    "functools.wraps", "typing.dataclass_transform", "typing_extensions.dataclass_transform",
    "pydantic.field_validator", "pydantic.model_validator", "typing_extensions.deprecated", "pydantic.field_serializer",
)  # fmt: skip
def _decorator(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return Native("a decorator that keeps what it decorates", _keep)


@table("functools.partial")
def _partial(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return Partial(args[0], args[1:], kwargs)


@table("typing.cast")
def _cast(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return argument(args, kwargs, 1, "val")


@table("typing.get_args")
def _get_args(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    atom = args[0]
    if isinstance(atom, Instance) and isinstance(atom.payload, tuple):
        return atom.payload
    return m.unknown(f"get_args({describe(atom)})")


# --- dataclasses, pydantic, enum


@table("dataclasses.dataclass", "pydantic.dataclasses.dataclass", "attrs.define", "msgspec.Struct")
def _dataclass(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    if args:
        return _made_dataclass(args[0], kwargs)
    return Native("dataclass()", lambda m, more, _: _made_dataclass(more[0], kwargs))


def _made_dataclass(cls: Value, kwargs: Kwargs) -> Value:
    if isinstance(cls, ClassValue):
        cls.flags.add("dataclass")
        frozen = kwargs.get("frozen") is True or kwargs.get("unsafe_hash") is True
        if kwargs.get("eq") is False:
            cls.flags.add("no eq")
        elif frozen:
            cls.flags.add("hash by fields")
    return cls


@table("dataclasses.field", "pydantic.Field", "pydantic.fields.Field")
def _field(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    default = argument(args, kwargs, 0, "default", MISSING)
    factory = kwargs.get("default_factory")
    if isinstance(default, Opaque):
        default = MISSING
    if default is Ellipsis:
        default = MISSING
    return FieldDefault(default, factory, kwargs.get("init", True) is not False, kwargs.get("kw_only") is True)


@table("dataclasses.fields")
def _fields(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    cls = args[0].cls if isinstance(args[0], Instance) else args[0]
    if not isinstance(cls, ClassValue):
        return m.unknown(f"fields({describe(args[0])})")
    return tuple(_field_object(m, f) for f in fields_of(m, cls))


def _field_object(m: Machine, field: Field) -> Instance:
    out = Instance(m.world.models.classes["builtins.object"], m.space.true)
    nothing = m.world.models.table["dataclasses.MISSING"]
    out.attrs |= {"name": field.name, "init": field.init, "type": m.unknown(f"the type of {field.name}")}
    out.attrs["default"] = nothing if field.default is MISSING else field.default
    out.attrs["default_factory"] = nothing if field.factory is None else field.factory
    return out


@table("dataclasses.is_dataclass")
def _is_dataclass(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    cls = args[0].cls if isinstance(args[0], Instance) else args[0]
    return isinstance(cls, ClassValue) and any("dataclass" in getattr(b, "flags", ()) for b in cls.mro)


@table("dataclasses.replace", "copy.replace")
def _replace(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    def change(atom: Value) -> Value:
        if not isinstance(atom, Instance) or not isinstance(atom.cls, ClassValue):
            return m.unknown(f"replace({describe(atom)})")
        given = {f.name: settle(m, atom.attrs.get(f.name, MISSING)) for f in fields_of(m, atom.cls) if f.init}
        return call_value(m, atom.cls, (), {**given, **kwargs})

    return each(m, args[0], change)


@table("dataclasses.asdict")
def _asdict(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return each(m, args[0], lambda a: attributes.instance_dict(m, a) if isinstance(a, Instance) else m.unknown("asdict()"))


@table("enum.auto")
def _auto(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return AutoValue()


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


@table("importlib.metadata.version", "importlib_metadata.version")
def _version(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return each(m, args[0], lambda n: m.unknown(f"version of {describe(n)}", kind="str"))


# --- os


@table("os.getenv")
def _getenv(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    from .methods import METHODS

    return METHODS[DictValue, "get"].call(m, (m.world.settings["os.environ"], *args), kwargs)


def _pure(symbol: str, run: Any) -> None:
    """A function that Python computes when its arguments are constants."""

    def native(m: Machine, args: Args, kwargs: Kwargs) -> Value:
        return _apply(m, symbol, run, args, ())

    table(symbol)(native)


def _apply(m: Machine, symbol: str, run: Any, args: Args, done: Args) -> Value:
    if args:
        return each(m, args[0], lambda a: _apply(m, symbol, run, args[1:], (*done, a)))
    values = [_python_value(m, d) for d in done]
    if any(v is MISSING for v in values):
        return m.unknown(f"{symbol}({', '.join(map(describe, done))})")
    try:
        out = run(*values)
    except (TypeError, ValueError, OverflowError, ZeroDivisionError, re.error) as error:
        name = type(error).__name__ if type(error).__module__ == "builtins" else "ValueError"
        raise m.throw(m.world.exception(m, name, str(error))) from None
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
    ("math.prod", math.prod),
    ("math.log2", math.log2),
    ("math.sqrt", math.sqrt),
    ("math.isclose", math.isclose),
    ("fnmatch.fnmatch", fnmatch.fnmatch),
    ("fnmatch.fnmatchcase", fnmatch.fnmatchcase),
    ("re.escape", re.escape),
):
    _pure(_symbol, _run)


# --- re


def _regex(name: str) -> None:
    def native(m: Machine, args: Args, kwargs: Kwargs) -> Value:
        return _search(m, name, args)

    table(f"re.{name}", f"regex.{name}")(native)


def _search(m: Machine, name: str, args: Args, done: Args = ()) -> Value:
    if args:
        return each(m, args[0], lambda a: _search(m, name, args[1:], (*done, a)))
    pattern, *rest = [_pattern_text(d) for d in done]
    if not isinstance(pattern, str) or not all(isinstance(r, str | int) for r in rest):
        return m.unknown(f"re.{name}({', '.join(map(describe, done))})")
    try:
        found = getattr(re, name)(pattern, *rest)
    except re.error as error:
        raise m.throw(m.world.exception(m, "ValueError", str(error))) from None
    if found is None or isinstance(found, str | bool):
        return found
    return ListValue(tuple(found), m.live) if isinstance(found, list) else _match(m, found)


def _pattern_text(atom: Value) -> Value:
    if isinstance(atom, Instance) and "pattern" in atom.attrs:
        return atom.attrs["pattern"]
    return plain(atom)


def _match(m: Machine, found: re.Match[str]) -> Instance:
    out = Instance(m.world.outside_class("re.Match"), m.live)

    def group(m: Machine, args: Args, kwargs: Kwargs) -> Value:
        return found.group(*(plain(a) for a in args))

    out.attrs |= {"group": Native("re.Match.group", group), "string": found.string}
    out.attrs["groups"] = Native("re.Match.groups", lambda m, args, kwargs: found.groups())
    return out


for _name in ("match", "search", "fullmatch", "sub", "split", "findall"):
    _regex(_name)


@table("re.compile", "regex.compile")
def _compile(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    out = Instance(m.world.outside_class("re.Pattern"), m.live)
    out.attrs["pattern"] = args[0]
    for name in ("match", "search", "fullmatch", "sub", "split", "findall"):
        out.attrs[name] = Partial(table.rows[f"re.{name}"], (args[0],), {})
    return out


# --- copying


@table("copy.copy")
def _copy(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return each(m, args[0], lambda a: _copied(m, a, {}, deep=False))


@table("copy.deepcopy")
def _deepcopy(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return each(m, args[0], lambda a: _copied(m, a, {}, deep=True))


def _copied(m: Machine, atom: Value, seen: dict[int, Value], deep: bool) -> Value:
    if id(atom) in seen:
        return seen[id(atom)]

    def inner(value: Value) -> Value:
        return each(m, value, lambda a: _copied(m, a, seen, deep)) if deep and value is not MISSING else value

    if isinstance(atom, Instance):
        if "enum" in getattr(atom.cls, "flags", ()):
            return atom
        out = Instance(atom.cls, m.live, atom.payload)
        seen[id(atom)] = out
        out.attrs = {k: inner(settle(m, v)) for k, v in atom.attrs.items()}
        out.payload = inner(out.payload) if out.payload is not MISSING else MISSING
        return out
    if isinstance(atom, ListValue):
        made = ListValue((), m.live)
        seen[id(atom)] = made
        made.content = each(m, atom.content, lambda i: i if isinstance(i, Unknown) else tuple(inner(x) for x in i))
        return made
    if isinstance(atom, DictValue):
        copied = containers.copy_dict(m, atom)
        seen[id(atom)] = copied
        copied.entries = {k: (n, inner(settle(m, v))) for k, (n, v) in copied.entries.items()}
        return copied
    if isinstance(atom, SetValue):
        return containers.copy_set(m, atom)
    return tuple(map(inner, atom)) if isinstance(atom, tuple) else atom


@table("contextvars.ContextVar")
def _context_var(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    """A context variable holds one value; `reset` puts back the one before."""
    out = Instance(m.world.outside_class("contextvars.ContextVar"), m.space.true)
    out.attrs["value"] = kwargs.get("default", MISSING)

    def get(m: Machine, args: Args, kwargs: Kwargs) -> Value:
        value = settle(m, out.attrs["value"])
        return value if value is not MISSING else argument(args, kwargs, 0, "default")

    def put(m: Machine, args: Args, kwargs: Kwargs) -> Value:
        old = out.attrs["value"]
        attributes.put(m, out, "value", args[0], None)
        return (old,)

    def reset(m: Machine, args: Args, kwargs: Kwargs) -> Value:
        attributes.put(m, out, "value", args[0][0], None)
        return None

    for name, run in (("get", get), ("set", put), ("reset", reset)):
        out.attrs[name] = Native(f"ContextVar.{name}", run)
    return out


@table("weakref.WeakValueDictionary", "weakref.WeakKeyDictionary", "collections.Counter")
def _empty_dict(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return containers.new_dict(m)


@table("json.loads")
def _loads(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    import json

    text = plain(args[0])
    return box_json(m, json.loads(text)) if isinstance(text, str) else m.unknown("json.loads()")


def box_json(m: Machine, value: Any) -> Value:
    """Plain JSON data as evaluated containers."""
    if isinstance(value, dict):
        out = DictValue(m.space.true)
        out.entries = {("constant", k): (k, box_json(m, v)) for k, v in value.items()}
        return out
    if isinstance(value, list | tuple):
        return ListValue(tuple(box_json(m, v) for v in value), m.space.true)
    return value


__all__ = ["CONSTANTS", "CONSTANT_ROWS", "NativeClass", "join", "table"]
