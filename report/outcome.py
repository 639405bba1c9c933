"""Where a walk can end: the classes, kernels, operators and parameters that a layer gets, or a refusal."""

from __future__ import annotations

import re
from math import prod

from msgspec import Struct

from .cache import Cache
from .names import short
from .predicate import Always, Predicate, Site

NOWHERE = "not followed to its end"
"""How an outcome reads that names no class and no refusal: what happens there is not known."""


def bits_of(dtype: str) -> int | None:
    """Bits that an element of a torch dtype takes, which its name tells; None for another name."""
    if dtype == "bool":
        return 8
    if dtype == "float4_e2m1fn_x2":  # two values in a byte
        return 8
    found = re.fullmatch(r"(?:b?float|u?int|complex)(\d+)(?:_\w+)?", dtype)
    return int(found[1]) if found else None


class Parameter(Struct, frozen=True, kw_only=True):
    """A tensor that the layer method registers on the layer."""

    name: str
    dtype: str
    """As torch names it: `float8_e4m3fn`, `int32`."""
    shape: tuple[int | str, ...]
    """Elements a dimension; a dimension that is not known is its symbolic term, as in `K // 8`."""
    stored: tuple[str, ...] = ()
    """The dtypes of the checkpoint's tensors that are loaded into it, where their headers are at hand."""

    def size(self) -> int | None:
        """Bytes that the tensor takes; None where its dtype or a dimension is not known."""
        bits = bits_of(self.dtype)
        if bits is None or not all(isinstance(n, int) for n in self.shape):
            return None
        return -(-prod(n for n in self.shape if isinstance(n, int)) * bits // 8)

    def __str__(self) -> str:
        return f"{self.name}: {self.dtype}[{', '.join(map(str, self.shape))}]"


class Kernel(Struct, frozen=True, kw_only=True):
    """A kernel object that the layer method or scheme holds."""

    attribute: str
    """The attribute path to it from the layer method: `fp8_linear`, `scheme.kernel`."""
    symbol: str
    """Its class."""

    def __str__(self) -> str:
        return f"{self.attribute}: {self.symbol}"


class Refusal(Struct, frozen=True, kw_only=True):
    """The engine raises here, in its own words."""

    exception: str
    """The exception's class: `ValueError`."""
    message: str
    """The text as the engine would print it, as far as its parts are known."""
    site: Site | None = None
    """The `raise` statement."""
    guard: Predicate = Always()
    """The condition on which the statement itself stands, as in the source: `not quantization in (...)`."""
    within: tuple[str, ...] = ()
    """The functions that are under way there, the outermost first; the last one raises."""

    def __str__(self) -> str:
        return f"{self.exception}: {self.message}"


class Outcome(Struct, frozen=True, kw_only=True):
    """One end of a walk, under a guard over what is still unknown."""

    guard: Predicate = Always()
    config: str | None = None
    """The quantization config class; None where the layer is unquantized or refused before there is one."""
    method: str | None = None
    """The layer method class."""
    scheme: str | None = None
    kernels: tuple[Kernel, ...] = ()
    ops: tuple[str, ...] = ()
    """Operators that a forward calls, in order of first call."""
    dtypes: tuple[str, ...] | None = None
    """The dtypes of the tensors that a forward makes on its way, in order of first use; None where it was not
    followed to its end.
    """
    parameters: tuple[Parameter, ...] = ()
    cache: Cache | None = None
    """What an attention layer's keys and values are kept in."""
    refusal: Refusal | None = None

    def steps(self) -> tuple[str, ...]:
        """The classes from config to kernel, in the order in which they are reached."""
        named = (self.config, self.method, self.scheme, *(k.symbol for k in self.kernels))
        return tuple(symbol for symbol in named if symbol)

    def __str__(self) -> str:
        end = str(self.refusal) if self.refusal else " -> ".join(map(short, self.steps())) or NOWHERE
        return end if self.guard == Always() else f"{end} when {self.guard}"
