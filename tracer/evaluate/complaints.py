"""What Python says of arguments that do not fit, word for word: refusals are told with their message."""

from __future__ import annotations

from collections.abc import Sequence

from .frames import Frame
from .values import Function


def qualified(func: Function) -> str:
    """The function's `__qualname__`."""
    closure = func.closure
    if isinstance(closure, Frame) and closure.function is not None:
        outer = closure.function
        return f"{qualified(outer)}.<locals>.{func.symbol.removeprefix(f'{outer.symbol}.')}"
    return func.symbol.removeprefix(f"{func.module.name}.")


def missing(name: str, wanted: Sequence[str], keyword: bool) -> str:
    """That these parameters of the function `name`, all of one kind, were not given."""
    kind = "keyword-only" if keyword else "positional"
    plural = "" if len(wanted) == 1 else "s"
    return f"{name}() missing {len(wanted)} required {kind} argument{plural}: {_listed(wanted)}"


def _listed(names: Sequence[str]) -> str:
    quoted = [f"'{name}'" for name in names]
    if len(quoted) < 3:
        return " and ".join(quoted)
    return f"{', '.join(quoted[:-1])}, and {quoted[-1]}"


def too_many(name: str, least: int, most: int, given: int, keywords: int = 0) -> str:
    """That more positional arguments came than the function `name` takes, besides `keywords` that only go by
    name.
    """
    takes = f"{most}" if least == most else f"from {least} to {most}"
    plural = "" if most == 1 and least == most else "s"
    were = "was" if given == 1 and not keywords else "were"
    came = f"{given}"
    if keywords:
        came += f" positional argument{'' if given == 1 else 's'} (and {keywords} keyword-only argument"
        came += ")" if keywords == 1 else "s)"
    return f"{name}() takes {takes} positional argument{plural} but {came} {were} given"


def by_place(name: str, params: Sequence[str]) -> str:
    """That these parameters were given by name and only go by place."""
    listed = ", ".join(params)
    return f"{name}() got some positional-only arguments passed as keyword arguments: '{listed}'"


def twice(name: str, param: str) -> str:
    return f"{name}() got multiple values for argument '{param}'"


def unexpected(name: str, keyword: str) -> str:
    return f"{name}() got an unexpected keyword argument '{keyword}'"
