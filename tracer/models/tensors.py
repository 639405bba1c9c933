"""torch as far as shapes and dtypes go: tensors that know their shape, parameters, modules, dtype
constants.
"""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Any

from ..evaluate import containers
from ..evaluate.atoms import describe, plain
from ..evaluate.unions import each, settle, store
from ..evaluate.values import (
    MISSING,
    Instance,
    ListValue,
    Native,
    NativeClass,
    Token,
    Unknown,
    Value,
)
from .native import Table, argument
from .numbers import MADE_WITH, forget, like, made_with, share, write

if TYPE_CHECKING:
    from ..evaluate.machine import Machine

Args = tuple[Value, ...]
Kwargs = dict[str, Value]
table = Table()

DTYPE = NativeClass("torch.dtype")
_BYTES = {
    "float64": 8, "float32": 4, "float16": 2, "bfloat16": 2, "float8_e4m3fn": 1, "float8_e5m2": 1,
    "float8_e4m3fnuz": 1, "float8_e5m2fnuz": 1, "float8_e8m0fnu": 1, "float4_e2m1fn_x2": 1, "int64": 8,
    "int32": 4,
    "int16": 2, "int8": 1, "uint8": 1, "uint16": 2, "uint32": 4, "uint64": 8, "bool": 1, "complex64": 8,
    "complex128": 16,
}  # fmt: skip
_ALIASES = {
    "half": "float16",
    "float": "float32",
    "double": "float64",
    "long": "int64",
    "int": "int32",
    "short": "int16",
}
DTYPES = {name: Token(f"torch.{name}", DTYPE) for name in _BYTES}
DTYPES |= {alias: DTYPES[name] for alias, name in _ALIASES.items()}
DTYPES["uint4"] = Token("torch.uint4", DTYPE)

TENSOR = NativeClass("torch.Tensor")
PARAMETER = NativeClass("torch.nn.parameter.Parameter", (TENSOR,))
MODULE = NativeClass("torch.nn.Module")
MODULE_LIST = NativeClass("torch.nn.modules.container.ModuleList", (MODULE,))
CLASSES = {
    "torch.dtype": DTYPE,
    "torch.Tensor": TENSOR,
    "torch.nn.Parameter": PARAMETER,
    "torch.nn.parameter.Parameter": PARAMETER,
    "torch.nn.Module": MODULE,
    "torch.nn.ModuleList": MODULE_LIST,
    "torch.nn.modules.container.ModuleList": MODULE_LIST,
    "torch.nn.modules.Module": MODULE,
    "torch.nn.Identity": NativeClass("torch.nn.Identity", (MODULE,)),
}


def dtype_attribute(atom: Token, name: str) -> Value:
    short = atom.symbol.removeprefix("torch.")
    if name == "itemsize":
        return _BYTES.get(short, MISSING)
    if name == "is_floating_point":
        return short.startswith(("float", "bfloat"))
    if name == "is_complex":
        return short.startswith("complex")
    if name == "is_signed":
        return not short.startswith(("uint", "bool"))
    return MISSING


def make_tensor(m: Machine, cls: Any, shape: Value, dtype: Value) -> Instance:
    """A tensor that knows its shape (a tuple of sizes) and its dtype."""
    out = Instance(cls, m.live)
    m.record.allocates(dtype)
    out.attrs |= {"shape": shape, "dtype": dtype, "requires_grad": False}
    return out


