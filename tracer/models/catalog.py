"""All our models in one place: what a symbol outside the engine stands for."""

from __future__ import annotations

import builtins as python_builtins
import sys
from typing import TYPE_CHECKING, Any

from .. import tree
from ..evaluate import containers
from ..evaluate.containers import items_of
from ..evaluate.dicts import put, update
from ..evaluate.enums import names_of
from ..evaluate.fields import fields_of, fill_fields
from ..evaluate.typenames import type_name
from ..evaluate.unions import each
from ..evaluate.values import (
    LIBRARY_ERROR,
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
from . import (
    builtins,
    caching,
    copying,
    folding,
    introspection,
    iteration,
    kinds,
    list_methods,
    mapping_methods,
    modules,
    raising,
    records,
    regex,
    stdlib,
    tensor_math,
    tensor_methods,
    tensors,
    wrappers,
)
from .counters import counter_class
from .text_methods import python_method

if TYPE_CHECKING:
    from ..evaluate.machine import Machine

Args = tuple[Value, ...]
Kwargs = dict[str, Value]

OBJECT = NativeClass("builtins.object")
METHODS = list_methods.method.rows | mapping_methods.method.rows
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
_SAME = {"typing_extensions.": "typing.", "collections.abc.Callable": "typing.Callable"}
_SILENT = (
    "logging.",
    "logger.",
    "torch.cuda.synchronize",
    "gc.",
    "torch.manual_seed",
    "warnings.",
    "torch.accelerator.",
)
_STABLE = (
    "shutil.which",
    "os.path.",
    "os.access",
    "platform.",
    "importlib.metadata.",
    "torch.cuda.",
    "torch.version",
    "packaging.",
)
_TENSOR_RESULTS = (
    "torch.ops.",
    "torch.nn.functional.",
    "torch._scaled",
    "torch.mm",
    "torch.matmul",
    "torch.cat",
    "torch.stack",
)


def _classes() -> dict[str, NativeClass]:
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
    out[LIBRARY_ERROR] = NativeClass(LIBRARY_ERROR, (out["builtins.Exception"],))
    for name in _TYPING_CLASSES:
        out[name] = NativeClass(name, (OBJECT,))
    out["typing.NamedTuple"] = NativeClass("typing.NamedTuple", (out["builtins.tuple"],))
    out["collections.Counter"] = counter_class(out["builtins.dict"])
    frozen = "dataclasses.FrozenInstanceError"
    out[frozen] = NativeClass(frozen, (out["builtins.AttributeError"],))
    out["types.ModuleType"] = NativeClass("types.ModuleType", (OBJECT,))
    out["types.ModuleType"].attrs["__init__"] = Native("ModuleType.__init__", _init_module)
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


def _init_exception(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    args[0].attrs["args"] = args[1:]


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


class Catalog:
    """The models, and the rules for symbols that have none."""

    def __init__(self) -> None:
        self.classes = _classes()
        self.table: dict[str, Value] = {}
        for part in (
            builtins,
            caching,
            copying,
            folding,
            introspection,
            iteration,
            kinds,
            records,
            regex,
            stdlib,
            tensors,
            wrappers,
        ):
            self.table |= part.table.rows
        self.table |= stdlib.CONSTANT_ROWS | self.classes
        self.table |= {f"torch.{name}": token for name, token in tensors.DTYPES.items()}
        self.table |= {
            f"builtins.{n}": v for n, v in (("NotImplemented", Opaque("NotImplemented")), ("__debug__", True))
        }
        self.extra: dict[str, Any] = {}

    def special(self, m: Machine, symbol: str, node: tree.Node | None) -> Value:
        """A symbol without a model of its own."""
        for prefix, target in _SAME.items():
            if symbol.startswith(prefix) and f"{target}{symbol[len(prefix) :]}" in self.table:
                return self.table[f"{target}{symbol[len(prefix) :]}"]
        if symbol in m.world.settings:
            return m.world.settings[symbol]
        if symbol.startswith(("typing.", "collections.abc.", "types.", "abc.")) and symbol.count(".") <= 2:
            return m.world.outside_class(symbol)
        stub = m.world.stub(m, symbol)
        return stub if stub is not MISSING else Opaque(symbol)

    def may_be_false(self, atom: Opaque) -> bool:
        last = atom.symbol.rpartition(".")[2]
        return bool(last) and "." in atom.symbol and last[0].islower() and atom.symbol.count(".") > 1

    def answer(self, m: Machine, func: Opaque, args: Args, kwargs: Kwargs, node: tree.Node | None) -> Value:
        if func.symbol.startswith(_SILENT):
            return None
        for prefix, run in self.extra.items():
            if func.symbol.startswith(prefix) and (value := run(m, func, args, kwargs, node)) is not MISSING:
                return value
        return MISSING

    def is_stable(self, symbol: str) -> bool:
        """Whether a library function answers the same for the same arguments as long as the process runs."""
        return symbol.startswith(_STABLE)

    def raises(self, symbol: str) -> tuple[str, ...] | None:
        """Names of the builtin exceptions that a library call may raise; None where nobody knows."""
        return raising.raises(symbol)

    def result_kind(self, symbol: str) -> str | None:
        return "tensor" if symbol.startswith(_TENSOR_RESULTS) else None

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
        return ("shape", "dtype", "requires_grad") if tensors.is_tensor(atom) else ()

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
                return Native("dict.fromkeys", _fromkeys)
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

    def launcher(self, func: Function) -> Value:
        """`kernel[grid]`: calling it launches the kernel."""

        def launch(m: Machine, args: Args, kwargs: Kwargs) -> Value:
            m.record.launched(func.symbol, None)
            return None

        return Native(f"{func.symbol}[grid]", launch)


def _fromkeys(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    from ..evaluate import containers

    out = containers.new_dict(m)
    items = containers.items_of(m, args[0], None)
    for item in items if isinstance(items, tuple) else ():
        containers.set_item(m, out, item, args[1] if len(args) > 1 else None, None)
    return out


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


_PYTHON_TYPES: dict[str, Any] = {
    "builtins.str": str,
    "builtins.list": ListValue,
    "builtins.dict": DictValue,
    "builtins.set": SetValue,
    "builtins.int": int,
}
STDLIB = frozenset(sys.stdlib_module_names)
