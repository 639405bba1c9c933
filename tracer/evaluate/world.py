"""Everything outside the function that runs: engine modules, builtins, libraries, packages, the platform."""

from __future__ import annotations

import builtins
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from .. import tree
from ..imports import Maybe
from ..library import Declared, Library, LoweredModule, declared
from . import attributes, calls
from .classes import complete
from .expressions import evaluate
from .frames import Frame
from .machine import Dead
from .protocols import Models, Packages
from .scopes import LazyScope
from .statements import execute
from .truth import truth
from .unions import each
from .values import (
    LIBRARY_ERROR,
    MISSING,
    ClassValue,
    Function,
    Instance,
    ModuleValue,
    NativeClass,
    Opaque,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from ..guards import Guard
    from .machine import Machine


CLOSED = (
    "builtins.",
    "abc.",
    "enum.",
    "typing.Generic",
    "typing.Protocol",
    "typing.NamedTuple",
    "types.ModuleType",
    "_thread._local",
)
"""Native classes of which all that matters is modelled."""


class World:
    """One question's view of everything that is looked up by name."""

    def __init__(self, library: Library, root: str, models: Models, packages: Packages) -> None:
        self.source, self.root, self.models, self.packages = library, root, models, packages
        self.modules: dict[str, ModuleValue] = {}
        self.no_post_init: frozenset[str] = frozenset()
        self._outside: dict[str, NativeClass] = {}
        self.validators: dict[ClassValue, list[Any]] = {}
        """pydantic validators by class, once they were looked for."""
        self.defaulted: frozenset[str] = frozenset()
        """Library classes whose objects have defaults that nobody here knows: what is read is there."""
        self.started: frozenset[str] = frozenset()
        """Packages that are imported already when the question begins: they are there."""
        self.begun: frozenset[Maybe] = frozenset()
        self._want: dict[str, list[tuple[str, bool | None]]] = {}
        self._lack: dict[str, list[tuple[Maybe, str]]] = {}
        self._miss: dict[tuple[str, int], str | None] = {}
        self._held: dict[Maybe, Guard] = {}
        """Where the tests of such imports hold, once they were asked."""
        self.settings: dict[str, Value] = {}
        self.loaded: dict[str, Guard] = {}
        """Modules of the engine that its build makes, and where they were imported."""

    # --- modules of the engine

    def module(self, m: Machine, name: str) -> ModuleValue | None:
        if name not in self.modules:
            lowered = self.source.module(name)
            if lowered is None:
                return None
            self.modules[name] = self._module(name, lowered)
        return self.modules[name]

    def _module(self, name: str, lowered: LoweredModule) -> ModuleValue:
        scope = LazyScope(lowered.names, lowered.count, lowered.block, lambda m, b: True, lowered.asked)
        value = ModuleValue(name, lowered.path, scope)
        scope.execute = lambda m, block: self._run(m, value, scope, block)
        return value

    def stub(self, m: Machine, symbol: str) -> Value:
        """A name of a library that one of our own models, written in the evaluated language, defines.

        A model may name in `VERSIONS` those it is true of: with any other, or an unknown one, it is silent.
        """
        package, _, rest = symbol.partition(".")
        key = f"<{package}>"
        if key not in self.modules:
            lowered = self.source.stub(package) if rest else None
            if lowered is None:
                return MISSING
            self.modules[key] = self._module(package, lowered)
        scope = self.modules[key].scope
        versions = scope.read(m, "VERSIONS")
        if isinstance(versions, tuple) and self.packages.version(package) not in versions:
            return MISSING
        return scope.read(m, rest.rpartition(".")[2])

    def _run(
        self, m: Machine, module: ModuleValue, scope: LazyScope, block: tree.Block, cls: Any = None
    ) -> bool:
        """Run one statement of a module or class body, on every path: its moment is not that of who asked.

        Whether its end was reached.
        """
        frame = Frame(module, None, None, m.space.true, scope, cls)
        m.frames.append(frame)
        try:
            with m.aside():
                try:
                    execute(m, block)
                    if cls is not None:
                        complete(m, cls, block)
                except Dead:
                    m.coverage.unsupported("a module-level statement that raises", m.site(None))
                    return False
        finally:
            m.frames.pop()
        return True

    def module_name(self, m: Machine, module: ModuleValue, name: str) -> Value:
        """A global name of `module`, MISSING where it has none."""
        if name in ("__name__", "__file__"):
            return module.name if name == "__name__" else module.path
        value = module.scope.read(m, name)
        return value if value is not MISSING else self._starred(m, module, name)

    def _starred(self, m: Machine, module: ModuleValue, name: str) -> Value:
        lowered = self.source.module(module.name)
        outside = MISSING
        for base, level in lowered.stars if lowered is not None else ():
            target = self.module(m, self.absolute(module, base, level))
            if target is None and self.builtin(name) is MISSING:
                outside = self.library(m, f"{base}.{name}", None)
            elif target is not None and (value := self.module_name(m, target, name)) is not MISSING:
                return value
        return outside

    def module_attribute(self, m: Machine, module: ModuleValue, name: str) -> Value:
        """`module.name`: a global, a submodule, or what the module's `__getattr__` gives."""
        given = m.given.get(f"{module.name}.{name}")
        if given is not None:
            return given.call(m, (), {})
        value = self.module_name(m, module, name)
        if value is not MISSING:
            return value
        below = self.module(m, f"{module.name}.{name}")
        if below is not None:
            return below
        hook = module.scope.read(m, "__getattr__")
        if isinstance(hook, Function):
            return calls.call(m, hook, (name,), {}, None)
        return MISSING

    def absolute(self, module: ModuleValue, base: str, level: int) -> str:
        """The dotted name that `from <level dots><base>` means inside `module`."""
        if level == 0:
            return base
        parts = module.name.split(".")
        if not module.path.endswith("/__init__.py"):
            parts = parts[:-1]
        parts = parts[: len(parts) - (level - 1)]
        return ".".join([*parts, base] if base else parts)

    def import_module(self, m: Machine, name: str, node: tree.Node | None) -> Value:
        if name.partition(".")[0] == self.root:
            found = self.module(m, name)
            if found is not None:
                if m.frames and m.frame.scope is None:
                    self._import_what_it_needs(m, name)
                return found
            self.loaded[name] = self.loaded.get(name, m.space.false) | m.live
        return self._outside_module(m, name, node)

    def _import_what_it_needs(self, m: Machine, name: str) -> None:
        """ModuleNotFoundError where a module of the engine imports, itself or through others, what is not
        there.
        """
        for needed, there in self._wanting(name):
            if there is False:
                self._no_module(m, needed)
            if m.record.trying:
                m.branch(self.has(m, needed), lambda: None, partial(self._no_module, m, needed))
        for some, missing in self._lacking(name):
            if some not in self._held:  # such a test runs once a process
                self._held[some] = self._holds(m, some)
            if not self._held[some].is_false:
                m.branch(self._held[some], partial(self._no_module, m, missing), lambda: None)

    def _wanting(self, name: str) -> list[tuple[str, bool | None]]:
        """Packages on the way to a module that are not there (False), or of which nobody knows (None)."""
        if name not in self._want:
            needed = sorted(self.source.imports.outside(name) - self.started)
            found = ((package, self.packages.imported(package)) for package in needed)
            self._want[name] = [(package, there) for package, there in found if there is not True]
        return self._want[name]

    def _lacking(self, name: str) -> list[tuple[Maybe, str]]:
        """Imports under a condition on the way to a module, each with a package that is not there."""
        if name not in self._lack:
            found = ((some, self._missing(some)) for some in self.source.imports.maybe(name))
            self._lack[name] = [(some, missing) for some, missing in found if missing is not None]
        return self._lack[name]

    def _missing(self, some: Maybe) -> str | None:
        place = some.module, some.line
        if place not in self._miss:
            self._miss[place] = self._first_missing(some)
        return self._miss[place]

    def _first_missing(self, some: Maybe) -> str | None:
        if some in self.begun:
            return None
        names = some.needs.outside.union(*map(self.source.imports.outside, some.needs.inside))
        return next((n for n in sorted(names - self.started) if self.packages.imported(n) is False), None)

    def _holds(self, m: Machine, some: Maybe) -> Guard:
        """Where the test of an `if` at the left margin of a module holds."""
        module, lowered = self.module(m, some.module), self.source.module(some.module)
        if module is None or lowered is None:
            return m.space.false
        starts = [statement.first_line for statement in lowered.index.statements]
        if some.line not in starts:
            return m.space.false
        lowered.note_statement(starts.index(some.line))
        node = lowered.block(starts.index(some.line))[0]
        if not isinstance(node, tree.If):
            return m.space.false
        m.frames.append(Frame(module, None, None, m.space.true, module.scope))
        try:
            with m.aside(), suppress(Dead):
                return truth(m, evaluate(m, node.test))
            m.coverage.unsupported("a condition of imports that raises", m.site(node))
            return m.space.false
        finally:
            m.frames.pop()

    def _outside_module(self, m: Machine, name: str, node: tree.Node | None) -> Value:
        there = self.packages.present(name)
        if there is None and m.frame.scope is not None and not m.record.trying:
            there = True  # the engine could not be imported without it
        if there:
            return self.library(m, name, node)
        if there is False:
            return self._no_module(m, name)
        return m.branch(
            self.has(m, name), lambda: self.library(m, name, node), lambda: self._no_module(m, name)
        )

    def _no_module(self, m: Machine, name: str) -> Value:
        return m.fail("ModuleNotFoundError", f"No module named '{name.partition('.')[0]}'")

    def has(self, m: Machine, name: str) -> Guard:
        """The guard that package `name` is installed."""
        there = self.packages.present(name)
        if there is not None:
            return m.space.true if there else m.space.false
        top = name.removeprefix(f"{self.root}.third_party.").partition(".")[0]
        return m.space.choice(f"package {top}", (False, True), (True,))

    def import_name(self, m: Machine, base: str, name: str, node: tree.Node | None) -> Value:
        if self._is_plain_folder(m, base):
            return self.import_module(m, f"{base}.{name}", node)
        owner = self.import_module(m, base, node)

        def pick(atom: Value) -> Value:
            value = attributes.find(m, atom, name, node)
            if value is MISSING and isinstance(atom, ModuleValue):
                return self.import_module(m, f"{base}.{name}", node)
            return attributes.absent(m, value, "ImportError", f"cannot import name '{name}' from '{base}'")

        return each(m, owner, pick)

    def _is_plain_folder(self, m: Machine, name: str) -> bool:
        """Whether a name is a package of the engine without a module of its own."""
        own = name.partition(".")[0] == self.root and self.module(m, name) is None
        return own and self.source.source.is_package(name)

    # --- classes of the engine

    def class_scope(self, m: Machine, node: tree.ClassDef, cls: ClassValue) -> LazyScope | None:
        lowered = self.source.class_of(node)
        if lowered is None:
            return None
        module = m.module()
        scope = LazyScope(lowered.names, lowered.count, lowered.block, lambda m, b: True, lowered.asked)
        scope.values = cls.attrs

        scope.execute = lambda m, block: self._run(m, module, scope, block, cls)
        return scope

    def declared(self, cls: ClassValue) -> list[Declared]:
        """The names with an annotation in a class's body."""
        if cls.node is None:
            return []
        lowered = self.source.class_of(cls.node)
        return lowered.declared if lowered is not None else declared(cls.node.body)

    def outside_class(self, name: str) -> NativeClass:
        if name not in self._outside:
            self._outside[name] = NativeClass(name, (self.models.classes["builtins.object"],))
        return self._outside[name]

    def is_open(self, cls: Value) -> bool:
        """Whether a class has a base of which not everything is known."""
        return any(isinstance(base, NativeClass) and not base.symbol.startswith(CLOSED) for base in cls.mro)

    # --- builtins and libraries

    def builtin(self, name: str) -> Value:
        found = self.models.table.get(f"builtins.{name}", MISSING)
        return Opaque(f"builtins.{name}") if found is MISSING and hasattr(builtins, name) else found

    def exception(self, m: Machine, name: str, *args: Value) -> Instance:
        """An exception object; a name without a module is Python's own."""
        cls = self.models.classes[name if "." in name else f"builtins.{name}"]
        made = Instance(cls, m.live)
        made.attrs["args"] = args
        return made

    def library(self, m: Machine, symbol: str, node: tree.Node | None) -> Value:
        """A name of a library: our model of it where there is one, else an opaque symbol."""
        value = self.models.table.get(symbol, MISSING)
        if value is not MISSING:
            return value
        return self.models.special(m, symbol, node)

    def may_be_false(self, atom: Opaque) -> bool:
        """Modules, classes and functions are true; a lower-case attribute of a library may be any value."""
        return self.models.may_be_false(atom)

    def call_library(
        self,
        m: Machine,
        func: Opaque,
        args: tuple[Value, ...],
        kwargs: dict[str, Value],
        node: tree.Node | None,
    ) -> Value:
        """A call that leaves the engine: recorded, its answer unknown; inside a `try` it may also raise."""
        m.record.left(func.symbol, node)
        if len(args) == 1 and not kwargs and isinstance(args[0], ClassValue | Function):
            if isinstance(args[0], Function):
                args[0].marked = True
            return args[0]  # a library's decorator: taken to keep what it decorates
        answer = self.models.answer(m, func, args, kwargs, node)
        if answer is not MISSING:
            return answer
        if m.record.trying:
            self._may_raise(m, func.symbol)
        shown = [calls.describe_value(m, a) for a in args] + [
            f"{k}={calls.describe_value(m, v)}" for k, v in kwargs.items()
        ]
        label = f"{func.symbol}({', '.join(shown)})"
        if self.models.is_stable(func.symbol):
            return Unknown(label, label, m.site(node))
        return m.unknown(label, node, self.models.result_kind(func.symbol))

    def _may_raise(self, m: Machine, symbol: str) -> None:
        """What the call is documented to raise, or, where that is not known, whatever it likes."""
        named = self.models.raises(symbol)
        for name in named or ():
            m.may_raise(f"{symbol} raises {name}", name)
        if named is not None:
            return
        fails = m.holds(m.unknown(f"{symbol} raises"))

        def throw() -> None:
            exc = Instance(self.models.classes[LIBRARY_ERROR], m.live)
            exc.attrs["args"] = (f"raised by {symbol}",)
            raise m.throw(exc)

        m.branch(fails, throw, lambda: None)
