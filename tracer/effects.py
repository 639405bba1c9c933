"""What running some statements may do to the names of the body they stand in."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Any


class Effects:
    """What running some statements may do to the names of the body they stand in."""

    def __init__(self, nodes: Iterable[ast.AST]) -> None:
        self.binds: set[str] = set()
        self.mutates: set[str] = set()
        self.stars: list[tuple[str, int]] = []
        self.visit_all(nodes)

    def frozen(self) -> tuple[frozenset[str], frozenset[str], tuple[tuple[str, int], ...]]:
        return frozenset(self.binds), frozenset(self.mutates), tuple(self.stars)

    def visit(self, node: ast.AST) -> None:
        _EFFECTS.get(type(node), Effects.children)(self, node)

    def visit_all(self, nodes: Iterable[ast.AST | None]) -> None:
        for node in nodes:
            if node is not None:
                self.visit(node)

    def children(self, node: ast.AST) -> None:
        for field in node._fields:
            value = getattr(node, field, None)
            if isinstance(value, list):
                self.visit_all(each for each in value if isinstance(each, ast.AST))
            elif isinstance(value, ast.AST):
                self.visit(value)

    def nothing(self, node: ast.AST) -> None:
        pass

    def name(self, node: ast.Name) -> None:
        if not isinstance(node.ctx, ast.Load):
            self.binds.add(node.id)

    def place(self, node: ast.Attribute | ast.Subscript) -> None:
        """`X.a` and `X[k]` as targets, also of `del`, change X."""
        if not isinstance(node.ctx, ast.Load):
            self.change(node)
        self.children(node)

    def change(self, node: ast.AST) -> None:
        """Note the name that an attribute, a subscript or a bare name begins with."""
        while isinstance(node, ast.Attribute | ast.Subscript):
            node = node.value
        if isinstance(node, ast.Name):
            self.mutates.add(node.id)

    def aug_assign(self, node: ast.AugAssign) -> None:
        self.change(node.target)
        if not isinstance(node.target, ast.Name):
            self.visit(node.target)
        self.visit(node.value)

    def call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Attribute):
            self.change(node.func)
        self.children(node)

    def expression(self, node: ast.Expr) -> None:
        """A call for its effect alone may change what it is given."""
        value = node.value.value if isinstance(node.value, ast.Await) else node.value
        if isinstance(value, ast.Call):
            self.passed(value)
        self.visit(value)

    def passed(self, node: ast.Call) -> None:
        for argument in [*node.args, *(keyword.value for keyword in node.keywords)]:
            given = argument.value if isinstance(argument, ast.Starred) else argument
            if isinstance(given, ast.Name):
                self.mutates.add(given.id)

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.binds.add(node.name)
        self.decorators(node.decorator_list)
        self.defaults(node.args)

    def decorators(self, nodes: Iterable[ast.expr]) -> None:
        """A decorator is called: `@X.register` changes X, and so may `@register(X)`."""
        for node in nodes:
            if isinstance(node, ast.Attribute):
                self.change(node)
            elif isinstance(node, ast.Call):
                self.passed(node)
            self.visit(node)

    def defaults(self, node: ast.arguments) -> None:
        self.visit_all([*node.defaults, *node.kw_defaults])

    def lambda_(self, node: ast.Lambda) -> None:
        self.defaults(node.args)

    def class_header(self, node: ast.ClassDef) -> None:
        self.binds.add(node.name)
        self.decorators(node.decorator_list)
        self.visit_all([*node.bases, *node.keywords])

    def class_(self, node: ast.ClassDef) -> None:
        self.class_header(node)
        body = Effects(node.body)
        self.mutates |= body.mutates - body.binds

    def comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> None:
        """The names that its own `for` binds are nobody else's; a walrus in it binds outside."""
        targets = Effects(part.target for part in node.generators).binds
        inner = Effects(())
        inner.children(node)
        self.binds |= inner.binds - targets
        self.mutates |= inner.mutates - targets
        self.visit(node.generators[0].iter)

    def import_(self, node: ast.Import) -> None:
        self.binds.update(alias.asname or alias.name.partition(".")[0] for alias in node.names)

    def import_from(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            if alias.name == "*":
                self.stars.append((node.module or "", node.level))
            else:
                self.binds.add(alias.asname or alias.name)

    def caught(self, node: ast.ExceptHandler | ast.MatchAs | ast.MatchStar) -> None:
        if node.name is not None:
            self.binds.add(node.name)
        self.children(node)

    def rest(self, node: ast.MatchMapping) -> None:
        if node.rest is not None:
            self.binds.add(node.rest)
        self.children(node)


_EFFECTS: dict[type[ast.AST], Callable[[Effects, Any], None]] = {
    ast.Constant: Effects.nothing,
    ast.Name: Effects.name,
    ast.Attribute: Effects.place,
    ast.Subscript: Effects.place,
    ast.AugAssign: Effects.aug_assign,
    ast.Call: Effects.call,
    ast.Expr: Effects.expression,
    ast.FunctionDef: Effects.function,
    ast.AsyncFunctionDef: Effects.function,
    ast.Lambda: Effects.lambda_,
    ast.ClassDef: Effects.class_,
    **dict.fromkeys((ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp), Effects.comprehension),
    ast.Import: Effects.import_,
    ast.ImportFrom: Effects.import_from,
    **dict.fromkeys((ast.ExceptHandler, ast.MatchAs, ast.MatchStar), Effects.caught),
    ast.MatchMapping: Effects.rest,
}
