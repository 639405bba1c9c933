"""One call under way: its names, its returns, its loops."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .unions import settle, store
from .values import MISSING, ClassValue, Function, ModuleValue, Value

if TYPE_CHECKING:
    from ..guards import Guard
    from .machine import Machine
    from .scopes import LazyScope
    from .walking import Taker


class Loop:
    """Where the paths that left one loop by `break` or `continue` wait for its end."""

    __slots__ = ("broken", "continued")

    def __init__(self, false: Guard) -> None:
        self.broken, self.continued = false, false


class Frame:
    """The names of one call, or of the module or class body that is being evaluated (`scope`).

    `local` are the names that the text binds here, None where any name may be (module and class bodies);
    `outer` is the frame around it in the text. A comprehension is a frame of its own, inside that of its
    function.
    """

    __slots__ = (
        "born", "cls", "comprehension", "function", "line", "local", "loops", "module", "names", "outer",
        "redirect",
        "returns", "scope", "take", "vague",
    )  # fmt: skip

    def __init__(
        self,
        module: ModuleValue,
        function: Function | None,
        outer: Frame | None,
        born: Guard,
        scope: LazyScope | None = None,
        cls: ClassValue | None = None,
        local: frozenset[str] | None = None,
    ) -> None:
        self.module, self.function, self.outer, self.born = module, function, outer, born
        self.scope, self.cls, self.local = scope, cls, local
        self.names: dict[str, Value] = {} if scope is None else scope.values
        self.redirect: dict[str, Frame | None] = {}
        self.returns: list[tuple[Guard, Value]] = []
        self.loops: list[Loop] = []
        self.take: Taker | None = None
        """Who takes what this frame yields, when it is a generator's."""
        self.comprehension = False
        self.vague = 0
        """How many loops around here run nobody knows how often: what happens once may happen again."""
        self.line = 0

    @property
    def symbol(self) -> str:
        if self.function is not None:
            return self.function.symbol
        return self.cls.symbol if self.cls is not None else self.module.name

    @property
    def is_class_body(self) -> bool:
        return self.cls is not None and self.local is None

    def read(self, m: Machine, name: str) -> Value:
        """The value of `name` in this frame alone, MISSING where it is not bound."""
        if self.scope is not None:
            return settle(m, self.scope.read(m, name))
        return settle(m, self.names.get(name, MISSING))

    def write(self, m: Machine, name: str, value: Value) -> None:
        """Bind `name` on the current path; `global` and `nonlocal` names are bound where they live."""
        if name not in self.redirect:
            m.touch(self, ("name", name))
            self.names[name] = store(m, self.names.get(name, MISSING), value, self.born)
            return
        target = self.redirect[name]
        if target is None:
            self.module.scope.write(m, name, value)
        else:
            target.write(m, name, value)

    def declare(self, name: str, kind: str) -> None:
        """`global name` or `nonlocal name`."""
        self.redirect[name] = None if kind == "global" else self.enclosing(name)

    def enclosing(self, name: str) -> Frame | None:
        """The frame of the nearest function around this one that binds `name`."""
        frame = self.outer
        while frame is not None and (frame.local is None or name not in frame.local):
            frame = frame.outer
        return frame

    def host(self) -> Frame:
        """The frame that runs here: that of the function or body around a comprehension."""
        frame = self
        while frame.comprehension and frame.outer is not None:
            frame = frame.outer
        return frame
