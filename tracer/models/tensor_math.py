"""Arithmetic, comparisons and reductions of tensors, as far as shapes and dtypes go; what they hold is
unknown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..evaluate.atoms import describe, plain
from ..evaluate.operators import BINARY
from ..evaluate.slices import SliceValue
from ..evaluate.unions import settle
from ..evaluate.values import MISSING, Native, Token, Value
from . import numbers
from .native import Args, Kwargs
from .tensor_methods import METHODS, vague, view
from .tensors import DTYPES, TENSOR, is_tensor, make_tensor

if TYPE_CHECKING:
    from ..evaluate.machine import Machine

BOOLEAN = DTYPES["bool"]


def compared(m: Machine, op: str, a: Value, b: Value) -> Value:
    """`a op b` of tensors, element by element."""
    shape = _common(m, a, b)
    if shape is None:
        return m.unknown(f"{describe(a)} {op} {describe(b)}", kind="tensor")
    out = make_tensor(m, TENSOR, shape, BOOLEAN)
    if shape == ():
        out.attrs[numbers.HELD] = numbers.compared(m, op, a, b)
    return out


def _common(m: Machine, a: Value, b: Value) -> Value:
    """The shape that two operands are broadcast to; None where that is not known."""
    left, right = _shape(m, a), _shape(m, b)
    if left is None or right is None:
        return None
    if not left or not right or left == right:
        return left or right
    longer, shorter = (left, right) if len(left) >= len(right) else (right, left)
    padded = (1,) * (len(longer) - len(shorter)) + shorter
    if any(x != y and 1 not in (x, y) for x, y in zip(longer, padded, strict=True)):
        return None
    return tuple(max(x, y) if 0 not in (x, y) else 0 for x, y in zip(longer, padded, strict=True))


def _shape(m: Machine, atom: Value) -> tuple[int, ...] | None:
    """The sizes of an operand, all of them known; a number has none."""
    if isinstance(atom, int | float):
        return ()
    if not is_tensor(atom):
        return None
    shape = settle(m, atom.attrs["shape"])
    if not isinstance(shape, tuple):
        return None
    sizes = [plain(settle(m, size)) for size in shape]
    return tuple(s for s in sizes if isinstance(s, int)) if all(isinstance(s, int) for s in sizes) else None


def _dtype(m: Machine, op: str, a: Value, b: Value) -> Value:
    """The dtype of a result, where it is that of the operands; an unknown where promotion decides."""
    found = [settle(m, v.attrs["dtype"]) for v in (a, b) if is_tensor(v)]
    one = found[0]
    if not isinstance(one, Token) or any(other is not one for other in found):
        return m.unknown("a promoted dtype")
    floats = one.symbol.removeprefix("torch.").startswith(("float", "bfloat"))
    numbers = [v for v in (a, b) if not is_tensor(v)]
    if floats or (op != "/" and all(isinstance(n, int) for n in numbers)):
        return one
    return m.unknown("a promoted dtype")


def _arithmetic(op: str, swapped: bool) -> Native:
    def run(m: Machine, args: Args, kwargs: Kwargs) -> Value:
        a, b = reversed(args[:2]) if swapped else args[:2]
        shape = _common(m, a, b)
        if shape is None:
            return m.unknown(f"{describe(a)} {op} {describe(b)}", kind="tensor")
        return make_tensor(m, TENSOR, shape, _dtype(m, op, a, b))

    return Native(f"Tensor.{op}", run)


def _in_place(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    """`a op= b`: the same tensor, which holds something else now."""
    numbers.write(m, args[0], MISSING)
    return args[0]


for _op, (_, _name) in BINARY.items():
    if _op != "@":
        TENSOR.attrs[f"__i{_name}__"] = Native(f"Tensor.{_op}=", _in_place)
        TENSOR.attrs[f"__{_name}__"] = _arithmetic(_op, swapped=False)
        TENSOR.attrs[f"__r{_name}__"] = _arithmetic(_op, swapped=True)


def _item(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    """`tensor[i]`, `tensor[a:b]` and several of these, along the first dimensions."""
    tensor, at = args[0], plain(args[1])
    indices = at if isinstance(at, tuple) else (at,)
    shape = settle(m, tensor.attrs["shape"])
    if not isinstance(shape, tuple) or len(indices) > len(shape):
        return vague(m, (tensor,), {})
    left: list[Value] = []
    for dimension, (index, size) in enumerate(zip(map(plain, indices), map(plain, shape), strict=False)):
        if isinstance(index, SliceValue) and isinstance(size, int):
            left.append(len(range(size)[index.value]))
        elif not isinstance(index, int) or isinstance(index, bool) or not isinstance(size, int):
            return vague(m, (tensor,), {})
        elif not -size <= index < size:
            message = f"index {index} is out of bounds for dimension {dimension} with size {size}"
            return m.fail("IndexError", message)
    return view(m, tensor, (*left, *shape[len(indices) :]), tensor.attrs["dtype"])


TENSOR.attrs["__getitem__"] = Native("Tensor.__getitem__", _item)
TENSOR.attrs["__setitem__"] = Native(
    "Tensor.__setitem__", lambda m, args, kwargs: numbers.write(m, args[0], MISSING)
)
TENSOR.attrs["__bool__"] = Native("Tensor.__bool__", lambda m, args, kwargs: numbers.truth(m, args[0]))


def _reduction(name: str, boolean: bool) -> Native:
    """All elements made one; along a dimension or against another tensor, what comes is not followed."""

    def run(m: Machine, args: Args, kwargs: Kwargs) -> Value:
        if len(args) > 1 or kwargs:
            return m.unknown(
                f"{describe(args[0])}.{name}()", kind=None if name in ("max", "min") else "tensor"
            )
        return make_tensor(m, TENSOR, (), BOOLEAN if boolean else args[0].attrs["dtype"])

    return Native(f"Tensor.{name}", run)


for _name in ("max", "min", "amax", "amin", "mean", "all", "any"):
    METHODS[_name] = _reduction(_name, boolean=_name in ("all", "any"))
