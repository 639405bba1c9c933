"""What an evaluated expression can be: plain Python constants, engine objects, and what source cannot tell.

A `Value` is one *atom* or a `Guarded` set of atoms. Constants (None, bool, int, float, str, bytes) and
tuples are Python's own; everything mutable is a box whose slots hold Values, written under the guard of the
path that writes.
"""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from typing import TYPE_CHECKING, Any

from ...report.predicate import Site
from .mro import merge_mro

if TYPE_CHECKING:
    from .. import tree
    from ..guards import Guard
    from .scopes import LazyScope

Value = Any
"""One atom or a `Guarded` set (an alias: the evaluated language is dynamic)."""

LIBRARY_ERROR = "an exception of a library"
"""Symbol of the class that stands for whatever a library call raises."""

CONSTANTS = (type(None), bool, int, float, complex, str, bytes, type(...))


class Missing:
    """No value here: an unbound name, an absent attribute or key."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING = Missing()


class Guarded:
    """Alternatives with the guard each holds under; guards are disjoint and need not cover every path."""

    __slots__ = ("alts", "path")

    def __init__(self, alts: tuple[tuple[Guard, Value], ...], path: Guard | None = None) -> None:
        self.alts = alts
        self.path = path
        """What the guards together are, where whoever made them knew."""

    def __repr__(self) -> str:
        return f"Guarded{self.alts!r}"


LONGEST = 160
"""Characters of a label: nobody reads on, and what an unknown is made of may itself be long."""


class Unknown:
    """A value that source does not tell: `label` says in engine terms what it is, `key` tells it from others.

    Two unknowns of one key are the same value, so a condition on it decides once for the whole path.
    `kind` is a type name when at least that is known (`int`, `bool`, `str`, `tensor`); `positive` is a number
    that is 1 at least.
    """

    __slots__ = ("key", "kind", "label", "positive", "site")

    def __init__(
        self,
        key: str,
        label: str,
        site: Site | None = None,
        kind: str | None = None,
        positive: bool = False,
    ) -> None:
        self.key, self.site, self.kind, self.positive = key, site, kind, positive
        short = kind == "str" or len(label) <= LONGEST  # a text may be the message of a refusal
        self.label = label if short else f"{label[: LONGEST - 50]} … {label[-40:]}"

    def __repr__(self) -> str:
        return f"<unknown {self.label}>"


class Token:
    """A known constant of a library that we only ever compare: `torch.bfloat16`."""

    __slots__ = ("cls", "symbol")

    def __init__(self, symbol: str, cls: NativeClass) -> None:
        self.symbol, self.cls = symbol, cls

    def __repr__(self) -> str:
        return self.symbol


class UnionType(Token):
    """`A | B` of types: compared by what it reads as, asked by its parts."""

    __slots__ = ("parts",)

    def __init__(self, symbol: str, parts: tuple[Value, ...]) -> None:
        super().__init__(symbol, UNION)
        self.parts = parts


class Opaque:
    """Something of a library outside the engine, known by its symbol only: calling it gives an unknown."""

    __slots__ = ("symbol",)

    def __init__(self, symbol: str) -> None:
        self.symbol = symbol

    def __repr__(self) -> str:
        return f"<{self.symbol}>"


class ModuleValue:
    """A module of the engine, evaluated name by name as names are asked for."""

    __slots__ = ("name", "path", "scope")

    def __init__(self, name: str, path: str, scope: LazyScope) -> None:
        self.name, self.path, self.scope = name, path, scope

    @property
    def symbol(self) -> str:
        return self.name


class Function:
    """A `def` or `lambda` of the engine, with the scope it closes over and the attributes set on it."""

    __slots__ = ("attrs", "closure", "defaults", "marked", "module", "node", "owner", "symbol")

    def __init__(
        self,
        node: tree.FunctionDef | tree.Lambda,
        module: ModuleValue,
        symbol: str,
        closure: Any,
        defaults: dict[str, Value],
        owner: ClassValue | None,
    ) -> None:
        self.node, self.module, self.symbol = node, module, symbol
        self.closure, self.defaults, self.owner = closure, defaults, owner
        self.attrs: dict[str, Value] = {}
        self.marked = False
        """Whether a library's decorator had it: it may carry attributes that nobody here wrote."""

    def __repr__(self) -> str:
        return f"<function {self.symbol}>"


class Native:
    """A function of ours that stands for one of Python's or a library's: `call(machine, args, kwargs)`."""

    __slots__ = ("call", "symbol")

    def __init__(self, symbol: str, call: Callable[..., Value]) -> None:
        self.symbol, self.call = symbol, call

    def __repr__(self) -> str:
        return f"<{self.symbol}>"


class Bound:
    """A function with its first argument."""

    __slots__ = ("func", "self_")

    def __init__(self, func: Value, self_: Value) -> None:
        self.func, self.self_ = func, self_


class Wrapper:
    """A function of the engine behind one of our models of a decorator: `call(machine, args, kwargs)`."""

    __slots__ = ("attrs", "call", "func", "symbol")

    def __init__(
        self, func: Value, call: Callable[..., Value], attrs: dict[str, Value] | None = None
    ) -> None:
        self.func, self.call, self.attrs = func, call, attrs or {}
        self.symbol: str = func.symbol

    def __repr__(self) -> str:
        return f"<function {self.symbol}>"


class Manager:
    """A context manager that is no object: `run(machine, body)` runs the body of a `with` inside it."""

    __slots__ = ("run",)

    def __init__(self, run: Callable[..., None]) -> None:
        self.run = run


