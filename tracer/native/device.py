"""An operator's hops on one device: conditions on its capability settled, what cannot be reached left out."""

from __future__ import annotations

import operator as comparison
import re
from functools import partial

from msgspec.structs import replace

from ...report.beside import barred
from ...report.model import Operator
from ...report.operator import reached
from ...report.predicate import Compare
from .images import on

_COMPARED = {
    "==": comparison.eq,
    "!=": comparison.ne,
    "<": comparison.lt,
    "<=": comparison.le,
    ">": comparison.gt,
    ">=": comparison.ge,
}
_TERM = re.compile(r"capability(?: (//|%) 10)?")
_NUMBER = re.compile(r"\d{1,9}")


def on_device(operator: Operator, capability: int | None) -> Operator:
    """What a device of that capability (90 for 9.0) can reach; without one, all under its condition."""
    if capability is None:
        return operator
    left = reached(operator, partial(_decide, capability))
    return on(capability, replace(left, barred=barred(operator, left)))


def _decide(capability: int, test: Compare) -> bool | None:
    term, number = _TERM.fullmatch(test.left), _NUMBER.fullmatch(test.right)
    if term is None or number is None:
        return None
    value = {"//": capability // 10, "%": capability % 10}.get(term[1], capability)
    return bool(_COMPARED[test.op](value, int(test.right)))
