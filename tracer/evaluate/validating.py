"""Values given to a field, as pydantic's validators of its class leave them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from .inheritance import bind, own_attribute
from .unions import each
from .values import MISSING, ClassValue, Descriptor, Function, Native, Value

if TYPE_CHECKING:
    from .machine import Machine

MARK = "<validates>"
"""Attribute of a validator: (names of fields, mode)."""


def validated(m: Machine, cls: ClassValue, name: str, value: Value) -> Value:
    """`value` for the field `name` after every validator that the class, or one above it, has for it."""
    if value is MISSING:
        return value
    for validator, fields, mode in _validators(m, cls):
        if name in fields or "*" in fields:
            value = each(m, value, partial(_run, m, cls, validator, mode))
    return value


def _validators(m: Machine, cls: ClassValue) -> list[tuple[Value, tuple[Value, ...], Value]]:
    """(validator, fields, mode), those that run before pydantic's own checks first."""
    found = m.world.validators.get(cls)
    if found is None:
        found = []
        for base in cls.mro:
            for name in _methods(base):
                held = own_attribute(m, base, name)
                func = held.func if isinstance(held, Descriptor) else held
                if isinstance(func, Function) and MARK in func.attrs:
                    found.append((held, *func.attrs[MARK]))
        found.sort(key=lambda row: row[2] != "before")
        m.world.validators[cls] = found
    return found


def _methods(base: Value) -> list[str]:
    return base.scope.named() if isinstance(base, ClassValue) and base.scope is not None else []


def _run(m: Machine, cls: ClassValue, validator: Value, mode: Value, value: Value) -> Value:
    from .calls import call_value

    func = validator.func if isinstance(validator, Descriptor) else validator
    handler = Native("a validator's handler", lambda m, args, kwargs: args[0])
    given = (value, handler) if mode == "wrap" else (value,)
    takes = sum(1 for param in func.node.params.items if param.kind in ("pos", "any"))
    if takes > len(given) + 1:
        given = (*given, m.unknown("what pydantic tells a validator"))
    return call_value(m, bind(m, validator, cls), given, {})
