"""Read one file: its scopes, the functions that decorators make kernels of, and what may launch one."""

from __future__ import annotations

import ast
import re
import warnings
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct

from ..collector import collector_paused
from .marks import Mark, called, dotted, mark_of
from .scopes import Brought, Definition, Function, Given, Handed, Made, Scope, Test, assign, parameters
from .trimming import LAUNCH, Trimmed

MAX_BYTES = 4_000_000
"""What is larger is no module that someone wrote; the engine's largest has half a megabyte."""
_LOOPS = (ast.For, ast.AsyncFor)
_PLAIN = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return, ast.Raise, ast.Assert, ast.Pass)
_BLOCKS = ("body", "orelse", "finalbody")
_METHODS = frozenset({"run", "warmup", "launch", "compile"})


class Compiled(Struct, frozen=True):
    """A function that a decorator makes a kernel of."""

    node: Function
    scope: Scope
    mark: Mark


class Called(Struct, frozen=True):
    """A call that may launch a kernel, or hand one over."""

    node: ast.Call
    scope: Scope
    decorates: Scope | None = None
    """The scope of the definition that it stands above as a decorator."""


class Module:
    """One file, read: for its kernels and launches, or for the calls of one function instead."""

    def __init__(
        self,
        name: str,
        path: str,
        text: str,
        called: str | None = None,
        own: Callable[[str], Mark | None] = mark_of,
    ) -> None:
        """`own` tells what a decorator of a dotted name makes of a function."""
        self.name, self.path, self._own = name, path, own
        self.lines = text.split("\n")
        self.scope = Scope("", None, None)
        self.compiled: list[Compiled] = []
        self.classes: list[Scope] = []
        self.calls: list[Called] = []
        self._scopes = [self.scope]
        self._called = called
        self._wanted = LAUNCH if called is None else re.compile(rf"\b{re.escape(called)}\s*\(")
        self._near = list(_lines(self._wanted, text))
        self._ends: dict[int, int] = {}
        with collector_paused():
            self._block(self._parsed(text).body, self.scope, None)

    def _parsed(self, text: str) -> ast.Module:
        trimmed = Trimmed(self.lines, self._wanted)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a stranger's invalid escape sequences are not our news
            try:
                tree = ast.parse(trimmed.text)
            except SyntaxError:
                return ast.parse(text)
        self._ends = trimmed.ends
        return tree

    def close(self) -> None:
        """Let go of the text: scopes and definitions hold one another."""
        for scope in self._scopes:
            scope.bound.clear()
            scope.kept.clear()

    def dotted(self, node: ast.expr, scope: Scope) -> str:
        """An attribute chain with the import or alias of its first name put in."""
        text = dotted(node)
        first, dot, rest = text.partition(".")
        for bound in scope.lookup(first)[-1:]:
            if isinstance(bound, Brought):
                return ".".join(filter(None, (bound.module, bound.name, rest)))
            if isinstance(bound, Given) and bound.at is None and bound.scope is scope.top:
                value = bound.value
                if isinstance(value, ast.Call) and dotted(value.func).endswith("partial") and value.args:
                    value = value.args[0]
                inner = dotted(value)
                if inner.partition(".")[0] not in ("", first):
                    return f"{self.dotted(value, scope.top)}{dot}{rest}"
        return text

    def function(self, scope: Scope) -> str:
        """The qualified name of what stands in a scope."""
        return f"{self.name}.{scope.qualname}" if scope.above else self.name

    # --- statements

    def _block(self, body: Iterable[ast.stmt], scope: Scope, test: Test | None) -> None:
        for node in body:
            match node:
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    self._function(node, scope)
                case ast.ClassDef():
                    self._class(node, scope)
                case ast.Import() | ast.ImportFrom():
                    self._import(node, scope)
                case ast.Global():
                    scope.wanted |= frozenset(node.names)
                case ast.If():
                    self._expression(node.test, scope)
                    self._block(node.body, scope, Test(node.test, True, test))
                    self._block(node.orelse, scope, Test(node.test, False, test))
                case _:
                    self._other(node, scope, test)

    def _other(self, node: ast.stmt, scope: Scope, test: Test | None) -> None:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                assign(target, node.value, scope, test)
            self._by_hand(node.value, scope)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            assign(node.target, node.value, scope, test)
        elif isinstance(node, _LOOPS) and isinstance(node.target, ast.Name):
            scope.bind(node.target.id, Given(node.iter, scope, test=test, loop=True))
        if self._is_near(node):
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr):
                    self._expression(child, scope)
                elif isinstance(child, ast.withitem):
                    self._expression(child.context_expr, scope)
        if not isinstance(node, _PLAIN):
            for name in _BLOCKS:
                self._block(getattr(node, name, ()), scope, test)
            for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
                self._block(part.body, scope, test)

    def _by_hand(self, node: ast.expr, scope: Scope) -> None:
        """`kernel = triton.jit(function)` does what the decorator does."""
        if isinstance(node, ast.Call) and len(node.args) == 1 and isinstance(node.args[0], ast.Name):
            mark = self._mark(node, scope) if dotted(node.func).endswith("jit") else None
            for bound in scope.lookup(node.args[0].id) if mark else ():
                if mark and isinstance(bound, Made) and isinstance(bound.node, Function):
                    self.compiled.append(Compiled(bound.node, bound.scope, mark))

    def _function(self, node: Function, scope: Scope) -> None:
        inner = self._opened(node, scope)
        for name in parameters(node):
            inner.bind(name, Handed(name, inner))
        mark = next((mark for each in node.decorator_list if (mark := self._mark(each, scope))), None)
        if mark is not None:
            self.compiled.append(Compiled(node, inner, mark))
        if mark is None or not mark.device or self._wanted.search(self.segment(node)):
            self._block(node.body, inner, None)

    def _mark(self, node: ast.expr, scope: Scope) -> Mark | None:
        func = called(node)
        return self._own(self.dotted(func, scope)) or mark_of(dotted(func))

    def _class(self, node: ast.ClassDef, scope: Scope) -> None:
        inner = self._opened(node, scope)
        self.classes.append(inner)
        self._block(node.body, inner, None)

    def _opened(self, node: Definition, scope: Scope) -> Scope:
        inner = Scope(node.name, node, scope)
        self._scopes.append(inner)
        scope.bind(node.name, Made(node, inner))
        for decorator in node.decorator_list:
            for call in _calls(decorator):
                if self._called is None or self._is_wanted(call.func):
                    self.calls.append(Called(call, scope, inner))
        return inner

    def _import(self, node: ast.Import | ast.ImportFrom, scope: Scope) -> None:
        for each in node.names:
            if isinstance(node, ast.ImportFrom):
                scope.bind(each.asname or each.name, Brought(self._absolute(node), each.name))
            elif each.asname:
                scope.bind(each.asname, Brought(each.name, None))
            else:
                first = each.name.partition(".")[0]
                scope.bind(first, Brought(first, None))

    def _absolute(self, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        parts = self.name.split(".")
        is_package = self.path.endswith("/__init__.py")
        kept = parts[: len(parts) - node.level + is_package]
        return ".".join([*kept, *filter(None, [node.module])])

    # --- expressions

    def _expression(self, node: ast.expr, scope: Scope) -> None:
        if self._is_near(node):
            self.calls += (Called(call, scope) for call in _calls(node) if self._is_wanted(call.func))

    def _is_near(self, node: ast.stmt | ast.expr) -> bool:
        """Whether anything that is looked for stands on the lines of a node."""
        at = bisect_left(self._near, node.lineno)
        return at < len(self._near) and self._near[at] <= (node.end_lineno or node.lineno)

    def _is_wanted(self, func: ast.expr) -> bool:
        if self._called is not None:
            return dotted(func).rpartition(".")[2] == self._called
        return isinstance(func, ast.Subscript) or (isinstance(func, ast.Attribute) and func.attr in _METHODS)

    def segment(self, node: Function) -> str:
        """The text of a function's body."""
        return "\n".join(self.lines[node.body[0].lineno - 1 : self._ends.get(node.lineno, node.end_lineno)])


def _lines(pattern: re.Pattern[str], text: str) -> Iterator[int]:
    """The lines on which matches begin."""
    line, at = 1, 0
    for found in pattern.finditer(text):
        line += text.count("\n", at, found.start())
        at = found.start()
        yield line


def _calls(node: ast.expr) -> Iterator[ast.Call]:
    if not isinstance(node, ast.Name | ast.Constant):
        for child in ast.walk(node):
            if isinstance(child, ast.Call):
                yield child
