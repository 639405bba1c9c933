"""The one number that a tensor holds, where the engine's text tells it.

A number is followed only while nothing but the ways below writes it, to the tensor or to another that may
share its memory. What a parameter holds is whatever a checkpoint brings: only the number that it was made
with is known.
"""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING

from ..evaluate.atoms import describe, plain
from ..evaluate.comparing import ORDER
from ..evaluate.unions import each, each2, settle, store
from ..evaluate.values import MISSING, DictValue, Instance, ListValue, Token, Unknown, Value

if TYPE_CHECKING:
    from ..evaluate.machine import Machine

HELD, MADE_WITH = "the number it holds", "the number it was made with"
EXACT = frozenset(range(17)) | {2.0**-power for power in range(1, 7)}
"""Numbers, and their negatives, that are the same in every dtype of floating point."""

COMPARED = {op: run for op, (run, _, _) in ORDER.items()} | {"==": operator.eq, "!=": operator.ne}


FLOATING = frozenset(f"torch.{name}" for name in ("float16", "bfloat16", "float32", "float64"))
SHARED = "tensors that may share its memory"
HIDDEN = (HELD, MADE_WITH, SHARED)
PARAMETER = "torch.nn.parameter.Parameter"


def kept(m: Machine, dtype: Value, value: Value) -> Value:
    """`value` as a tensor of this dtype holds it, MISSING where that is not certain."""
    dtype, value = settle(m, dtype), plain(value)
    if isinstance(dtype, Token) and dtype.symbol == "torch.bool":
        return value if isinstance(value, bool) else MISSING
    floating = isinstance(dtype, Token) and dtype.symbol in FLOATING
    if not floating and dtype is not m.world.settings["default dtype"]:  # which is of floating point, too
        return MISSING
    return float(value) if isinstance(value, int | float) and abs(value) in EXACT else MISSING


def made_with(m: Machine, tensor: Instance, value: Value, held: bool = False) -> Instance:
    """Keep the number that a tensor is filled with, and where it is followed, that it holds it."""
    value = each(m, value, lambda atom: kept(m, tensor.attrs["dtype"], atom))
    if value is not MISSING:
        tensor.attrs |= {MADE_WITH: value} | ({HELD: value} if held else {})
    return tensor


def number(m: Machine, atom: Value) -> Value:
    """What a tensor of one element holds or a number is, MISSING on paths where nobody knows."""
    if not isinstance(atom, Instance):
        return atom if isinstance(atom, int | float) else MISSING
    held = atom.attrs.get(HELD, MISSING) if _elements(m, atom) == 1 else MISSING
    return each(m, settle(m, held), lambda found: found if isinstance(found, int | float) else MISSING)


def _elements(m: Machine, tensor: Instance) -> Value:
    shape = settle(m, tensor.attrs.get("shape", MISSING))
    found = [plain(settle(m, size)) for size in shape] if isinstance(shape, tuple) else [MISSING]
    return math.prod(found) if all(isinstance(size, int) for size in found) else MISSING


def write(m: Machine, tensor: Instance, value: Value) -> None:
    """`tensor.fill_(value)` on the current path: a number, a tensor that holds one, or what is not known."""
    dtype = tensor.attrs["dtype"]
    found = each(m, value, lambda atom: each(m, number(m, plain(atom)), lambda n: kept(m, dtype, n)))
    for other in tensor.attrs.get(SHARED, ()):
        _put(m, other, MISSING)
    _put(m, tensor, found)


def _put(m: Machine, tensor: Instance, found: Value) -> None:
    """A parameter that is not loaded yet is made with what is written to it."""
    made = HELD not in tensor.attrs and any(base.symbol == PARAMETER for base in tensor.cls.mro)
    for slot in (MADE_WITH,) if made else (MADE_WITH, HELD):
        if slot in tensor.attrs or found is not MISSING:
            m.touch(tensor, ("attribute", slot))
            tensor.attrs[slot] = store(m, tensor.attrs.get(slot, MISSING), found, tensor.born)


def share(tensor: Instance, other: Instance) -> Instance:
    """Remember of `other` that it may be another view of the memory of `tensor`; gives it back."""
    mine, more = (a.attrs.setdefault(SHARED, [a]) for a in (tensor, other))
    if mine is not more:
        mine += more
        for one in more:
            one.attrs[SHARED] = mine
    return other


def like(m: Machine, tensor: Instance, other: Instance) -> Instance:
    """Let `other` hold what `tensor` does, in its own dtype; gives it back."""
    found = each(m, number(m, tensor), lambda n: kept(m, other.attrs["dtype"], n))
    if found is not MISSING:
        other.attrs[HELD] = found
    return other


def forget(m: Machine, value: Value) -> None:
    """Whoever is given these values may write to the tensors among them."""
    _forget_all(m, value, {})


def _forget_all(m: Machine, value: Value, seen: dict[int, Value]) -> None:
    each(m, value, lambda atom: _forget(m, atom, seen))


def _forget(m: Machine, atom: Value, seen: dict[int, Value]) -> None:
    held = plain(atom)
    if id(held) in seen:  # a container may hold itself
        return
    seen[id(held)] = held  # kept, so that no other one comes to lie in its place
    if isinstance(atom, Instance) and "dtype" in atom.attrs and "shape" in atom.attrs:
        write(m, atom, MISSING)
    elif isinstance(held, tuple):
        for part in held:
            _forget_all(m, part, seen)
    elif isinstance(held, ListValue):
        _forget_all(m, held.content, seen)
    elif isinstance(held, DictValue):
        for _, part in list(held.entries.values()):
            _forget_all(m, part, seen)


def compared(m: Machine, op: str, a: Value, b: Value) -> Value:
    """`a op b` of two numbers that are known, MISSING on other paths."""
    return each2(
        m,
        number(m, a),
        number(m, b),
        lambda x, y: MISSING if x is MISSING or y is MISSING else COMPARED[op](x, y),
    )


def told(m: Machine, tensor: Instance, unknown: Value) -> Value:
    """The number that `tensor` holds, `unknown` on paths where nobody knows."""
    return each(m, number(m, tensor), lambda found: unknown if found is MISSING else found)


def truth(m: Machine, tensor: Instance) -> Value:
    unknown = m.unknown(f"what {describe(tensor)} holds", kind="bool")
    return each(m, told(m, tensor, unknown), lambda v: v if isinstance(v, Unknown) else bool(v))
