"""The models as the evaluator asks for them: attributes, methods and types that are not the engine's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import tree
from ..evaluate.comparing import condition
from ..evaluate.enums import names_of
from ..evaluate.fields import fields_of, fill_fields
from ..evaluate.typenames import type_name
from ..evaluate.values import (
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
    Super,
    Token,
    Unknown,
    Value,
)
from . import list_methods, mapping_methods, modules, numbers, records, tensor_math, tensor_methods, tensors
from .native import Args, Kwargs
from .native_classes import OBJECT, allocate
from .symbols import Symbols
from .text_methods import python_method

if TYPE_CHECKING:
    from ..evaluate.machine import Machine

METHODS = list_methods.method.rows | mapping_methods.method.rows | tensor_methods.SHAPES.rows
_PYTHON_TYPES: dict[str, Any] = {
    "builtins.str": str,
    "builtins.list": ListValue,
    "builtins.dict": DictValue,
    "builtins.set": SetValue,
    "builtins.int": int,
}


class Catalog(Symbols):
    """The models as the evaluator asks for them."""

    def method(self, kind: type, name: str) -> Native | None:
        found = METHODS.get((kind, name))
        if found is not None:
            return found
        return python_method(kind, name) if kind in (str, bytes, int, float, tuple, bool) else None

    def type_of(self, m: Machine, atom: Value) -> Value:
        """The class of an atom, an unknown where it is not known."""
        if isinstance(atom, Instance):
            return atom.cls
        if isinstance(atom, Token):
            return atom.cls
        if isinstance(atom, ClassValue | NativeClass):
            return self.classes["builtins.type"]
        if isinstance(atom, Unknown | Opaque):
            return m.unknown(f"type({atom!r})")
        return self.classes.get(f"builtins.{type_name(atom)}", OBJECT)

    def token_attribute(self, m: Machine, atom: Token, name: str) -> Value:
        return tensors.dtype_attribute(atom, name)

    def tensor(self, m: Machine, shape: Value, dtype: Value) -> Instance:
        """A tensor of which shape and dtype are known."""
        return tensors.make_tensor(m, self.classes["torch.Tensor"], shape, dtype)

    def compared(self, m: Machine, op: str, a: Value, b: Value) -> Value:
        """What comparing tensors gives."""
        return tensor_math.compared(m, op, a, b)

    def has(self, m: Machine, atom: Value, name: str) -> Any:
        """Whether a library object has an attribute, where a rule of the scenario tells; None where none
        does.
        """
        if (type(atom), name) in tensor_methods.SHAPES.rows:
            return condition(m, "has attribute", atom, name)  # a tuple here may be a shape or none
        rule = m.world.settings.get("has attribute")
        return rule(m, atom, name) if rule is not None else None

    def instance_attribute(self, m: Machine, atom: Instance, name: str, node: tree.Node | None) -> Value:
        if tensors.is_tensor(atom):
            return tensor_methods.tensor_attribute(m, atom, name)
        if name in modules.REGISTRIES and tensors.MODULE in atom.cls.mro:
            return modules.registry(m, atom, name)
        if "namedtuple" in getattr(atom.cls, "flags", ()):
            return records.named_tuple_attribute(m, atom, name)
        if name in ("__setattr__", "__delattr__"):
            return Bound(self.table[f"object.{name}"], atom)
        if tensors.MODULE in atom.cls.mro and name in modules.MODULE_NAMES:
            return m.unknown(f"{atom.cls.name}.{name}", node)
        return Native("object.__init__", lambda m, args, kwargs: None) if name == "__init__" else MISSING

    def put(self, m: Machine, atom: Instance, name: str, value: Value) -> bool:
        """A write that means more than its name: `tensor.data = other` gives the tensor the other's shape
        and dtype.
        """
        if name != "data" or not tensors.is_tensor(atom):
            return False
        tensors.rebind(m, atom, value)
        return True

    def slots(self, atom: Instance) -> tuple[str, ...]:
        """Attributes that stand for what is no entry of the object's `__dict__`."""
        return ("shape", "dtype", "requires_grad", *numbers.HIDDEN) if tensors.is_tensor(atom) else ()

    def tensor_attribute(self, m: Machine, atom: Unknown, name: str) -> Value:
        """An attribute of a tensor of which nothing is known, MISSING when no tensor has one of that name."""
        if name == "__dict__":
            return DictValue(m.live)  # what an op gives has no attributes of the engine's
        if name not in tensor_methods.KNOWN or name in ("shape", "data"):
            return MISSING
        return tensor_methods.any_attribute(m, f"{atom.label}.{name}", name)

    def class_attribute(self, m: Machine, cls: Value, name: str) -> Value:
        if isinstance(cls, NativeClass):
            kind = _PYTHON_TYPES.get(cls.symbol)
            found = self.method(kind, name) if kind is not None else None
            if found is not None:
                return found
            if cls.symbol == "builtins.dict" and name == "fromkeys":
                return Native("dict.fromkeys", mapping_methods.from_keys)
            if f"{cls.symbol}.{name}" in self.table or not cls.symbol.startswith("builtins."):
                return m.world.library(m, f"{cls.symbol}.{name}", None)
        if name in ("__setattr__", "__delattr__"):
            return self.table[f"object.{name}"]
        if name == "__members__" and "enum" in getattr(cls, "flags", ()):
            return names_of(m, cls)
        if name == "_fields" and "namedtuple" in getattr(cls, "flags", ()):
            return tuple(field.name for field in fields_of(m, cls))
        if name == "__subclasses__":
            return Native(
                "type.__subclasses__", lambda m, args, kwargs: m.unknown(f"{cls.name}.__subclasses__()")
            )
        if name in ("__doc__", "__dict__", "__annotations__", "__abstractmethods__"):
            return m.unknown(f"{cls.name}.{name}")
        return MISSING

    def super_attribute(self, m: Machine, atom: Super, name: str) -> Value:
        """What `object` or an unmodelled base does: nothing, or allocate."""
        if name == "__new__":
            return Native(
                "object.__new__", lambda m, args, kwargs: self.allocate(m, args[0], args[1:], kwargs)
            )
        if name in ("__setattr__", "__delattr__"):
            return Bound(self.table[f"object.{name}"], atom.self_)
        if name == "__init__" and isinstance(atom.self_, Instance):
            return Native("super().__init__", lambda m, args, kwargs: _init_above(m, atom, args, kwargs))
        if name in ("__init__", "__init_subclass__", "__post_init__"):
            return Native(f"object.{name}", lambda m, args, kwargs: None)
        if isinstance(atom.self_, Instance):
            found = self.instance_attribute(m, atom.self_, name, None)
            if found is not MISSING:
                return found
        known = all(isinstance(b, ClassValue) or b.symbol in self.classes for b in atom.owner.mro)
        return MISSING if known else m.unknown(f"super().{name}")

    def allocate(self, m: Machine, cls: Value, args: Args, kwargs: Kwargs) -> Value:
        return allocate(m, cls, args, kwargs)

    def launcher(self, func: Function) -> Value:
        """`kernel[grid]`: calling it launches the kernel."""

        def launch(m: Machine, args: Args, kwargs: Kwargs) -> Value:
            m.record.launched(func.symbol, None)
            self.given(m, args, kwargs)
            return None

        return Native(f"{func.symbol}[grid]", launch)


def _init_above(m: Machine, atom: Super, args: Args, kwargs: Kwargs) -> Value:
    """`super().__init__` where no class above wrote one: that of a dataclass, if there is one."""
    order = atom.self_.cls.mro
    above = order[order.index(atom.owner) + 1 :]
    base = next(
        (b for b in above if isinstance(b, ClassValue) and b.flags & {"dataclass", "namedtuple"}), None
    )
    if base is not None:
        fill_fields(m, atom.self_, base, args, kwargs, None)
    elif (args or kwargs) and not m.world.is_open(atom.self_.cls) and atom.self_.payload is MISSING:
        m.fail("TypeError", "object.__init__() takes exactly one argument (the instance to initialize)")
