"""What `typing` tells of a type: its origin and its arguments."""

from __future__ import annotations

import builtins
import typing
from typing import TYPE_CHECKING

from ..evaluate.atoms import describe
from ..evaluate.unions import each, join
from ..evaluate.values import ClassValue, Instance, NativeClass, Opaque, UnionType, Unknown, Value
from .native import Args, Kwargs, Table

if TYPE_CHECKING:
    from ..evaluate.machine import Machine

table = Table()
_NONE = "builtins.NoneType"
_OPTIONAL = "typing.Optional"


@table("typing.get_args")
def _get_args(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return each(m, args[0], lambda atom: _arguments(m, atom))


def _arguments(m: Machine, atom: Value) -> Value:
    if isinstance(atom, Instance) and isinstance(atom.payload, tuple):
        return atom.payload
    if isinstance(atom, UnionType):
        return tuple(m.world.models.classes[_NONE] if part is None else part for part in atom.parts)
    return m.unknown(f"get_args({describe(atom)})")


def _aliases() -> dict[str, str]:
    """Names of `typing` that have an origin without brackets, and that origin: `List` is of `list`."""
    found = ((name, typing.get_origin(getattr(typing, name))) for name in typing.__all__)
    return {f"typing.{n}": f"{o.__module__}.{o.__qualname__}" for n, o in found if o is not None}


ALIASES = _aliases()


@table("typing.get_origin")
def _get_origin(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return each(m, args[0], lambda atom: _origin(m, atom))


def _origin(m: Machine, atom: Value) -> Value:
    """What a type with brackets is of, None without; a generic class here is the same with and without."""
    if isinstance(atom, UnionType) or (isinstance(atom, Instance) and isinstance(atom.payload, tuple)):
        return atom.cls
    if isinstance(atom, Unknown | Opaque):
        return m.unknown(f"get_origin({describe(atom)})")
    if not isinstance(atom, ClassValue | NativeClass):
        return None
    if atom.symbol in ALIASES:
        return m.world.library(m, ALIASES[atom.symbol], None)
    if not any(_takes_parameters(m, base) for base in atom.mro):
        return None
    of = m.world.library(m, "typing.Union", None) if atom.symbol == _OPTIONAL else atom
    given = m.live & m.holds(m.unknown(f"{describe(atom)} stands in brackets"))
    return join(m, [(given, of), (m.live & ~given, None)])


def _takes_parameters(m: Machine, base: Value) -> bool:
    """Whether a class lets those that derive from it be written with brackets."""
    if not isinstance(base, NativeClass) or base.symbol == "builtins.object":
        return False
    owner, _, name = base.symbol.rpartition(".")
    if owner == "builtins":
        return name == "type" or hasattr(getattr(builtins, name, None), "__class_getitem__")
    return base.symbol in ("typing.Generic", "typing.Protocol") or m.world.is_open(base)
