"""What kind of thing a value is: type, isinstance, issubclass, callable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..evaluate import inheritance
from ..evaluate.comparing import as_value, condition
from ..evaluate.unions import alternatives, each
from ..evaluate.values import (
    MISSING,
    Bound,
    ClassValue,
    Descriptor,
    Function,
    Instance,
    Native,
    NativeClass,
    Opaque,
    Partial,
    UnionType,
    Unknown,
    Value,
    Wrapper,
)
from .native import Args, Kwargs, Table

if TYPE_CHECKING:
    from ..evaluate.machine import Machine
    from ..guards import Guard

table = Table()

KIND_CLASSES = {
    "int": "builtins.int",
    "bool": "builtins.bool",
    "str": "builtins.str",
    "tensor": "torch.Tensor",
}
SEQUENCES = {"builtins.list", "builtins.tuple", "builtins.str", "builtins.range"}
COLLECTIONS = {*SEQUENCES, "builtins.dict", "builtins.set", "builtins.frozenset"}
VIRTUAL = {
    "Sequence": SEQUENCES,
    "MutableSequence": {"builtins.list"},
    "Mapping": {"builtins.dict"},
    "MutableMapping": {"builtins.dict"},
    "Set": {"builtins.set", "builtins.frozenset"},
    "Iterable": COLLECTIONS,
    "Collection": COLLECTIONS,
    "Sized": COLLECTIONS,
    "Container": COLLECTIONS,
    "Callable": {
        "builtins.function",
        "builtins.method",
        "builtins.builtin_function_or_method",
        "builtins.type",
    },
}
"""Abstract classes, of `typing` and of `collections.abc`, and what counts as an instance without
inheriting.
"""


@table("builtins.isinstance")
def _isinstance(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return each(m, args[0], lambda a: each(m, args[1], lambda c: as_value(m, is_instance(m, a, c))))


def _parts(m: Machine, cls: Value) -> Value:
    """The classes of a union of types as a tuple; anything else as it is."""
    if not isinstance(cls, UnionType):
        return cls
    none = m.world.models.classes["builtins.NoneType"]
    return tuple(none if part is None else part for part in cls.parts)


def is_instance(m: Machine, atom: Value, cls: Value) -> Guard:
    """The guard that `isinstance(atom, cls)`."""
    cls = _parts(m, cls)
    if isinstance(cls, tuple):
        out = m.space.false
        for part in cls:
            for guard, one in alternatives(m, part):
                out = out | (guard & is_instance(m, atom, one))
        return out
    if isinstance(atom, Unknown):
        return _unknown_is(m, atom, cls)
    kind = m.world.models.type_of(m, atom)
    if isinstance(kind, Unknown) or isinstance(cls, Unknown):
        return condition(m, "isinstance", atom, cls)
    if isinstance(cls, Opaque):
        return condition(m, "isinstance", atom, cls) if isinstance(atom, Opaque) else m.space.false
    if isinstance(cls, ClassValue | NativeClass):
        return _yes(m, cls in kind.mro or _virtual(kind, cls.symbol))
    return _yes(m, isinstance(cls, Native) and _virtual(kind, cls.symbol))


def _yes(m: Machine, holds: bool) -> Guard:
    return m.space.true if holds else m.space.false


def _unknown_is(m: Machine, atom: Unknown, cls: Value) -> Guard:
    if atom.kind is not None and isinstance(cls, NativeClass):
        known = m.world.models.classes.get(KIND_CLASSES.get(atom.kind, ""))
        if known is not None:
            return _yes(m, cls in known.mro)
    return condition(m, "isinstance", atom, cls)


def _virtual(kind: Any, symbol: str) -> bool:
    if not symbol.startswith(("collections.abc.", "typing.")):
        return False
    return any(base.symbol in VIRTUAL.get(symbol.rpartition(".")[2], ()) for base in kind.mro)


@table("builtins.issubclass")
def _issubclass(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return each(m, args[0], lambda a: each(m, args[1], lambda c: as_value(m, _is_subclass(m, a, c))))


def _is_subclass(m: Machine, atom: Value, cls: Value) -> Guard:
    cls = _parts(m, cls)
    if isinstance(cls, tuple):
        out = m.space.false
        for part in cls:
            for guard, one in alternatives(m, part):
                out = out | (guard & _is_subclass(m, atom, one))
        return out
    if isinstance(atom, ClassValue | NativeClass) and isinstance(cls, ClassValue | NativeClass):
        return _yes(m, cls in atom.mro or _virtual(atom, cls.symbol))
    return condition(m, "issubclass", atom, cls)


@table("builtins.callable")
def _callable(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return each(m, args[0], lambda a: as_value(m, _is_callable(m, a)))


CALLABLE = Function | Native | Bound | Partial | ClassValue | NativeClass | Opaque | Descriptor | Wrapper


def _is_callable(m: Machine, atom: Value) -> Guard:
    if isinstance(atom, Unknown):
        return condition(m, "is", m.unknown(f"callable({atom.label})"), True)
    if isinstance(atom, Instance):
        return _yes(m, inheritance.class_attribute(m, atom.cls, "__call__") is not MISSING)
    return _yes(m, isinstance(atom, CALLABLE))
