"""pydantic's field validators: marked where they are declared, run on what a field is given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..evaluate.validating import MARK
from ..evaluate.values import Descriptor, Function, Native, Value
from .native import Args, Kwargs, Table

if TYPE_CHECKING:
    from ..evaluate.machine import Machine

table = Table()


@table("pydantic.field_validator")
def _field_validator(m: Machine, fields: Args, kwargs: Kwargs) -> Value:
    """`field_validator(*fields, mode=...)`: a decorator that keeps what it decorates, marked."""

    def keep(m: Machine, args: Args, _: Kwargs) -> Value:
        func = args[0].func if isinstance(args[0], Descriptor) else args[0]
        if isinstance(func, Function):
            func.attrs[MARK] = (fields, kwargs.get("mode", "after"))
        return args[0]

    return Native("pydantic.field_validator()", keep)
