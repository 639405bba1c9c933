"""Lower simple statements, those that fit between two semicolons."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from ..tree import (
    Alias,
    AnnAssign,
    Assert,
    Assign,
    AugAssign,
    Break,
    Continue,
    Delete,
    ExprStmt,
    Global,
    Import,
    ImportFrom,
    Pass,
    Raise,
    Return,
)
from .calls import annotation
from .expressions import elements, from_item, identifier
from .operators import AUGMENTED
from .walk import Handler, Walk


def _expr(walk: Walk, node: cst.Expr) -> ExprStmt:
    return ExprStmt(walk.line, walk.expression(node.value))


def _assign(walk: Walk, node: cst.Assign) -> Assign:
    line = walk.line
    targets = []
    for each in node.targets:
        targets.append(walk.expression(each.target))
        walk.space(each.whitespace_before_equal)
        walk.space(each.whitespace_after_equal)
    return Assign(line, tuple(targets), walk.expression(node.value))


def _ann_assign(walk: Walk, node: cst.AnnAssign) -> AnnAssign:
    line = walk.line
    target = walk.expression(node.target)
    noted = annotation(walk, node.annotation)
    walk.token(node.equal)
    return AnnAssign(line, target, noted, walk.optional(node.value))


def _aug_assign(walk: Walk, node: cst.AugAssign) -> AugAssign:
    line = walk.line
    target = walk.expression(node.target)
    walk.token(node.operator)
    return AugAssign(line, target, AUGMENTED[type(node.operator)], walk.expression(node.value))


def _return(walk: Walk, node: cst.Return) -> Return:
    line = walk.line
    walk.space(node.whitespace_after_return)
    return Return(line, walk.optional(node.value))


def _raise(walk: Walk, node: cst.Raise) -> Raise:
    line = walk.line
    walk.space(node.whitespace_after_raise)
    exc = walk.optional(node.exc)
    return Raise(line, exc, None if node.cause is None else from_item(walk, node.cause))


def _assert(walk: Walk, node: cst.Assert) -> Assert:
    line = walk.line
    walk.space(node.whitespace_after_assert)
    test = walk.expression(node.test)
    walk.token(node.comma)
    return Assert(line, test, walk.optional(node.msg))


def _delete(walk: Walk, node: cst.Del) -> Delete:
    line = walk.line
    walk.space(node.whitespace_after_del)
    if isinstance(node.target, cst.Tuple) and not node.target.lpar:
        return Delete(line, elements(walk, node.target.elements))
    return Delete(line, (walk.expression(node.target),))


def _pass(walk: Walk, node: cst.Pass) -> Pass:
    return Pass(walk.line)


def _break(walk: Walk, node: cst.Break) -> Break:
    return Break(walk.line)


def _continue(walk: Walk, node: cst.Continue) -> Continue:
    return Continue(walk.line)


def _global(walk: Walk, node: cst.Global) -> Global:
    line = walk.line
    walk.space(node.whitespace_after_global)
    return Global(line, "global", _names(walk, node.names))


def _nonlocal(walk: Walk, node: cst.Nonlocal) -> Global:
    line = walk.line
    walk.space(node.whitespace_after_nonlocal)
    return Global(line, "nonlocal", _names(walk, node.names))


def _names(walk: Walk, nodes: Sequence[cst.NameItem]) -> tuple[str, ...]:
    for node in nodes:
        walk.token(node.comma)
    return tuple(identifier(node.name) for node in nodes)


def _import(walk: Walk, node: cst.Import) -> Import:
    line = walk.line
    walk.space(node.whitespace_after_import)
    return Import(line, _aliases(walk, node.names))


def _import_from(walk: Walk, node: cst.ImportFrom) -> ImportFrom:
    line = walk.line
    walk.space(node.whitespace_after_from)
    for dot in node.relative:
        walk.token(dot)
    module = "" if node.module is None else _dotted(walk, node.module)
    walk.space(node.whitespace_before_import)
    walk.space(node.whitespace_after_import)
    if isinstance(node.names, cst.ImportStar):
        return ImportFrom(line, module, len(node.relative), (Alias("*"),))
    if node.lpar is not None:
        walk.space(node.lpar.whitespace_after)
    aliases = _aliases(walk, node.names)
    if node.rpar is not None:
        walk.space(node.rpar.whitespace_before)
    return ImportFrom(line, module, len(node.relative), aliases)


def _aliases(walk: Walk, nodes: Sequence[cst.ImportAlias]) -> tuple[Alias, ...]:
    aliases = []
    for node in nodes:
        name = _dotted(walk, node.name)
        aliases.append(Alias(name, None if node.asname is None else _as(walk, node.asname)))
        walk.token(node.comma)
    return tuple(aliases)


def _as(walk: Walk, node: cst.AsName) -> str:
    walk.space(node.whitespace_before_as)
    walk.space(node.whitespace_after_as)
    assert isinstance(node.name, cst.Name), node
    return identifier(node.name)


def _dotted(walk: Walk, node: cst.BaseExpression) -> str:
    if isinstance(node, cst.Name):
        return identifier(node)
    assert isinstance(node, cst.Attribute), node
    parent = _dotted(walk, node.value)
    walk.token(node.dot)
    return f"{parent}.{identifier(node.attr)}"


HANDLERS: dict[type[cst.CSTNode], Handler] = {
    cst.Expr: _expr,
    cst.Assign: _assign,
    cst.AnnAssign: _ann_assign,
    cst.AugAssign: _aug_assign,
    cst.Return: _return,
    cst.Raise: _raise,
    cst.Assert: _assert,
    cst.Del: _delete,
    cst.Pass: _pass,
    cst.Break: _break,
    cst.Continue: _continue,
    cst.Global: _global,
    cst.Nonlocal: _nonlocal,
    cst.Import: _import,
    cst.ImportFrom: _import_from,
}
