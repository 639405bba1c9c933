"""Lower compound statements and the blocks in them; bare strings (docstrings) leave no statement."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import libcst as cst

from ..tree import Block, ClassDef, Const, ExprStmt, For, FunctionDef, Handler, If, Node, Try, While, With
from .calls import annotation, arguments, parameters
from .expressions import identifier
from .walk import Handler as NodeHandler, Walk


class _Arm(NamedTuple):
    """One `if` or `elif`, its alternative still to come."""

    line: int
    test: Node
    body: Block


def statements(walk: Walk, nodes: Iterable[cst.CSTNode]) -> Block:
    """Lower statements that follow each other, with the lines between them."""
    lowered: list[Node] = []
    for node in nodes:
        assert isinstance(node, cst.SimpleStatementLine | cst.BaseCompoundStatement), node
        walk.lines(node.leading_lines)
        if isinstance(node, cst.SimpleStatementLine):
            lowered += _line(walk, node)
        else:
            lowered.append(walk.statement(node))
    return tuple(lowered)


def _line(walk: Walk, node: cst.SimpleStatementLine | cst.SimpleStatementSuite) -> list[Node]:
    lowered = []
    for small in node.body:
        lowered.append(walk.statement(small))
        walk.token(small.semicolon)
    walk.newline(node.trailing_whitespace)
    return [statement for statement in lowered if not _is_docstring(statement)]


def _is_docstring(node: Node) -> bool:
    return isinstance(node, ExprStmt) and isinstance(node.value, Const) and isinstance(node.value.value, str)


def _suite(walk: Walk, node: cst.BaseSuite) -> Block:
    if isinstance(node, cst.SimpleStatementSuite):
        walk.space(node.leading_whitespace)
        return tuple(_line(walk, node))
    assert isinstance(node, cst.IndentedBlock), node
    walk.newline(node.header)
    body = statements(walk, node.body)
    walk.lines(node.footer)
    return body


def _trailing_suite(walk: Walk, node: cst.Else | cst.Finally | None) -> Block:
    if node is None:
        return ()
    walk.lines(node.leading_lines)
    walk.space(node.whitespace_before_colon)
    return _suite(walk, node.body)


def _if(walk: Walk, node: cst.If) -> Node:
    """A ladder of `elif` is nested in both trees: climb down in a loop, build back up."""
    arms: list[_Arm] = []
    branch: cst.If | cst.Else | None = node
    while isinstance(branch, cst.If):
        if arms:
            walk.lines(branch.leading_lines)
        line = walk.line
        walk.space(branch.whitespace_before_test)
        test = walk.expression(branch.test)
        walk.space(branch.whitespace_after_test)
        arms.append(_Arm(line, test, _suite(walk, branch.body)))
        branch = branch.orelse
    orelse = _trailing_suite(walk, branch)
    for arm in reversed(arms):
        orelse = (If(arm.line, arm.test, arm.body, orelse),)
    return orelse[0]


def _for(walk: Walk, node: cst.For) -> For:
    line = walk.line
    is_async = _async(walk, node.asynchronous)
    walk.space(node.whitespace_after_for)
    target = walk.expression(node.target)
    walk.space(node.whitespace_before_in)
    walk.space(node.whitespace_after_in)
    iterated = walk.expression(node.iter)
    walk.space(node.whitespace_before_colon)
    body = _suite(walk, node.body)
    return For(line, target, iterated, body, _trailing_suite(walk, node.orelse), is_async)


def _while(walk: Walk, node: cst.While) -> While:
    line = walk.line
    walk.space(node.whitespace_after_while)
    test = walk.expression(node.test)
    walk.space(node.whitespace_before_colon)
    body = _suite(walk, node.body)
    return While(line, test, body, _trailing_suite(walk, node.orelse))


def _try(walk: Walk, node: cst.Try) -> Try:
    line = walk.line
    walk.space(node.whitespace_before_colon)
    body = _suite(walk, node.body)
    handlers = tuple(_handler(walk, handler) for handler in node.handlers)
    orelse = _trailing_suite(walk, node.orelse)
    return Try(line, body, handlers, orelse, _trailing_suite(walk, node.finalbody))


def _handler(walk: Walk, node: cst.ExceptHandler) -> Handler:
    walk.lines(node.leading_lines)
    line = walk.line
    walk.space(node.whitespace_after_except)
    caught = walk.optional(node.type)
    name = None
    if node.name is not None:
        _as(walk, node.name)
        assert isinstance(node.name.name, cst.Name), node
        name = identifier(node.name.name)
    walk.space(node.whitespace_before_colon)
    return Handler(caught, name, _suite(walk, node.body), line)


def _with(walk: Walk, node: cst.With) -> With:
    line = walk.line
    is_async = _async(walk, node.asynchronous)
    walk.space(node.whitespace_after_with)
    _opening(walk, node.lpar)
    items = tuple(_with_item(walk, item) for item in node.items)
    _closing(walk, node.rpar)
    walk.space(node.whitespace_before_colon)
    return With(line, items, _suite(walk, node.body), is_async)


def _with_item(walk: Walk, node: cst.WithItem) -> tuple[Node, Node | None]:
    context = walk.expression(node.item)
    target = None if node.asname is None else _as(walk, node.asname)
    walk.token(node.comma)
    return context, target


def _function(walk: Walk, node: cst.FunctionDef) -> FunctionDef:
    decorators = _decorators(walk, node)
    line = walk.line
    is_async = _async(walk, node.asynchronous)
    walk.space(node.whitespace_after_def)
    walk.space(node.whitespace_after_name)
    walk.opaque(node.type_parameters)
    walk.space(node.whitespace_after_type_parameters)
    walk.space(node.whitespace_before_params)
    params = parameters(walk, node.params)
    returns = None if node.returns is None else annotation(walk, node.returns)
    walk.space(node.whitespace_before_colon)
    body, is_generator = _function_body(walk, node.body)
    return FunctionDef(line, identifier(node.name), params, body, decorators, returns, is_async, is_generator)


def _function_body(walk: Walk, node: cst.BaseSuite) -> tuple[Block, bool]:
    outer, walk.yields = walk.yields, False
    body = _suite(walk, node)
    is_generator, walk.yields = walk.yields, outer
    return body, is_generator


def _class(walk: Walk, node: cst.ClassDef) -> ClassDef:
    decorators = _decorators(walk, node)
    line = walk.line
    walk.space(node.whitespace_after_class)
    walk.space(node.whitespace_after_name)
    walk.opaque(node.type_parameters)
    walk.space(node.whitespace_after_type_parameters)
    _opening(walk, node.lpar)
    bases = arguments(walk, [*node.bases, *node.keywords])
    _closing(walk, node.rpar)
    walk.space(node.whitespace_before_colon)
    return ClassDef(line, identifier(node.name), bases, _suite(walk, node.body), decorators)


def _decorators(walk: Walk, node: cst.FunctionDef | cst.ClassDef) -> tuple[Node, ...]:
    lowered = []
    for decorator in node.decorators:
        walk.lines(decorator.leading_lines)
        walk.space(decorator.whitespace_after_at)
        lowered.append(walk.expression(decorator.decorator))
        walk.newline(decorator.trailing_whitespace)
    walk.lines(node.lines_after_decorators)
    return tuple(lowered)


def _as(walk: Walk, node: cst.AsName) -> Node:
    walk.space(node.whitespace_before_as)
    walk.space(node.whitespace_after_as)
    return walk.expression(node.name)


def _async(walk: Walk, node: cst.Asynchronous | None) -> bool:
    if node is not None:
        walk.space(node.whitespace_after)
    return node is not None


def _opening(walk: Walk, node: cst.LeftParen | cst.MaybeSentinel) -> None:
    if isinstance(node, cst.LeftParen):
        walk.space(node.whitespace_after)


def _closing(walk: Walk, node: cst.RightParen | cst.MaybeSentinel) -> None:
    if isinstance(node, cst.RightParen):
        walk.space(node.whitespace_before)


HANDLERS: dict[type[cst.CSTNode], NodeHandler] = {
    cst.If: _if,
    cst.For: _for,
    cst.While: _while,
    cst.Try: _try,
    cst.With: _with,
    cst.FunctionDef: _function,
    cst.ClassDef: _class,
}
