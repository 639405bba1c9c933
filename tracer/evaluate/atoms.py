"""What can be said of any atom: the constant behind it, its name in labels, whether it is all known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .values import (
    CONSTANTS,
    MISSING,
    Bound,
    ClassValue,
    DictValue,
    Function,
    Instance,
    ListValue,
    Native,
    NativeClass,
    Opaque,
    SetValue,
    Token,
    Unknown,
    Value,
    Wrapper,
)

if TYPE_CHECKING:
    from .machine import Machine


def plain(atom: Value) -> Value:
    """The Python constant or container behind an atom: itself, or the payload of a subclass of str, int,
    dict.
    """
    if isinstance(atom, Instance) and atom.payload is not MISSING:
        return atom.payload
    return atom


def constant(atom: Value) -> bool:
    """Whether Python can compute with `atom` directly: a constant, or a tuple of such."""
    if isinstance(atom, tuple):
        return all(map(constant, atom))
    return isinstance(atom, CONSTANTS)


def describe(atom: Value) -> str:
    """An atom in a few words, for labels and conditions."""
    if isinstance(atom, Unknown):
        return atom.label
    if isinstance(atom, tuple):
        return f"({', '.join(map(describe, atom))})"
    if isinstance(atom, Instance):
        return describe(atom.payload) if atom.payload is not MISSING else f"<{atom.cls.name}>"
    if isinstance(atom, ClassValue | NativeClass):
        return atom.name
    if isinstance(atom, Function | Native | Opaque | Token | Wrapper):
        return atom.symbol
    if isinstance(atom, Bound):
        return describe(atom.func)
    if isinstance(atom, ListValue | DictValue | SetValue):
        return f"<{type(atom).__name__.removesuffix('Value').lower()}>"
    return repr(atom) if isinstance(atom, CONSTANTS) else "<values>"


def is_tensor(atom: Value) -> bool:
    if isinstance(atom, Instance):
        return any(base.symbol == "torch.Tensor" for base in atom.cls.mro)
    return isinstance(atom, Unknown) and atom.kind == "tensor"


def number_kind(*atoms: Value) -> str | None:
    """`int` when the result of arithmetic on `atoms` is certainly one."""
    if any(map(is_tensor, atoms)):
        return "tensor"
    kinds = {a.kind if isinstance(a, Unknown) else type(a).__name__ for a in atoms}
    return "int" if kinds <= {"int", "bool"} else None


def is_positive(atom: Value) -> bool:
    """Whether an atom is certainly a whole number of 1 at least."""
    number = plain(atom)
    return atom.positive if isinstance(atom, Unknown) else isinstance(number, int) and number > 0


def is_open(m: Machine, atom: Value) -> bool:
    """Whether operators and builtins may do with `atom` what nobody here knows."""
    if isinstance(atom, Instance):
        return atom.payload is MISSING and m.world.is_open(atom.cls)
    return not isinstance(atom, (*CONSTANTS, tuple, ListValue, DictValue, SetValue, Function, range))
