"""How our models of library functions are declared: a table from symbol to native."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..evaluate.values import Native, Value

if TYPE_CHECKING:
    from ..evaluate.machine import Machine

Run = Callable[["Machine", tuple[Value, ...], dict[str, Value]], Value]


class Table:
    """Natives by symbol; `table("os.getenv")(run)` declares one."""

    def __init__(self) -> None:
        self.rows: dict[str, Any] = {}

    def __call__(self, *symbols: str) -> Callable[[Run], Run]:
        def declare(run: Run) -> Run:
            for symbol in symbols:
                self.rows[symbol] = Native(symbol, run)
            return run

        return declare


def argument(args: tuple[Value, ...], kwargs: dict[str, Value], at: int, name: str, default: Value = None) -> Value:
    """The argument at position `at` or called `name`."""
    return args[at] if len(args) > at else kwargs.get(name, default)
