"""Lower calls and parameter lists, the two ends of passing arguments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from ..tree import Arg, Call, Lambda, Node, Param, Params
from .expressions import identifier
from .walk import Handler, Walk


def _call(walk: Walk, node: cst.Call) -> Call:
    line = walk.line
    func = walk.expression(node.func)
    walk.space(node.whitespace_after_func)
    walk.opened = walk.line
    walk.space(node.whitespace_before_args)
    return Call(line, func, arguments(walk, node.args))


def arguments(walk: Walk, nodes: Sequence[cst.Arg]) -> tuple[Arg, ...]:
    """Lower the arguments of a call, or the bases and keywords of a class."""
    args = []
    for node in nodes:
        walk.space(node.whitespace_after_star)
        walk.token(node.equal)
        name = None if node.keyword is None else identifier(node.keyword)
        args.append(Arg(walk.expression(node.value), name, len(node.star)))
        walk.token(node.comma)
        walk.space(node.whitespace_after_arg)
    return tuple(args)


def _lambda(walk: Walk, node: cst.Lambda) -> Lambda:
    line, outer = walk.line, walk.yields
    walk.space(node.whitespace_after_lambda)
    params = parameters(walk, node.params)
    walk.token(node.colon)
    body = walk.expression(node.body)
    walk.yields = outer
    return Lambda(line, params, body)


def parameters(walk: Walk, node: cst.Parameters) -> Params:
    """Lower a parameter list, in source order."""
    return Params(tuple(_params(walk, node)))


def _params(walk: Walk, node: cst.Parameters) -> Iterator[Param]:
    for param in node.posonly_params:
        yield _param(walk, param, "pos")
    if isinstance(node.posonly_ind, cst.ParamSlash):
        walk.space(node.posonly_ind.whitespace_after)
        walk.token(node.posonly_ind.comma)
    for param in node.params:
        yield _param(walk, param, "any")
    if isinstance(node.star_arg, cst.Param):
        yield _param(walk, node.star_arg, "star")
    elif isinstance(node.star_arg, cst.ParamStar):
        walk.token(node.star_arg.comma)
    for param in node.kwonly_params:
        yield _param(walk, param, "kw")
    if node.star_kwarg is not None:
        yield _param(walk, node.star_kwarg, "kwargs")


def _param(walk: Walk, node: cst.Param, kind: str) -> Param:
    walk.space(node.whitespace_after_star)
    noted = None if node.annotation is None else annotation(walk, node.annotation)
    walk.token(node.equal)
    default = walk.optional(node.default)
    walk.token(node.comma)
    walk.space(node.whitespace_after_param)
    return Param(identifier(node.name), kind, default, noted)


def annotation(walk: Walk, node: cst.Annotation) -> Node:
    """Lower what stands after `:` or `->`."""
    walk.space(node.whitespace_before_indicator)
    walk.space(node.whitespace_after_indicator)
    return walk.expression(node.annotation)


HANDLERS: dict[type[cst.CSTNode], Handler] = {
    cst.Call: _call,
    cst.Lambda: _lambda,
}