def sizes(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    """The sizes given to `torch.empty` and the like: several, or one sequence, or `size=`."""
    sizes = args if args else (kwargs.get("size", ()),)
    if len(sizes) == 1:
        first = settle(m, sizes[0])
        if isinstance(first, tuple | ListValue):
            return containers.items_of(m, first, None)
        if isinstance(first, Unknown) and first.kind != "int":
            return first
    return tuple(sizes)


def _filled(name: str, with_: float | None) -> None:
    @table(f"torch.{name}")
    def native(m: Machine, args: Args, kwargs: Kwargs) -> Value:
        dtype = kwargs.get("dtype") or m.world.settings["default dtype"]
        return made_with(m, make_tensor(m, TENSOR, sizes(m, args, kwargs), dtype), with_)


for _name, _with in (("empty", None), ("zeros", 0.0), ("ones", 1.0), ("rand", None), ("randn", None)):
    _filled(_name, _with)


@table("torch.full")
def _full(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    dtype = kwargs.get("dtype") or m.world.settings["default dtype"]
    value = settle(m, argument(args, kwargs, 1, "fill_value"))
    return made_with(m, make_tensor(m, TENSOR, sizes(m, args[:1], kwargs), dtype), value)


@table("torch.empty_like", "torch.zeros_like", "torch.ones_like", "torch.rand_like", "torch.full_like")
def _like(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    def make(atom: Value) -> Value:
        if not is_tensor(atom):
            return m.unknown(f"like {describe(atom)}", kind="tensor")
        return make_tensor(m, TENSOR, atom.attrs["shape"], kwargs.get("dtype") or atom.attrs["dtype"])

    return each(m, args[0], make)


@table("torch.as_tensor")
def _as_tensor(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    forget(m, args[0])  # a tensor among them shares its memory
    return _tensor(m, args, kwargs)


@table("torch.tensor")
def _tensor(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    value = settle(m, args[0])
    if is_tensor(value):
        return like(
            m,
            value,
            make_tensor(m, TENSOR, value.attrs["shape"], kwargs.get("dtype") or value.attrs["dtype"]),
        )
    dtype = kwargs.get("dtype") or _dtype_of(m, value)
    return made_with(m, make_tensor(m, TENSOR, _nested_shape(m, value), dtype), value, held=True)


def _dtype_of(m: Machine, value: Value) -> Value:
    value = plain(value)
    if isinstance(value, bool):
        return DTYPES["bool"]
    if isinstance(value, int):
        return DTYPES["int64"]
    return m.world.settings["default dtype"] if isinstance(value, float) else m.unknown("dtype of a tensor")


def _nested_shape(m: Machine, value: Value) -> Value:
    if isinstance(value, ListValue | tuple):
        items = containers.items_of(m, value, None)
        if not isinstance(items, tuple):
            return m.unknown("shape of a tensor")
        inner = _nested_shape(m, settle(m, items[0])) if items else ()
        return (len(items), *inner) if isinstance(inner, tuple) else inner
    return ()


def rebind(m: Machine, atom: Instance, value: Value) -> None:
    """`atom.data = value` on the current path."""

    def part(name: str) -> Value:
        def read(other: Value) -> Value:
            return (
                settle(m, other.attrs[name]) if is_tensor(other) else m.unknown(f"{describe(other)}.{name}")
            )

        return each(m, value, read)

    for name in ("shape", "dtype"):
        atom.attrs[name] = store(m, atom.attrs[name], part(name), atom.born)
    write(m, atom, value)
    each(m, value, lambda other: share(other, atom) if is_tensor(other) else None)


def is_tensor(atom: Value) -> bool:
    return isinstance(atom, Instance) and TENSOR in atom.cls.mro


def new_parameter(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    """`Parameter.__new__(cls, data, requires_grad)`: the data's shape and dtype under the parameter's
    class.
    """
    data = argument(args, kwargs, 1, "data")

    def make(atom: Value) -> Value:
        if is_tensor(atom):
            out = make_tensor(m, args[0], atom.attrs["shape"], atom.attrs["dtype"])
            return share(atom, made_with(m, out, atom.attrs.get(MADE_WITH, MISSING)))
        label = describe(atom)
        return make_tensor(m, args[0], m.unknown(f"{label}.shape"), m.unknown(f"{label}.dtype"))

    return each(m, data, make)


PARAMETER.attrs["__new__"] = Native("Parameter.__new__", new_parameter)
PARAMETER.attrs["__init__"] = Native("Parameter.__init__", lambda m, args, kwargs: None)
PARAMETER.construct = lambda m, args, kwargs: new_parameter(m, (PARAMETER, *args), kwargs)


def listed_names(file: str) -> frozenset[str]:
    """The names in a file of this folder, one a line."""
    text = files(__package__).joinpath(file).read_text(encoding="utf-8")
    return frozenset(line for line in text.splitlines() if not line.startswith("#"))


# --- numbers of dtypes

_INT = {"int8": (-128, 127), "uint8": (0, 255), "int16": (-32768, 32767), "int32": (-(2**31), 2**31 - 1)}
_FLOAT = {
    "float8_e4m3fn": (448.0, 0.125, 1.0, 2.0**-6),
    "float8_e5m2": (57344.0, 0.25, 1.0, 2.0**-14),
    "float8_e4m3fnuz": (240.0, 0.125, 1.0, 2.0**-7),
    "float8_e5m2fnuz": (57344.0, 0.125, 1.0, 2.0**-15),
    "float16": (65504.0, 2.0**-10, 0.001, 2.0**-14),
    "bfloat16": (3.3895313892515355e38, 2.0**-7, 0.01, 2.0**-126),
    "float32": (3.4028234663852886e38, 2.0**-23, 1e-06, 2.0**-126),
    "float64": (1.7976931348623157e308, 2.0**-52, 1e-15, 2.0**-1022),
}
"""max, eps, resolution and smallest normal number of each dtype, as `torch.finfo` gives them."""
_INFO = ("max", "min", "eps", "resolution", "tiny", "smallest_normal", "bits")


@table("torch.finfo", "torch.iinfo")
def _info(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    def make(dtype: Value) -> Value:
        out = Instance(m.world.outside_class("torch.finfo"), m.live)
        short = dtype.symbol.removeprefix("torch.") if isinstance(dtype, Token) else ""
        out.attrs |= {name: m.unknown(f"{short}.{name}") for name in _INFO} | _numbers(short)
        return out

    return each(m, args[0], make)


def _numbers(short: str) -> dict[str, Value]:
    """What is known of a dtype's range."""
    known: dict[str, Value] = {"bits": _BYTES[short] * 8} if short in _BYTES else {}
    if short in _INT:
        return known | dict(zip(("min", "max"), _INT[short], strict=True))
    if short not in _FLOAT:
        return known
    high, eps, resolution, normal = _FLOAT[short]
    fine = {"eps": eps, "resolution": resolution, "tiny": normal, "smallest_normal": normal}
    return known | {"min": -high, "max": high} | fine


@table("torch.get_default_dtype")
def _default_dtype(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return m.world.settings["default dtype"]


@table("torch.Size")
def _torch_size(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return containers.items_of(m, args[0], None) if args else ()


@table("torch.compile", "torch.jit.script", "torch.no_grad", "torch.inference_mode")
def _compile(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    if args:
        return args[0]
    return Native("torch decorator", lambda m, more, _: more[0])


@table("torch.cond")
def _cond(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    """`torch.cond(pred, f, g, operands)`: both branches are edges, each under its condition."""
    from ..evaluate.calls import call_value
    from ..evaluate.truth import truth

    operands = containers.items_of(m, args[3], None) if len(args) > 3 else ()
    given = operands if isinstance(operands, tuple) else ()
    return m.branch(
        truth(m, args[0]),
        lambda: call_value(m, args[1], given, {}),
        lambda: call_value(m, args[2], given, {}),
    )


@table("torch.is_tensor")
def _is_tensor(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return each(m, args[0], is_tensor)