class Partial:
    """`functools.partial`."""

    __slots__ = ("args", "func", "kwargs")

    def __init__(self, func: Value, args: tuple[Value, ...], kwargs: dict[str, Value]) -> None:
        self.func, self.args, self.kwargs = func, args, kwargs


class Descriptor:
    """What a class attribute does on access: `kind` is property, classmethod or staticmethod."""

    __slots__ = ("func", "kind", "setter")

    def __init__(self, kind: str, func: Value, setter: Value = None) -> None:
        self.kind, self.func, self.setter = kind, func, setter


class FieldDefault:
    """What `dataclasses.field(...)` or pydantic's `Field(...)` leaves as a class attribute."""

    __slots__ = ("compare", "default", "factory", "init", "kw_only", "repr")

    def __init__(self, default: Value, factory: Value, init: bool) -> None:
        self.default, self.factory, self.init = default, factory, init
        self.kw_only, self.repr, self.compare = False, True, True


class Super:
    """`super()` inside a method of `owner`, bound to `self_`."""

    __slots__ = ("owner", "self_")

    def __init__(self, owner: ClassValue, self_: Value) -> None:
        self.owner, self.self_ = owner, self_


class NativeClass:
    """A class that Python or a library defines, with the few methods that matter as natives."""

    __slots__ = ("attrs", "bases", "construct", "mro", "name", "symbol")

    def __init__(
        self,
        symbol: str,
        bases: tuple[NativeClass, ...] = (),
        attrs: dict[str, Value] | None = None,
        construct: Callable[..., Value] | None = None,
    ) -> None:
        self.symbol, self.name, self.bases = symbol, symbol.rpartition(".")[2], bases
        self.attrs: dict[str, Value] = attrs or {}
        self.construct = construct
        self.mro: tuple[Any, ...] = (self, *merge_mro([list(b.mro) for b in bases] + [list(bases)]))

    def __repr__(self) -> str:
        return f"<class {self.symbol}>"


UNION = NativeClass("types.UnionType")


class ClassValue:
    """A class of the engine; its members are evaluated as they are asked for."""

    __slots__ = (
        "attrs",
        "bases",
        "born",
        "decorations",
        "flags",
        "module",
        "mro",
        "name",
        "node",
        "scope",
        "symbol",
    )

    def __init__(
        self, name: str, symbol: str, module: ModuleValue, bases: tuple[Any, ...], born: Guard
    ) -> None:
        self.name, self.symbol, self.module, self.bases, self.born = name, symbol, module, bases, born
        self.attrs: dict[str, Value] = {}
        self.scope: LazyScope | None = None
        self.flags: set[str] = set()
        self.node: tree.ClassDef | None = None
        self.mro: tuple[Any, ...] = (self, *merge_mro([list(b.mro) for b in bases] + [list(bases)]))

    def __repr__(self) -> str:
        return f"<class {self.symbol}>"


class Instance:
    """An object: its class and its attributes; `payload` holds the constant of a str/int/tuple-like
    instance.
    """

    __slots__ = ("attrs", "born", "cls", "payload", "serial")

    def __init__(self, cls: ClassValue | NativeClass, born: Guard, payload: Value = MISSING) -> None:
        self.cls, self.born, self.payload = cls, born, payload
        self.attrs: dict[str, Value] = {}

    def __repr__(self) -> str:
        return f"<{self.cls.symbol} object>"


class ListValue:
    """A list: its content is a Value whose atoms are tuples of Values, or an Unknown."""

    __slots__ = ("born", "content")

    def __init__(self, items: Value, born: Guard) -> None:
        self.content, self.born = items, born


class IteratorValue:
    """An iterator: what is left of it, or a generator that was not yet run where it is `fresh`.

    `start(taker)` runs the generator, giving every element to `taker`.
    """

    __slots__ = ("born", "content", "fresh", "start")

    def __init__(
        self, content: Value, born: Guard, fresh: Guard, start: Callable[[Any], None] | None = None
    ) -> None:
        self.content, self.born, self.fresh, self.start = content, born, fresh, start


class DictValue:
    """A dict: hash key -> (key atom, Value), absent under the guards where the Value is MISSING.

    `other` is an Unknown once a key we could not tell was written: every read may then meet it. `moves` says
    where a key that was there before was inserted again, and so stands later: (entries there then, key,
    guard). `again` counts such inserts, those at the end among them.
    """

    __slots__ = ("again", "born", "entries", "factory", "moves", "other")

    def __init__(self, born: Guard, factory: Value = None) -> None:
        self.born, self.factory = born, factory
        self.entries: MutableMapping[Any, tuple[Value, Value]] = {}
        self.moves: list[tuple[int, Any, Guard]] = []
        self.again = 0
        self.other: Value = MISSING


class DictView:
    """`keys()`, `values()` or `items()` (`kind`) of a dict, which it sees as it is when it is asked."""

    __slots__ = ("kind", "source")

    def __init__(self, source: DictValue, kind: str) -> None:
        self.source, self.kind = source, kind


class SetValue:
    """A set or frozenset: hash key -> (element atom, presence Value: True or MISSING)."""

    __slots__ = ("born", "entries", "frozen", "other")

    def __init__(self, born: Guard, frozen: bool = False) -> None:
        self.born, self.frozen = born, frozen
        self.entries: dict[Any, tuple[Value, Value]] = {}
        self.other: Value = MISSING
