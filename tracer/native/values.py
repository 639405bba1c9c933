"""Numbers that may be open: C++'s arithmetic in three values, and what is known from outside."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct

Facts = Mapping[str, int | None]
"""What is known outside of the function: a macro's value, or None where it is known not to be defined.

A query that leaves its answer in `&x` or takes no argument goes by its function: `cudaRuntimeGetVersion`.
"""


class Open(Struct, frozen=True, gc=False):
    """A value that is not known, and the names that would decide it."""

    needs: frozenset[str]


class Tensor(Struct, frozen=True, gc=False):
    """What is known of a tensor: elements a dimension, and bytes an element; None where nobody knows."""

    shape: tuple[int | None, ...] | None
    itemsize: int | None

    def answer(self, name: str, args: tuple[Value, ...]) -> int | None:
        """Say what `tensor.name(args)` gives, None where that is not known."""
        if name in ("itemsize", "element_size") and not args:
            return self.itemsize
        if self.shape is None:
            return None
        if name == "dim" and not args:
            return len(self.shape)
        at = args[0] if name == "size" and len(args) == 1 else None
        fits = isinstance(at, int) and -len(self.shape) <= at < len(self.shape)
        return self.shape[at] if isinstance(at, int) and fits else None


Value = int | str | Tensor | Open


class Macro(Struct, frozen=True, gc=False):
    """What is known of a macro: whether it is defined, and to what."""

    defined: Value
    value: Value


Macros = dict[str, Macro]


def conj(a: Value, b: Value) -> Value:
    """`a && b` in three values."""
    if a == 0 or b == 0:
        return 0
    return joined(a, b) if isinstance(a, Open) or isinstance(b, Open) else 1


def neg(a: Value) -> Value:
    """`!a` in three values."""
    return a if isinstance(a, Open) else int(a == 0)


def disj(a: Value, b: Value) -> Value:
    """`a || b` in three values."""
    return neg(conj(neg(a), neg(b)))


def joined(*values: Value) -> Open:
    """Gather what would decide those of the values that are open."""
    return Open(frozenset().union(*(value.needs for value in values if isinstance(value, Open))))


def left_open(*names: str) -> Open:
    """Give the value that these names would decide."""
    return Open(frozenset(names))


_BITS = {"int32": 31, "int64": 63}
_CLASSES: dict[str, type] = {"text": str, "tensor": Tensor}


def cast(kind: str, value: Value) -> Value:
    """Convert to a C++ type of the subset; what does not fit is open."""
    if isinstance(value, Open):
        return value
    if kind == "bool":
        return int(value != 0)
    if isinstance(value, int if kind == "auto" else _CLASSES.get(kind, ())):
        return value
    if not isinstance(value, int):
        return left_open(f"a {type(value).__name__.lower()} as {kind}")
    bits = _BITS.get(kind)
    fits = bits is not None and -(1 << bits) <= value < 1 << bits
    return value if fits else left_open(f"{value} as {kind}")


def _quotient(a: int, b: int) -> int:
    whole = abs(a) // abs(b)
    return whole if (a < 0) == (b < 0) else -whole


ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": _quotient,
    "%": lambda a, b: a - b * _quotient(a, b),
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
    "<": lambda a, b: int(a < b),
    "<=": lambda a, b: int(a <= b),
    ">": lambda a, b: int(a > b),
    ">=": lambda a, b: int(a >= b),
}


def arithmetic(op: str, a: Value, b: Value) -> Value:
    """Apply an operator of `ARITHMETIC`, to 64 bits."""
    if isinstance(a, Open) or isinstance(b, Open):
        return joined(a, b)
    if isinstance(a, str) and isinstance(b, str) and op in ("==", "!="):
        return int((a == b) == (op == "=="))
    if not isinstance(a, int) or not isinstance(b, int):
        return left_open(f"{op} of what is no number")
    if op in ("/", "%") and b == 0:
        return left_open("division by zero")
    return cast("int64", ARITHMETIC[op](a, b))
