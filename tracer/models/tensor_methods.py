"""What a tensor answers: its attributes, and the methods that tell a shape or a dtype."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from ..evaluate import containers
from ..evaluate.atoms import plain
from ..evaluate.comparing import term
from ..evaluate.operators import binary
from ..evaluate.unions import each, each2, settle
from ..evaluate.values import MISSING, Bound, Instance, Native, Opaque, Token, Unknown, Value
from . import numbers
from .native import Args, Kwargs, MethodTable, Run
from .tensors import TENSOR, dtype_attribute, listed_names, make_tensor, sizes

if TYPE_CHECKING:
    from ..evaluate.machine import Machine


KNOWN = listed_names("tensor_names.txt")
"""Every attribute of `torch.Tensor`: any other name is there only once the engine has set it."""

PROPERTIES = frozenset({
    "H", "T", "dtype", "device", "grad", "grad_fn", "imag", "is_cpu", "is_cuda", "is_leaf", "is_meta",
    "is_quantized", "is_sparse", "itemsize", "layout", "mH", "mT", "names", "nbytes", "ndim", "output_nr",
    "real", "requires_grad", "retains_grad", "shape",
})  # fmt: skip
TENSORS = frozenset({"grad", "real", "imag", "H", "T", "mT", "mH"})
"""Properties that are tensors."""
NUMBERS = frozenset({
    "data_ptr", "dim", "element_size", "get_device", "item", "ndimension", "nelement", "numel",
    "size", "storage_offset", "stride", "tolist",
})  # fmt: skip
"""Methods that give no tensor."""

HOST = "cpu"
"""The device of the host, and the method that moves there."""
ITSELF = ("requires_grad_", "contiguous")
"""Methods that give what they are asked of; what is not contiguous has no number that is followed."""


def tensor_attribute(m: Machine, atom: Instance, name: str) -> Value:
    """An attribute of a tensor that its own slots do not hold."""
    if name == "data":
        return atom
    if name in ITSELF:
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
    if name == "is_meta":
        return False
    if name not in KNOWN:
        return MISSING
    if not _tells(name):
        numbers.write(m, atom, MISSING)  # it is written to, or the tensor that comes shares its memory
    return any_attribute(m, f"{_label(atom)}.{name}", name)


def any_attribute(m: Machine, label: str, name: str) -> Value:
    """An attribute of some tensor: a property as an unknown, a method as something to call. Tensors are on
    the layer's device, but for those that were moved to the host.
    """
    if name == "device":
        return Opaque("device")
    if name == HOST:
        return Native(
            f"Tensor.{name}", lambda m, args, kwargs: _hosted(m, m.unknown(f"{label}()", kind="tensor"))
        )
    if name in PROPERTIES:
        return m.unknown(label, kind="tensor" if name in TENSORS else None)
    kind = None if _tells(name) else "tensor"
    return Native(f"Tensor.{name}", lambda m, args, kwargs: m.unknown(f"{label}()", kind=kind))


def _tells(name: str) -> bool:
    """Whether an attribute is of what a tensor is, and no tensor itself."""
    return name in NUMBERS | PROPERTIES - TENSORS or name.startswith(("is_", "has_", "__"))


def _label(atom: Instance) -> str:
    return atom.cls.name.lower()


METHODS: dict[str, Native] = {}
SHAPES = MethodTable()


def _method(*names: str) -> Callable[[Run], Run]:
    def keep(run: Run) -> Run:
        for name in names:
            METHODS[name] = Native(f"Tensor.{name}", run)
        return run

    return keep


@_method("copy_", "fill_")
def _write(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    numbers.write(m, args[0], args[1] if len(args) > 1 else MISSING)
    return args[0]


@_method("zero_")
def _zero(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return _write(m, (args[0], 0.0), {})


@_method("mul_")
def _changed(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    numbers.write(m, args[0], MISSING)
    return args[0]


@_method("clone", "abs", "clamp")
def _new(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    """A tensor of the same shape and dtype in memory of its own."""
    return make_tensor(m, TENSOR, args[0].attrs["shape"], args[0].attrs["dtype"])


@_method("clone")
def _clone(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return numbers.like(m, args[0], _new(m, args, kwargs))


@_method("detach", "cuda")
def _other_view(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    """The same in another tensor, which shares the memory or may."""
    return numbers.share(args[0], _clone(m, args, kwargs))


@_method(HOST)
def _to_host(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return _hosted(m, _other_view(m, args, kwargs))


def _hosted(m: Machine, tensor: Value) -> Value:
    """A tensor that is on the host, which may be the layer's device as well."""
    place = m.unknown(f"{HOST} device")
    if isinstance(tensor, Instance):
        tensor.attrs["device"] = place
    elif isinstance(tensor, Unknown):
        m.outside[tensor.key, "device"] = place
    return tensor


