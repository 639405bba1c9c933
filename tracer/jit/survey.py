"""One pass over an engine's files, or some: kernels, classes, and the places that may launch a kernel."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache

from ...report.predicate import Site
from ..sources import Source
from .facts import Dialect, Kernel, Role, Unread
from .marks import MARKED, Mark, autotune, called, dotted, heuristics, mark_of
from .printed import printed
from .reading import MAX_BYTES, Compiled, Module
from .scopes import Brought, Given, Made
from .sites import Place, places
from .targets import ClassFact, Defined

_MENTIONS = (b"triton", b"cute", b"gluon", b"helion", b"flydsl", b"tilelang")
_NEAR = re.compile(rb"jit\b|kernel\s*\(|\]\s*\(|wrap_triton|\.launch\(|cute\.(?:compile|kernel)")
_CALLED = re.compile(r"\b([A-Za-z_]\w*)\s*[(,)\]]")
"""Names that are called, or handed to a call such as `tl.reduce`."""
_METHOD = re.compile(r"\.([A-Za-z_]\w*)\s*\(")
_APART = frozenset({Dialect.TILELANG, Dialect.HELION, Dialect.FLYDSL})
"""Launched by plain calls, which are not followed: what is decorated counts as a kernel."""


class Survey:
    """What one pass found, before anything is followed from file to file."""

    def __init__(self, source: Source, paths: tuple[str, ...] | None = None) -> None:
        self.source = source
        self._asked = paths
        self.kernels: list[Kernel] = []
        self.places: list[Place] = []
        self.classes: list[ClassFact] = []
        self.unread: list[Unread] = []
        self.calls: set[tuple[str, str]] = set()
        """The module and name of what compiled functions call."""
        self.methods: set[str] = set()
        """Names that compiled functions call on an object."""
        self._own = lru_cache(None)(self._made_by)
        self._texts = {path: data for path in self._paths() if (data := self._near(path)) is not None}
        for path in self._texts:
            module = self._module(path, None)
            if module is not None:
                self._take(module)
                module.close()

    def read(self, name: str, called: str | None = None) -> Module | None:
        """Read a module again; with a name, for the calls of what is named so."""
        path = self.source.module_path(name)
        return self._module(path, called) if path else None

    def mentioning(self, name: str) -> list[str]:
        """The modules that may launch kernels and call something of this name."""
        word = name.encode()
        pattern = re.compile(rb"\b" + re.escape(word) + rb"\s*\(")
        near = (path for path, data in self._texts.items() if word in data and pattern.search(data))
        return [_module_name(path) for path in near]

    # --- files

    def _paths(self) -> tuple[str, ...]:
        return self._asked or self.source.files(f"{self.source.engine}/", ".py")

    def _near(self, path: str) -> bytes | None:
        """A file's bytes if it may hold a kernel or a launch."""
        data = self.source.read(path) or b""
        if not (any(word in data for word in _MENTIONS) and _NEAR.search(data)):
            return None
        if len(data) > MAX_BYTES:
            self.unread.append(Unread(path=path, reason=f"it has {len(data):,} bytes"))
            return None
        return data

    def _module(self, path: str, called: str | None) -> Module | None:
        text = (self.source.text(path) or "").replace("\r\n", "\n").replace("\r", "\n")
        try:
            if len(text) > MAX_BYTES:
                raise ValueError("it is too long")
            return Module(_module_name(path), path, text, called, self._own)
        except SyntaxError as problem:
            self._fail(path, f"line {problem.lineno}: {problem.msg}")
        except (ValueError, RecursionError, MemoryError) as problem:  # null bytes; nested too deeply
            self._fail(path, str(problem) or "nested too deeply")
        return None

    def _fail(self, path: str, reason: str) -> None:
        if all(each.path != path for each in self.unread):
            self.unread.append(Unread(path=path, reason=reason))

    # --- facts of a module

    def _take(self, module: Module) -> None:
        try:
            kernels = [self._kernel(each, module) for each in module.compiled]
            found = list(places(module))
        except RecursionError:  # an expression that is written down deeper than it can be followed
            self._fail(module.path, "nested too deeply")
            return
        self.kernels += kernels
        self.places += (place for place in found if place.steps)
        self.classes += (_class(scope.node, module, scope.qualname) for scope in module.classes if scope.node)
        for each in module.compiled:
            for name in set(_CALLED.findall(module.segment(each.node))):
                if name != each.node.name:
                    self.calls.update(_callees(name, each, module))
            self.methods.update(_METHOD.findall(module.segment(each.node)))

    def _kernel(self, compiled: Compiled, module: Module) -> Kernel:
        node, around = compiled.node, compiled.scope.above or module.scope

        def expand(decorator: ast.expr) -> str:
            return module.dotted(decorator, around)

        def look(name: str) -> ast.expr | None:
            given = [bound.value for bound in around.lookup(name) if isinstance(bound, Given)]
            return given[0] if len(given) == 1 else None

        name = printed(compiled, module)
        return Kernel(
            dialect=compiled.mark.dialect,
            name=node.name,
            module=module.name,
            qualname=compiled.scope.qualname,
            site=Site(module.path, node.lineno),
            role=_role(compiled, module),
            printed=name.text,
            prefix=name.prefix,
            unread=name.unread,
            decorators=tuple(dotted(called(each)) or "computed" for each in node.decorator_list),
            autotune=autotune(node.decorator_list, expand, look),
            heuristics=heuristics(node.decorator_list, expand),
        )

    def _made_by(self, name: str) -> Mark | None:
        """What a decorator makes of a function: one of the libraries', or the engine's own around one."""
        mark = mark_of(name)
        module, _, function = name.rpartition(".")
        if mark is not None or not module.startswith(f"{self.source.engine}."):
            return mark
        path = self.source.module_path(module)
        text = (self.source.text(path) or "") if path else ""
        found = re.search(rf"^def {re.escape(function)}\(.*\n(?:(?:[ \t)].*)?\n)*", text, re.M)
        applied = MARKED.search(found[0]) if found else None
        return mark_of(applied[0]) if applied else None


def _role(compiled: Compiled, module: Module) -> Role:
    """What can be told without knowing the launches."""
    if compiled.mark.dialect in _APART:
        return Role.KERNEL
    launches = not compiled.mark.device and ".launch(" in module.segment(compiled.node)
    return Role.HOST if launches else Role.UNLAUNCHED


def _class(node: ast.AST, module: Module, qualname: str) -> ClassFact:
    assert isinstance(node, ast.ClassDef), node
    bases = [base.value if isinstance(base, ast.Subscript) else base for base in node.bases]
    names = tuple(filter(None, (dotted(base).rpartition(".")[2] for base in bases)))
    return ClassFact(Defined(module.name, qualname), Site(module.path, node.lineno), names)


def _callees(name: str, compiled: Compiled, module: Module) -> Iterator[tuple[str, str]]:
    for bound in compiled.scope.lookup(name):
        if isinstance(bound, Made):
            yield module.name, bound.scope.qualname
        elif isinstance(bound, Brought) and bound.name:
            yield bound.module, bound.name
    around = compiled.scope.around
    for bound in around.bound.get(name, ()) if around else ():
        if isinstance(bound, Made):
            yield module.name, bound.scope.qualname


def _module_name(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
