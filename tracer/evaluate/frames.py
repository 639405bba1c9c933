"""One call under way: its names, its returns, its loops."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .unions import settle, store
from .values import MISSING, ClassValue, Function, ModuleValue, Value

if TYPE_CHECKING:
    from ..guards import Guard
    from .machine import Machine
    from .scopes import LazyScope


class Loop:
    """Where the paths that left one loop by `break` or `continue` wait for its end."""

    __slots__ = ("broken", "continued")

    def __init__(self, false: Guard) -> None:
        self.broken, self.continued = false, false


class Frame:
    """The names of one call, or of the module or class body that is being evaluated (`scope`)."""

    __slots__ = (
        "born", "cls", "function", "line", "loops", "module", "names", "outer", "redirect", "returns", "scope", "yields",
    )  # fmt: skip

    def __init__(
        self,
        module: ModuleValue,
        function: Function | None,
        outer: Frame | None,
        born: Guard,
        scope: LazyScope | None = None,
        cls: ClassValue | None = None,
    ) -> None:
        self.module, self.function, self.outer, self.born = module, function, outer, born
        self.scope, self.cls = scope, cls
        self.names: dict[str, Value] = {} if scope is None else scope.values
        self.redirect: dict[str, Frame | None] = {}
        self.returns: list[tuple[Guard, Value]] = []
        self.loops: list[Loop] = []
        self.yields: Value = None
        self.line = 0

    @property
    def symbol(self) -> str:
        if self.function is not None:
            return self.function.symbol
        return self.cls.symbol if self.cls is not None else self.module.name

    def read(self, m: Machine, name: str) -> Value:
        """The value of `name` in this frame alone, MISSING where it is not bound."""
        if self.scope is not None:
            return settle(m, self.scope.read(m, name))
        return settle(m, self.names.get(name, MISSING))

    def write(self, m: Machine, name: str, value: Value) -> None:
        """Bind `name` on the current path; `global` and `nonlocal` names are bound where they live."""
        if name in self.redirect:
            target = self.redirect[name]
            names = self.module.scope.values if target is None else target.names
            names[name] = store(m, names.get(name, MISSING), value, m.space.true)
            return
        self.names[name] = store(m, self.names.get(name, MISSING), value, self.born)
