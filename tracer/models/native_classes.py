"""Classes of Python and of libraries: one table, and the bare objects of them."""

from __future__ import annotations

import builtins as python_builtins
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..evaluate import containers
from ..evaluate.containers import items_of
from ..evaluate.dicts import put, update
from ..evaluate.texts import exception_repr, message
from ..evaluate.unions import each
from ..evaluate.values import (
    LIBRARY_ERROR,
    UNION,
    DictValue,
    Instance,
    ListValue,
    Native,
    NativeClass,
    SetValue,
    Value,
)
from . import iteration, tensors
from .counters import counter_class
from .native import Args, Kwargs

if TYPE_CHECKING:
    from ..evaluate.machine import Machine

OBJECT = NativeClass("builtins.object")
_CONSTRUCTORS = ("int", "float", "str", "list", "tuple", "dict", "set", "frozenset", "bool")
_PLAIN = (
    "complex", "bytes", "bytearray", "function", "method", "builtin_function_or_method", "NoneType", "module",
    "type", "slice", "range",
)  # fmt: skip
_BASES = {"bool": "int"}
_TYPING_CLASSES = ("typing.Generic", "typing.Protocol", "abc.ABC", "typing.TypedDict", "pydantic.BaseModel")
_ENUMS: dict[str, tuple[str, ...]] = {
    "enum.Enum": ("builtins.object",),
    "enum.IntEnum": ("builtins.int", "enum.Enum"),
    "enum.StrEnum": ("builtins.str", "enum.Enum"),
    "enum.Flag": ("enum.Enum",),
    "enum.IntFlag": ("builtins.int", "enum.Flag"),
}


def native_classes() -> dict[str, NativeClass]:
    out: dict[str, NativeClass] = {"builtins.object": OBJECT}
    for name in (*_PLAIN, *_CONSTRUCTORS):
        base = out.get(f"builtins.{_BASES.get(name, '')}", OBJECT)
        row = iteration.table.rows.get(f"builtins.{name}")
        out[f"builtins.{name}"] = NativeClass(
            f"builtins.{name}", (base,), construct=row.call if row else None
        )
    for _, value in sorted(vars(python_builtins).items()):
        if isinstance(value, type) and issubclass(value, BaseException):
            _exception(out, value)
    out["builtins.BaseException"].attrs |= {
        f"__{name}__": Native(f"BaseException.__{name}__", show) for name, show in _SHOWN.items()
    }
    out[LIBRARY_ERROR] = NativeClass(LIBRARY_ERROR, (out["builtins.Exception"],))
    for name in _TYPING_CLASSES:
        out[name] = NativeClass(name, (OBJECT,))
    out[UNION.symbol] = UNION
    out["typing.NamedTuple"] = NativeClass("typing.NamedTuple", (out["builtins.tuple"],))
    out["collections.Counter"] = counter_class(out["builtins.dict"])
    frozen = "dataclasses.FrozenInstanceError"
    out[frozen] = NativeClass(frozen, (out["builtins.AttributeError"],))
    out["json.JSONDecodeError"] = NativeClass("json.JSONDecodeError", (out["builtins.ValueError"],))
    out["json.decoder.JSONDecodeError"] = out["json.JSONDecodeError"]
    out["types.ModuleType"] = NativeClass("types.ModuleType", (OBJECT,))
    out["types.ModuleType"].attrs["__init__"] = Native("ModuleType.__init__", _init_module)
    space = "types.SimpleNamespace"
    out[space] = NativeClass(space, (OBJECT,))
    out[space].attrs["__init__"] = Native(f"{space}.__init__", _init_namespace)
    for name, bases in _ENUMS.items():  # a later one may derive from an earlier one
        parents = tuple(out[base] for base in bases)
        out[name] = NativeClass(name, parents)
    out |= tensors.CLASSES
    for name in ("dict", "list", "set"):
        out[f"builtins.{name}"].attrs["__init__"] = Native(f"{name}.__init__", _fill)
    out["builtins.type"].construct = lambda m, args, kwargs: _type(m, args)
    return out


def _exception(out: dict[str, NativeClass], cls: type) -> NativeClass:
    symbol = f"builtins.{cls.__name__}"
    if symbol not in out:
        base = OBJECT if cls is BaseException else _exception(out, cls.__bases__[0])
        out[symbol] = NativeClass(symbol, (base,))
        out[symbol].attrs["__init__"] = Native("BaseException.__init__", _init_exception)
    return out[symbol]


def _init_module(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    args[0].attrs["__name__"] = args[1]


def _init_namespace(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    args[0].attrs |= kwargs


def _init_exception(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    args[0].attrs["args"] = args[1:]


_SHOWN: dict[str, Callable[..., Value]] = {
    "str": lambda m, args, kwargs: message(m, args[0]),
    "repr": lambda m, args, kwargs: exception_repr(m, args[0]),
}
"""The texts of an exception, asked for by name."""


def _type(m: Machine, args: Args) -> Value:
    return each(m, args[0], lambda a: m.world.models.type_of(m, a))


def _fill(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    """`__init__` of a subclass of dict, list or set."""
    target = args[0].payload
    for more in args[1:]:
        if isinstance(target, DictValue):
            update(m, target, more, None)
        else:
            made = containers.make(
                m, "list" if isinstance(target, ListValue) else "set", items_of(m, more, None)
            )
            containers.become(m, target, made)
    for name, value in kwargs.items():
        put(m, target, name, value)


def allocate(m: Machine, cls: Value, args: Args, kwargs: Kwargs) -> Value:
    """A bare object of a class, with the payload that a builtin base gives it."""
    out = Instance(cls, m.live)
    for base in cls.mro:
        if base.symbol == "builtins.dict":
            out.payload = DictValue(m.live)
        elif base.symbol == "builtins.list":
            out.payload = ListValue((), m.live)
        elif base.symbol == "builtins.set":
            out.payload = SetValue(m.live)
        elif base.symbol in ("builtins.str", "builtins.int", "builtins.float") and args:
            out.payload = base.construct(m, args[:1], {})
        elif base.symbol == "builtins.BaseException":
            out.attrs["args"] = args
    if tensors.TENSOR in cls.mro:
        return tensors.new_parameter(m, (cls, *args), kwargs)
    return out
