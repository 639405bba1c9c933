"""The one number that a tensor holds, where the engine's text tells it.

A number is followed only while nothing but the ways below writes it. What a parameter holds is whatever a
checkpoint brings: only the number that it was made with is known.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

from ..evaluate.atoms import describe, plain
from ..evaluate.comparing import ORDER
from ..evaluate.unions import each, each2, settle, store
from ..evaluate.values import MISSING, Instance, Unknown, Value

if TYPE_CHECKING:
    from ..evaluate.machine import Machine

HELD, MADE_WITH = "the number it holds", "the number it was made with"
EXACT = frozenset(range(17)) | {2.0**-power for power in range(1, 7)}
"""Numbers, and their negatives, that are the same in every dtype of floating point."""

COMPARED = {op: run for op, (run, _, _) in ORDER.items()} | {"==": operator.eq, "!=": operator.ne}


def is_exact(value: Value) -> bool:
    return isinstance(value, int | float) and abs(value) in EXACT


def made_with(tensor: Instance, value: Value, held: bool = False) -> Instance:
    """Keep the number that a tensor is filled with, and where it stands alone, that it holds it."""
    value = plain(value)
    if is_exact(value):
        tensor.attrs[MADE_WITH] = value
        if held:
            tensor.attrs[HELD] = value
    return tensor


def number(m: Machine, atom: Value) -> Value:
    """What a tensor holds or a number is, MISSING on paths where nobody knows."""
    if isinstance(atom, Instance):
        return settle(m, atom.attrs.get(HELD, MISSING))
    return atom if isinstance(atom, int | float) else MISSING


def write(m: Machine, tensor: Instance, value: Value) -> None:
    """`tensor.fill_(value)` on the current path: a number, a tensor that holds one, or what is not known."""
    found = each(m, value, lambda atom: _exact(number(m, plain(atom))))
    if HELD in tensor.attrs or found is not MISSING:
        tensor.attrs[HELD] = store(m, tensor.attrs.get(HELD, MISSING), found, tensor.born)


def _exact(value: Value) -> Value:
    return value if is_exact(value) else MISSING


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
