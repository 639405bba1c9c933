"""Who claims a kernel that a profiler prints: operators by what they launch, else a library by its names."""

from __future__ import annotations

from collections.abc import Iterable

from .chain import Hop, HopKind
from .launched import base_name, families
from .operator import Operator


class Claims:
    """The operators of one build, asked by the names of kernels."""

    def __init__(self, operators: Iterable[Operator]) -> None:
        self._launched: dict[str, list[tuple[str, Hop]]] = {}
        for operator in operators:
            for hop in operator.hops:
                if hop.kind is HopKind.GLOBAL_KERNEL:
                    self._launched.setdefault(hop.symbol, []).append((operator.symbol, hop))

    def operators(self, printed: str) -> tuple[str, ...]:
        """The operators that launch the kernel; those whose template arguments the name shows come alone."""
        found = self._launched.get(base_name(printed), [])
        given = template_arguments(printed)
        shown = [symbol for symbol, hop in found if hop.handed and _follow(hop.handed, given)]
        return tuple(dict.fromkeys(shown or (symbol for symbol, _ in found)))

    def of(self, printed: str) -> tuple[str, ...]:
        """Operators that launch the kernel; where none does, the library's families that name it."""
        return self.operators(printed) or tuple(family.name for family in families(printed))


def template_arguments(printed: str) -> tuple[str, ...]:
    """The template arguments of a printed name, each as it is printed; none where there are none."""
    found: list[str] = []
    depth, begin = 0, 0
    for place, sign in enumerate(printed):
        if sign in "<({[":
            depth += 1
            begin = place + 1 if depth == 1 else begin
            if depth == 1 and sign == "(":
                break
        elif sign in ">)}]":
            depth -= 1
            if not depth:
                return (*found, printed[begin:place].strip())
        elif sign == "," and depth == 1:
            found.append(printed[begin:place].strip())
            begin = place + 1
    return ()


def _follow(handed: tuple[str, ...], given: tuple[str, ...]) -> bool:
    """Whether arguments are among those that are printed, in their order."""
    rest = iter(given)
    return all(any(_is(name, argument) for argument in rest) for name in handed)


def _is(name: str, argument: str) -> bool:
    if name in ("true", "false"):
        return argument in (name, f"(bool){int(name == 'true')}")
    return f"{name}<" in argument or argument.lstrip("&") == name
