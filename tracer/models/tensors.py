"""torch as far as shapes and dtypes go: tensors that know their shape, parameters, modules, dtype
constants.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from ..evaluate import attributes, containers
from ..evaluate.operators import binary, describe, plain
from ..evaluate.unions import alternatives, each, each2, settle, store
from ..evaluate.values import (
    MISSING,
    Bound,
    Instance,
    ListValue,
    Native,
    NativeClass,
    Opaque,
    Token,
    Unknown,
    Value,
)
from .native import Run, Table, argument

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
CLASSES = {
    "torch.dtype": DTYPE,
    "torch.Tensor": TENSOR,
    "torch.nn.Parameter": PARAMETER,
    "torch.nn.parameter.Parameter": PARAMETER,
    "torch.nn.Module": MODULE,
    "torch.nn.modules.Module": MODULE,
    "torch.nn.Identity": NativeClass("torch.nn.Identity", (MODULE,)),
}


def dtype_attribute(atom: Token, name: str) -> Value:
    short = atom.symbol.removeprefix("torch.")
    if name == "itemsize":
        return _BYTES.get(short, MISSING)
    if name == "is_floating_point":
        return short.startswith(("float", "bfloat"))
    return MISSING


def make_tensor(m: Machine, cls: Any, shape: Value, dtype: Value) -> Instance:
    """A tensor that knows its shape (a tuple of sizes) and its dtype."""
    out = Instance(cls, m.live)
    out.attrs |= {"shape": shape, "dtype": dtype, "requires_grad": False}
    return out


def _shape(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    """The sizes given to `torch.empty` and the like: several, or one sequence, or `size=`."""
    sizes = args if args else (kwargs.get("size", ()),)
    if len(sizes) == 1:
        first = settle(m, sizes[0])
        if isinstance(first, tuple | ListValue):
            return containers.items_of(m, first, None)
        if isinstance(first, Unknown) and first.kind != "int":
            return first
    return tuple(sizes)


def _filled(*names: str) -> None:
    def native(m: Machine, args: Args, kwargs: Kwargs) -> Value:
        dtype = kwargs.get("dtype") or m.world.settings["default dtype"]
        return make_tensor(m, TENSOR, _shape(m, args, kwargs), dtype)

    for name in names:
        table(f"torch.{name}")(native)


_filled("empty", "zeros", "ones", "rand", "randn")


@table("torch.full")
def _full(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    dtype = kwargs.get("dtype") or m.world.settings["default dtype"]
    return make_tensor(m, TENSOR, _shape(m, args[:1], kwargs), dtype)


@table("torch.empty_like", "torch.zeros_like", "torch.ones_like", "torch.rand_like", "torch.full_like")
def _like(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    def make(atom: Value) -> Value:
        if not is_tensor(atom):
            return m.unknown(f"like {describe(atom)}", kind="tensor")
        return make_tensor(m, TENSOR, atom.attrs["shape"], kwargs.get("dtype") or atom.attrs["dtype"])

    return each(m, args[0], make)


@table("torch.tensor", "torch.as_tensor")
def _tensor(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    value = settle(m, args[0])
    dtype = kwargs.get("dtype") or _dtype_of(m, value)
    return make_tensor(m, TENSOR, _nested_shape(m, value), dtype)


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


def is_tensor(atom: Value) -> bool:
    return isinstance(atom, Instance) and TENSOR in atom.cls.mro


def new_parameter(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    """`Parameter.__new__(cls, data, requires_grad)`: the data's shape and dtype under the parameter's
    class.
    """
    data = argument(args, kwargs, 1, "data")

    def make(atom: Value) -> Value:
        if is_tensor(atom):
            return make_tensor(m, args[0], atom.attrs["shape"], atom.attrs["dtype"])
        label = describe(atom)
        return make_tensor(m, args[0], m.unknown(f"{label}.shape"), m.unknown(f"{label}.dtype"))

    return each(m, data, make)


PARAMETER.attrs["__new__"] = Native("Parameter.__new__", new_parameter)
PARAMETER.attrs["__init__"] = Native("Parameter.__init__", lambda m, args, kwargs: None)
PARAMETER.construct = lambda m, args, kwargs: new_parameter(m, (PARAMETER, *args), kwargs)


TENSOR.attrs["__setitem__"] = Native("Tensor.__setitem__", lambda m, args, kwargs: None)
TENSOR.attrs["__getitem__"] = Native(
    "Tensor.__getitem__", lambda m, args, kwargs: m.unknown("a tensor", kind="tensor")
)


# --- tensor attributes


def _names(file: str) -> frozenset[str]:
    text = files(__package__).joinpath(file).read_text(encoding="utf-8")
    return frozenset(line for line in text.splitlines() if not line.startswith("#"))


KNOWN = _names("tensor_names.txt")
"""Every attribute of `torch.Tensor`: any other name is there only once the engine has set it."""

MODULE_NAMES = _names("module_names.txt")
"""The same of a bare `torch.nn.Module`."""

PROPERTIES = frozenset({
    "H", "T", "dtype", "device", "grad", "grad_fn", "imag", "is_cpu", "is_cuda", "is_leaf", "is_meta",
    "is_quantized", "is_sparse", "itemsize", "layout", "mH", "mT", "names", "nbytes", "ndim", "output_nr",
    "real", "requires_grad", "retains_grad", "shape",
})  # fmt: skip
NUMBERS = frozenset({
    "data_ptr", "dim", "element_size", "get_device", "item", "ndimension", "nelement", "numel",
    "size", "storage_offset", "stride", "tolist",
})  # fmt: skip
"""Methods that give no tensor."""

INPLACE = (
    "copy_",
    "fill_",
    "zero_",
    "mul_",
    "requires_grad_",
    "clone",
    "contiguous",
    "detach",
    "cpu",
    "cuda",
    "abs",
    "clamp",
)


def tensor_attribute(m: Machine, atom: Instance, name: str) -> Value:
    """An attribute of a tensor that its own slots do not hold."""
    if name == "data":
        return atom
    if name in INPLACE:
        return Bound(Native(f"Tensor.{name}", lambda m, args, kwargs: args[0]), atom)
    method = METHODS.get(name)
    if method is not None:
        return Bound(method, atom)
    if name in ("T", "mT"):
        return transposed(m, atom)
    if name == "ndim":
        return each(
            m,
            atom.attrs["shape"],
            lambda s: len(s) if isinstance(s, tuple) else m.unknown("ndim", kind="int"),
        )
    if name == "device":
        return Opaque("device")
    if name == "is_meta":
        return False
    if name not in KNOWN:
        return MISSING
    return any_attribute(m, f"{_label(atom)}.{name}", name)


def any_attribute(m: Machine, label: str, name: str) -> Value:
    """An attribute of some tensor: a property as an unknown, a method as something to call."""
    if name in PROPERTIES:
        return m.unknown(
            label, kind="tensor" if name in ("grad", "real", "imag", "H", "T", "mT", "mH") else None
        )
    plain_result = name in NUMBERS or name.startswith(("is_", "has_"))
    kind = None if plain_result else "tensor"
    return Native(f"Tensor.{name}", lambda m, args, kwargs: m.unknown(f"{label}()", kind=kind))


def _label(atom: Instance) -> str:
    return atom.cls.name.lower()


METHODS: dict[str, Native] = {}


def _method(*names: str) -> Callable[[Run], Run]:
    def keep(run: Run) -> Run:
        for name in names:
            METHODS[name] = Native(f"Tensor.{name}", run)
        return run

    return keep


@_method("size")
def _size(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    if len(args) == 1:
        return settle(m, args[0].attrs["shape"])
    return each2(m, args[0].attrs["shape"], args[1], lambda s, k: containers.get_item(m, s, k, None))


@_method("dim")
def _dim(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return tensor_attribute(m, args[0], "ndim")


@_method("numel", "nelement")
def _numel(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    def count(shape: Value) -> Value:
        if not isinstance(shape, tuple):
            return m.unknown("numel", kind="int")
        if all(isinstance(plain(s), int) for s in shape):
            return math.prod(plain(s) for s in shape)
        out: Value = 1
        for size in shape:
            out = each2(m, out, size, lambda a, b: binary(m, "*", a, b, None))
        return out

    return each(m, args[0].attrs["shape"], count)


@_method("element_size")
def _element_size(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return each(
        m,
        args[0].attrs["dtype"],
        lambda d: dtype_attribute(d, "itemsize") if isinstance(d, Token) else m.unknown("itemsize"),
    )


@_method("t")
def _t(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return transposed(m, args[0])


@_method("transpose")
def _transpose(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return (
        transposed(m, args[0]) if set(map(plain, args[1:])) in ({0, 1}, {-1, -2}) else _vague(m, args, kwargs)
    )


def transposed(m: Machine, atom: Instance) -> Value:
    def turn(shape: Value) -> Value:
        return (*shape[:-2], *reversed(shape[-2:])) if isinstance(shape, tuple) else shape

    return make_tensor(m, TENSOR, each(m, atom.attrs["shape"], turn), atom.attrs["dtype"])


@_method("view", "reshape")
def _view(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    given = [settle(m, a) for a in args[1:]]
    if len(given) == 1 and isinstance(given[0], Token):
        return _viewed_as(m, args[0], given[0])
    shape = _shape(m, tuple(given), kwargs)
    if isinstance(shape, tuple):
        shape = _fill_in(m, shape, args[0])
    return make_tensor(m, TENSOR, shape, args[0].attrs["dtype"])


def _viewed_as(m: Machine, atom: Instance, dtype: Token) -> Value:
    old, shape = settle(m, atom.attrs["dtype"]), settle(m, atom.attrs["shape"])
    before = dtype_attribute(old, "itemsize") if isinstance(old, Token) else MISSING
    if isinstance(shape, tuple) and shape and before == dtype_attribute(dtype, "itemsize"):
        return make_tensor(m, TENSOR, shape, dtype)
    return make_tensor(m, TENSOR, m.unknown(f"shape viewed as {dtype.symbol}"), dtype)


def _fill_in(m: Machine, shape: Args, atom: Instance) -> Value:
    """Replace one -1 by what is left of the elements."""
    sizes = [plain(settle(m, s)) for s in shape]
    total = plain(_numel(m, (atom,), {}))
    if -1 not in sizes:
        return shape
    rest = [s for s in sizes if s != -1]
    if not isinstance(total, int) or not all(isinstance(s, int) and s for s in rest):
        return tuple(m.unknown("a size", kind="int") if s == -1 else s for s in sizes)
    return tuple(total // math.prod(rest) if s == -1 else s for s in sizes)


@_method("to", "type")
def _to(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    dtype = next(
        (a for a in (*args[1:], kwargs.get("dtype")) if isinstance(a, Token)), args[0].attrs["dtype"]
    )
    return make_tensor(m, TENSOR, args[0].attrs["shape"], dtype)


@_method(
    "squeeze",
    "unsqueeze",
    "flatten",
    "permute",
    "expand",
    "narrow",
    "repeat",
    "chunk",
    "split",
    "repeat_interleave",
)
def _vague(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return m.unknown("a tensor", kind="tensor")


# --- modules


def _register(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    name, value = args[1], argument(args, kwargs, 2, "param", kwargs.get("tensor"))
    each(m, name, lambda n: attributes.put(m, args[0], n, value, None))
    return None


def _named(m: Machine, atom: Instance) -> list[tuple[str, Value]]:
    """(name, alternatives) of what is a parameter on some path."""
    out = []
    for name, value in atom.attrs.items():
        found = settle(m, value)
        if any(isinstance(a, Instance) and PARAMETER in a.cls.mro for _, a in alternatives(m, found)):
            out.append((name, found))
    return out


def _named_parameters(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return ListValue(tuple((name, value) for name, value in _named(m, args[0])), m.live)


def _parameters(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return ListValue(tuple(value for _, value in _named(m, args[0])), m.live)


REGISTRIES = ("_parameters", "_buffers", "_modules")


def registry(m: Machine, atom: Instance, name: str) -> Value:
    """A module's own dict of parameters, buffers or submodules, as it stands."""
    out = containers.new_dict(m)
    kinds = {"_parameters": (PARAMETER, None), "_buffers": (TENSOR, PARAMETER), "_modules": (MODULE, None)}
    wanted, but = kinds[name]
    for key, value in atom.attrs.items():
        found = [a for _, a in alternatives(m, settle(m, value)) if isinstance(a, Instance)]
        if any(wanted in a.cls.mro and but not in a.cls.mro for a in found):
            out.entries["constant", key] = (key, value)
    return out


