"""Lower expressions, each handler visiting the tokens of its node in source order."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import libcst as cst

from ..tree import (
    Attr,
    Await,
    Binary,
    Bool,
    Compare,
    Const,
    IfExp,
    Name,
    Node,
    Star,
    Unary,
    Walrus,
    Yield,
)
from .literals import imaginary, integer
from .operators import BINARY, BOOLEAN, COMPARISON, UNARY
from .walk import Handler, Walk

_CONSTANTS = {"None": None, "True": True, "False": False}


def identifier(node: cst.Name) -> str:
    """The name as Python compares it (NFKC)."""
    name = node.value
    return name if name.isascii() else unicodedata.normalize("NFKC", name)


def _name(walk: Walk, node: cst.Name) -> Node:
    name = node.value
    return Const(walk.line, _CONSTANTS[name]) if name in _CONSTANTS else Name(walk.line, identifier(node))


def _ellipsis(walk: Walk, node: cst.Ellipsis) -> Const:
    return Const(walk.line, ...)


def _integer(walk: Walk, node: cst.Integer) -> Const:
    return Const(walk.line, integer(node.value))


def _float(walk: Walk, node: cst.Float) -> Const:
    return Const(walk.line, float(node.value))


def _imaginary(walk: Walk, node: cst.Imaginary) -> Const:
    return Const(walk.line, imaginary(node.value))


def _attribute(walk: Walk, node: cst.Attribute) -> Attr:
    line = walk.line
    value = walk.expression(node.value)
    walk.token(node.dot)
    return Attr(line, value, identifier(node.attr))


def _unary(walk: Walk, node: cst.UnaryOperation) -> Unary:
    line = walk.line
    walk.space(node.operator.whitespace_after)
    return Unary(line, UNARY[type(node.operator)], walk.expression(node.expression))


def _binary(walk: Walk, node: cst.BinaryOperation) -> Node:
    """A chain `a + b + c` leans left and may be long: walk down its spine instead of recursing."""
    line = walk.line
    spine = [node]
    while isinstance(node.left, cst.BinaryOperation) and not node.left.lpar:
        node = node.left
        spine.append(node)
    left = walk.expression(node.left)
    for node in reversed(spine):
        walk.token(node.operator)
        left = Binary(line, BINARY[type(node.operator)], left, walk.expression(node.right))
    return left


def _boolean(walk: Walk, node: cst.BooleanOperation) -> Bool:
    """`a and b and c` leans left in libcst and is one node in our tree."""
    line = walk.line
    operator = type(node.operator)
    spine = [node]
    while (
        isinstance(node.left, cst.BooleanOperation)
        and type(node.left.operator) is operator
        and not node.left.lpar
    ):
        node = node.left
        spine.append(node)
    values = [walk.expression(node.left)]
    for node in reversed(spine):
        walk.token(node.operator)
        values.append(walk.expression(node.right))
    return Bool(line, BOOLEAN[operator], tuple(values))


def _comparison(walk: Walk, node: cst.Comparison) -> Compare:
    line = walk.line
    left = walk.expression(node.left)
    rights = []
    for target in node.comparisons:
        operator = target.operator
        if isinstance(operator, cst.NotIn | cst.IsNot):
            walk.space(operator.whitespace_between)
        walk.token(operator)
        rights.append(walk.expression(target.comparator))
    ops = tuple(COMPARISON[type(target.operator)] for target in node.comparisons)
    return Compare(line, left, ops, tuple(rights))


def _if_exp(walk: Walk, node: cst.IfExp) -> IfExp:
    line = walk.line
    body = walk.expression(node.body)
    walk.space(node.whitespace_before_if)
    walk.space(node.whitespace_after_if)
    test = walk.expression(node.test)
    walk.space(node.whitespace_before_else)
    walk.space(node.whitespace_after_else)
    return IfExp(line, test, body, walk.expression(node.orelse))


def _walrus(walk: Walk, node: cst.NamedExpr) -> Walrus:
    line = walk.line
    target = walk.expression(node.target)
    walk.space(node.whitespace_before_walrus)
    walk.space(node.whitespace_after_walrus)
    return Walrus(line, target, walk.expression(node.value))


def _await(walk: Walk, node: cst.Await) -> Await:
    line = walk.line
    walk.space(node.whitespace_after_await)
    return Await(line, walk.expression(node.expression))


def _yield(walk: Walk, node: cst.Yield) -> Yield:
    line = walk.line
    walk.yields = True
    walk.space(node.whitespace_after_yield)
    if isinstance(node.value, cst.From):
        return Yield(line, from_item(walk, node.value), True)
    return Yield(line, walk.optional(node.value), False)


def from_item(walk: Walk, node: cst.From) -> Node:
    """Lower what stands after `from` in a `yield` or a `raise`."""
    walk.space(node.whitespace_before_from)
    walk.space(node.whitespace_after_from)
    return walk.expression(node.item)


def _star(walk: Walk, node: cst.StarredElement) -> Star:
    line = walk.line
    walk.space(node.whitespace_before_value)
    return Star(line, walk.expression(node.value))


def elements(walk: Walk, nodes: Sequence[cst.BaseElement]) -> tuple[Node, ...]:
    """Lower the elements of a display, a target list or a `del`."""
    items = []
    for node in nodes:
        items.append(walk.expression(node if isinstance(node, cst.StarredElement) else node.value))
        walk.token(node.comma)
    return tuple(items)


HANDLERS: dict[type[cst.CSTNode], Handler] = {
    cst.Name: _name,
    cst.Ellipsis: _ellipsis,
    cst.Integer: _integer,
    cst.Float: _float,
    cst.Imaginary: _imaginary,
    cst.Attribute: _attribute,
    cst.UnaryOperation: _unary,
    cst.BinaryOperation: _binary,
    cst.BooleanOperation: _boolean,
    cst.Comparison: _comparison,
    cst.IfExp: _if_exp,
    cst.NamedExpr: _walrus,
    cst.Await: _await,
    cst.Yield: _yield,
    cst.StarredElement: _star,
}
