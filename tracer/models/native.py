"""How our models of library functions are declared: a table from symbol to native."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..evaluate.atoms import describe, is_open, plain
from ..evaluate.operators import computed
from ..evaluate.unions import each
from ..evaluate.values import CONSTANTS, Native, Value

if TYPE_CHECKING:
    from ..evaluate.machine import Machine

Args = tuple[Value, ...]
Kwargs = dict[str, Value]
Run = Callable[["Machine", Args, Kwargs], Value]


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


class MethodTable:
    """Methods of Python's containers by (kind, name); `table(ListValue, "append")(run)` declares one."""

    def __init__(self) -> None:
        self.rows: dict[tuple[type, str], Native] = {}

    def __call__(self, kind: type, *names: str) -> Callable[[Run], Run]:
        def declare(run: Run) -> Run:
            for name in names:
                self.rows[kind, name] = Native(f"{kind.__name__}.{name}", run)
            return run

        return declare


def argument(args: Args, kwargs: Kwargs, at: int, name: str, default: Value = None) -> Value:
    """The argument at position `at` or called `name`."""
    return args[at] if len(args) > at else kwargs.get(name, default)


def atoms(m: Machine, args: Args, run: Callable[[Args], Value], done: Args = ()) -> Value:
    """`run` on every combination of the atoms that the arguments can be."""
    if not args:
        return run(done)
    return each(m, args[0], lambda atom: atoms(m, args[1:], run, (*done, atom)))


def by_python(m: Machine, name: str, run: Callable[..., Any], args: Args, kind: str | None = None) -> Value:
    """What Python computes where every argument is a constant, an unknown elsewhere."""

    def compute(found: Args) -> Value:
        values = tuple(map(plain, found))
        if all(isinstance(v, CONSTANTS) for v in values):
            return computed(m, lambda: run(*values))
        if not any(is_open(m, atom) for atom in found):
            return m.fail("TypeError", f"{name}() does not take {', '.join(map(describe, found))}")
        m.may_raise(f"{name}() of an unknown raises", "ValueError")
        return m.unknown(f"{name}({', '.join(map(describe, found))})", kind=kind)

    return atoms(m, args, compute)
