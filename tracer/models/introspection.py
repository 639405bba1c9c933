"""What can be asked of an object's names: `dir()`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..evaluate.unions import cover, each, join
from ..evaluate.values import MISSING, ClassValue, Instance, NativeClass, SetValue, Value
from . import modules, tensor_methods, tensors
from .native import Table

if TYPE_CHECKING:
    from ..evaluate.machine import Machine

table = Table()


@table("builtins.dir")
def _dir(m: Machine, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return each(m, args[0], lambda atom: _names(m, atom)) if args else m.unknown("dir()")


def _names(m: Machine, atom: Value) -> Value:
    """The names as a set: `name in dir(x)` is what they are asked for."""
    if not isinstance(atom, Instance):
        return m.unknown("dir()")
    out = SetValue(m.live)
    for name in _of_classes(m, atom, out):
        out.entries["constant", name] = (name, True)
    for name, value in atom.attrs.items():
        here = cover(m, value)
        if ("constant", name) not in out.entries and not here.is_false:
            out.entries["constant", name] = (name, join(m, [(here, True), (m.live & ~here, MISSING)]))
    return out


def _of_classes(m: Machine, atom: Instance, out: SetValue) -> set[str]:
    """Names that the object's classes give it; a library class without a model may give any other."""
    found: set[str] = set()
    for base in atom.cls.mro:
        found |= set(base.attrs) | (
            set(base.scope.named()) if isinstance(base, ClassValue) and base.scope else set()
        )
        if isinstance(base, NativeClass) and base.symbol not in m.world.models.classes:
            out.other = m.unknown(f"names of {base.symbol}")
    return found | _library_names(atom)


def _library_names(atom: Any) -> set[str]:
    if tensors.MODULE in atom.cls.mro:
        return set(modules.MODULE_NAMES)
    return set(tensor_methods.KNOWN) if tensors.is_tensor(atom) else set()