@_method("item")
def _item(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return numbers.told(m, args[0], m.unknown(f"{_label(args[0])}.item()"))


@_method("tolist")
def _tolist(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    unknown = m.unknown(f"{_label(args[0])}.tolist()")
    return numbers.told(m, args[0], unknown) if settle(m, args[0].attrs["shape"]) == () else unknown


@_method("is_floating_point")
def _is_floating_point(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    def floating(dtype: Value) -> Value:
        known = isinstance(dtype, Token)
        return dtype_attribute(dtype, "is_floating_point") if known else m.unknown("is floating", kind="bool")

    return each(m, args[0].attrs["dtype"], floating)


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
    return _elements(m, args[0].attrs["shape"])


@SHAPES(tuple, "numel")
def _numel_of_shape(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    """A shape is a `torch.Size`: a tuple that counts its tensor's elements."""
    return _elements(m, args[0])


def _elements(m: Machine, shape: Value) -> Value:
    def count(shape: Value) -> Value:
        if not isinstance(shape, tuple):
            return m.unknown("numel", kind="int")
        if all(isinstance(plain(s), int) for s in shape):
            return math.prod(plain(s) for s in shape)
        out: Value = 1
        for size in shape:
            out = each2(m, out, size, lambda a, b: binary(m, "*", a, b, None))
        return out

    return each(m, shape, count)


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
        transposed(m, args[0]) if set(map(plain, args[1:])) in ({0, 1}, {-1, -2}) else vague(m, args, kwargs)
    )


def transposed(m: Machine, atom: Instance) -> Value:
    def turn(shape: Value) -> Value:
        return (*shape[:-2], *reversed(shape[-2:])) if isinstance(shape, tuple) else shape

    return view(m, atom, each(m, atom.attrs["shape"], turn), atom.attrs["dtype"])


def view(m: Machine, atom: Instance, shape: Value, dtype: Value) -> Instance:
    """A tensor on the memory of another, or on a part of it."""
    return numbers.share(atom, make_tensor(m, TENSOR, shape, dtype))


@_method("permute")
def _permute(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    order = sizes(m, tuple(settle(m, a) for a in args[1:]), kwargs)
    places = tuple(map(plain, order)) if isinstance(order, tuple) else ()

    def turn(shape: Value) -> Value:
        if not isinstance(shape, tuple) or sorted(map(repr, places)) != sorted(map(repr, range(len(shape)))):
            return m.unknown("a permuted shape")
        return tuple(shape[place] for place in places)

    return view(m, args[0], each(m, args[0].attrs["shape"], turn), args[0].attrs["dtype"])


@_method("view", "reshape")
def _view(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    given = [settle(m, a) for a in args[1:]]
    if len(given) == 1 and isinstance(given[0], Token):
        return _viewed_as(m, args[0], given[0])
    shape = sizes(m, tuple(given), kwargs)
    if isinstance(shape, tuple):
        shape = _fill_in(m, shape, args[0])
    return view(m, args[0], shape, args[0].attrs["dtype"])


def _viewed_as(m: Machine, atom: Instance, dtype: Token) -> Value:
    old, shape = settle(m, atom.attrs["dtype"]), settle(m, atom.attrs["shape"])
    before = dtype_attribute(old, "itemsize") if isinstance(old, Token) else MISSING
    if isinstance(shape, tuple) and shape and before == dtype_attribute(dtype, "itemsize"):
        return view(m, atom, shape, dtype)
    return view(m, atom, m.unknown(f"shape viewed as {dtype.symbol}"), dtype)


def _fill_in(m: Machine, shape: Args, atom: Instance) -> Value:
    """Replace one -1 by what is left of the elements."""
    sizes = [plain(settle(m, s)) for s in shape]
    if -1 not in sizes:
        return shape
    left = _left(m, settle(m, atom.attrs["shape"]), [s for s in sizes if s != -1])
    return tuple(left if s == -1 else s for s in sizes)


def _left(m: Machine, whole: Value, taken: list[Value]) -> Value:
    """The elements of a shape over those of other sizes: equal sizes cancel, known numbers divide."""
    rest = [plain(settle(m, s)) for s in whole] if isinstance(whole, tuple) else []
    for size in list(taken):
        same = next((at for at, s in enumerate(rest) if term(m, s) == term(m, size)), None)
        if same is not None:
            del rest[same]
            taken.remove(size)
    numbers = [s for s in rest if isinstance(s, int)]
    known = all(isinstance(s, int) and s > 0 for s in taken) and isinstance(whole, tuple)
    if not known or math.prod(numbers) % math.prod(taken):
        return m.unknown("a size", kind="int")
    out: Value = math.prod(numbers) // math.prod(taken)
    for size in rest:
        out = out if isinstance(size, int) else each2(m, size, out, partial(binary, m, "*", node=None))
    return out


@_method("to")
def _to(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    dtype = next(
        (a for a in (*args[1:], kwargs.get("dtype")) if isinstance(a, Token)), args[0].attrs["dtype"]
    )
    out = view(m, args[0], args[0].attrs["shape"], dtype)
    given = [settle(m, a) for a in (*args[1:], *kwargs.values())]
    known = all(isinstance(plain(a), Token | Opaque | bool | str) for a in given)
    if HOST in map(plain, given):
        _hosted(m, out)
    return numbers.like(m, args[0], out) if known else out  # an unknown may be a dtype


def _of_place(change: Callable[[Args, int], Args | None]) -> Run:
    """A method that is told a dimension: `change` gives the shape, None where that is not known."""

    def run(m: Machine, args: Args, kwargs: Kwargs) -> Value:
        shape, given = settle(m, args[0].attrs["shape"]), (*args[1:], *kwargs.values())
        place = plain(settle(m, given[0])) if len(given) == 1 else None
        made = change(shape, place) if isinstance(shape, tuple) and type(place) is int else None
        return vague(m, args, kwargs) if made is None else view(m, args[0], made, args[0].attrs["dtype"])

    return run


def _without(shape: Args, place: int) -> Args | None:
    if not -len(shape) <= place < len(shape) or type(size := plain(shape[place])) is not int:
        return None
    place %= len(shape)
    return (*shape[:place], *shape[place + 1 :]) if size == 1 else shape


def _with_one_more(shape: Args, place: int) -> Args | None:
    if not -len(shape) - 1 <= place <= len(shape):
        return None
    place %= len(shape) + 1
    return (*shape[:place], 1, *shape[place:])


METHODS["squeeze"] = Native("Tensor.squeeze", _of_place(_without))
METHODS["unsqueeze"] = Native("Tensor.unsqueeze", _of_place(_with_one_more))


@_method(
    "flatten",
    "expand",
    "narrow",
    "repeat",
    "chunk",
    "split",
    "repeat_interleave",
)
def vague(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    numbers.write(m, args[0], MISSING)
    return m.unknown("a tensor", kind="tensor")
