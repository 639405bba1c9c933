"""The scopes of a module: which names each binds to what, and under which tests. No value is computed."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from msgspec import Struct

Function = ast.FunctionDef | ast.AsyncFunctionDef
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class Test(Struct, frozen=True):
    """A test that led to a statement, with those before it."""

    node: ast.expr
    holds: bool
    before: Test | None = None


class Made(Struct, frozen=True):
    """Bound by `def` or `class`."""

    node: Definition
    scope: Scope
    """The scope that the definition opens."""


class Given(Struct, frozen=True):
    """Bound to the value of an expression, or to one entry of it."""

    value: ast.expr
    scope: Scope
    """Where the expression is evaluated."""
    at: int | None = None
    """Which entry of a tuple."""
    test: Test | None = None
    loop: bool = False
    """Whether it takes one entry after the other."""


class Brought(Struct, frozen=True):
    """Bound by an import: the module, and the name in it unless the module itself is bound."""

    module: str
    name: str | None


class Handed(Struct, frozen=True):
    """A parameter."""

    name: str
    scope: Scope


Bound = Made | Given | Brought | Handed


class Scope:
    """A module, class or function, with what its names are bound to in textual order."""

    def __init__(self, name: str, node: Definition | None, above: Scope | None) -> None:
        self.name, self.node, self.above = name, node, above
        self.bound: dict[str, list[Bound]] = {}
        self.kept: dict[str, list[Bound]] = {}
        """Of a class: what its methods set on the object."""
        self.wanted: frozenset[str] = frozenset()
        """Names of the module, declared `global`."""

    @property
    def is_class(self) -> bool:
        return isinstance(self.node, ast.ClassDef)

    @property
    def qualname(self) -> str:
        """As Python writes it; nothing for the module."""
        if self.above is None:
            return ""
        outer = self.above.qualname
        if not outer:
            return self.name
        return f"{outer}.{self.name}" if self.above.is_class else f"{outer}.<locals>.{self.name}"

    def up(self) -> Iterator[Scope]:
        """This scope and those around it, inside out."""
        at: Scope | None = self
        while at is not None:
            yield at
            at = at.above

    @property
    def top(self) -> Scope:
        """The module's scope."""
        return list(self.up())[-1]

    @property
    def around(self) -> Scope | None:
        """The class whose method this is, or stands in."""
        return next((scope for scope in self.up() if scope.is_class), None)

    def bind(self, name: str, bound: Bound) -> None:
        """Note that the name may be bound so."""
        scope = self.top if name in self.wanted else self
        scope.bound.setdefault(name, []).append(bound)

    def lookup(self, name: str) -> list[Bound]:
        """What a name that is read here is bound to, as Python looks it up."""
        for scope in self.up():
            if name in scope.bound and (scope is self or not scope.is_class):
                return scope.bound[name]
        return []


def parameters(node: Function) -> list[str]:
    """The names of the parameters that a value can be handed over to, by position first."""
    given = node.args
    return [each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)]


def conditions(test: Test | None) -> str | None:
    """The tests as one text, the outermost first."""
    texts: list[str] = []
    while test is not None:
        text = ast.unparse(test.node)
        texts.append(text if test.holds else f"not ({text})")
        test = test.before
    return " and ".join(reversed(texts)) or None


def assign(target: ast.expr, value: ast.expr, scope: Scope, test: Test | None) -> None:
    """Note what an assignment binds, on the scope or on its object."""
    match target:
        case ast.Name(id=name):
            scope.bind(name, Given(value, scope, test=test))
        case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name) if scope.around is not None:
            scope.around.kept.setdefault(name, []).append(Given(value, scope, test=test))
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            for at, part in enumerate(parts):
                if isinstance(part, ast.Name):
                    scope.bind(part.id, Given(value, scope, at=at, test=test))