def _itself(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return args[0]


def _forward(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    from ..evaluate.calls import call_value

    return call_value(m, attributes.get(m, args[0], "forward", None), args[1:], kwargs)


for _name, _run in (
    ("register_parameter", _register),
    ("register_buffer", _register),
    ("named_parameters", _named_parameters),
    ("parameters", _parameters),
    ("to", _itself),
    ("eval", _itself),
    ("__init__", lambda m, args, kwargs: None),
    ("__call__", _forward),
):
    MODULE.attrs[_name] = Native(f"Module.{_name}", _run)


# --- numbers of dtypes

_INT = {"int8": (-128, 127), "uint8": (0, 255), "int16": (-32768, 32767), "int32": (-(2**31), 2**31 - 1)}
_FLOAT = {
    "float8_e4m3fn": 448.0, "float8_e5m2": 57344.0, "float8_e4m3fnuz": 240.0, "float16": 65504.0,
    "bfloat16": 3.3895313892515355e38, "float32": 3.4028234663852886e38,
}  # fmt: skip


@table("torch.finfo", "torch.iinfo")
def _info(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    def make(dtype: Value) -> Value:
        out = Instance(m.world.outside_class("torch.finfo"), m.live)
        short = dtype.symbol.removeprefix("torch.") if isinstance(dtype, Token) else ""
        low, high = (
            _INT.get(short, (None, None)) if short in _INT else (-_FLOAT.get(short, 0.0), _FLOAT.get(short))
        )
        unknown = high is None
        out.attrs["max"] = m.unknown(f"{short}.max") if unknown else high
        out.attrs["min"] = m.unknown(f"{short}.min") if unknown else low
        out.attrs["bits"] = _BYTES[short] * 8 if short in _BYTES else m.unknown("bits")
        return out

    return each(m, args[0], make)


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
