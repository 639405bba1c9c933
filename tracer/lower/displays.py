"""Lower displays, comprehensions and subscripts: whatever stands between brackets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from ..tree import Clause, Comprehension, DictDisplay, Display, Index, Node, Slice, Star
from .expressions import elements
from .walk import Handler, Walk


def _tuple(walk: Walk, node: cst.Tuple) -> Display:
    line = walk.opened if node.lpar else walk.line
    return Display(line, "tuple", elements(walk, node.elements))


def _list(walk: Walk, node: cst.List) -> Display:
    line = walk.line
    walk.space(node.lbracket.whitespace_after)
    items = elements(walk, node.elements)
    walk.space(node.rbracket.whitespace_before)
    return Display(line, "list", items)


def _set(walk: Walk, node: cst.Set) -> Display:
    line = walk.line
    walk.space(node.lbrace.whitespace_after)
    items = elements(walk, node.elements)
    walk.space(node.rbrace.whitespace_before)
    return Display(line, "set", items)


def _dict(walk: Walk, node: cst.Dict) -> DictDisplay:
    line = walk.line
    walk.space(node.lbrace.whitespace_after)
    items = tuple(_pairs(walk, node.elements))
    walk.space(node.rbrace.whitespace_before)
    return DictDisplay(line, items)


def _pairs(walk: Walk, nodes: Sequence[cst.BaseDictElement]) -> Iterator[tuple[Node | None, Node]]:
    for node in nodes:
        key = None
        if isinstance(node, cst.DictElement):
            key = walk.expression(node.key)
            walk.space(node.whitespace_before_colon)
            walk.space(node.whitespace_after_colon)
        elif isinstance(node, cst.StarredDictElement):
            walk.space(node.whitespace_before_value)
        yield key, walk.expression(node.value)
        walk.token(node.comma)


def _generator(walk: Walk, node: cst.GeneratorExp) -> Comprehension:
    line = walk.opened  # the call's own parenthesis, when it has none
    item = walk.expression(node.elt)
    return Comprehension(line, "generator", item, None, _fors(walk, node.for_in))


def _list_comprehension(walk: Walk, node: cst.ListComp) -> Comprehension:
    line = walk.line
    walk.space(node.lbracket.whitespace_after)
    item = walk.expression(node.elt)
    fors = _fors(walk, node.for_in)
    walk.space(node.rbracket.whitespace_before)
    return Comprehension(line, "list", item, None, fors)


def _set_comprehension(walk: Walk, node: cst.SetComp) -> Comprehension:
    line = walk.line
    walk.space(node.lbrace.whitespace_after)
    item = walk.expression(node.elt)
    fors = _fors(walk, node.for_in)
    walk.space(node.rbrace.whitespace_before)
    return Comprehension(line, "set", item, None, fors)


def _dict_comprehension(walk: Walk, node: cst.DictComp) -> Comprehension:
    line = walk.line
    walk.space(node.lbrace.whitespace_after)
    key = walk.expression(node.key)
    walk.space(node.whitespace_before_colon)
    walk.space(node.whitespace_after_colon)
    value = walk.expression(node.value)
    fors = _fors(walk, node.for_in)
    walk.space(node.rbrace.whitespace_before)
    return Comprehension(line, "dict", key, value, fors)


def _fors(walk: Walk, node: cst.CompFor | None) -> tuple[Clause, ...]:
    fors = []
    while node is not None:
        fors.append(_for(walk, node))
        node = node.inner_for_in
    return tuple(fors)


def _for(walk: Walk, node: cst.CompFor) -> Clause:
    walk.space(node.whitespace_before)
    if node.asynchronous is not None:
        walk.space(node.asynchronous.whitespace_after)
    walk.space(node.whitespace_after_for)
    target = walk.expression(node.target)
    walk.space(node.whitespace_before_in)
    walk.space(node.whitespace_after_in)
    iterated = walk.expression(node.iter)
    tests = []
    for condition in node.ifs:
        walk.space(condition.whitespace_before)
        walk.space(condition.whitespace_before_test)
        tests.append(walk.expression(condition.test))
    return Clause(target, iterated, tuple(tests), node.asynchronous is not None)


def _subscript(walk: Walk, node: cst.Subscript) -> Index:
    line = walk.line
    value = walk.expression(node.value)
    walk.space(node.whitespace_after_value)
    walk.space(node.lbracket.whitespace_after)
    key = _key(walk, node.slice)
    walk.space(node.rbracket.whitespace_before)
    return Index(line, value, key)


def _key(walk: Walk, nodes: Sequence[cst.SubscriptElement]) -> Node:
    line = walk.line
    keys = []
    for node in nodes:
        keys.append(walk.handlers[type(node.slice)](walk, node.slice))
        walk.token(node.comma)
    if len(keys) > 1 or isinstance(nodes[0].comma, cst.Comma) or isinstance(keys[0], Star):
        return Display(line, "tuple", tuple(keys))
    return keys[0]


def _index(walk: Walk, node: cst.Index) -> Node:
    if node.star is None:
        return walk.expression(node.value)
    line = walk.line
    walk.space(node.whitespace_after_star)
    return Star(line, walk.expression(node.value))


def _slice(walk: Walk, node: cst.Slice) -> Slice:
    line = walk.line
    lower = walk.optional(node.lower)
    walk.token(node.first_colon)
    upper = walk.optional(node.upper)
    walk.token(node.second_colon)
    return Slice(line, lower, upper, walk.optional(node.step))


HANDLERS: dict[type[cst.CSTNode], Handler] = {
    cst.Tuple: _tuple,
    cst.List: _list,
    cst.Set: _set,
    cst.Dict: _dict,
    cst.GeneratorExp: _generator,
    cst.ListComp: _list_comprehension,
    cst.SetComp: _set_comprehension,
    cst.DictComp: _dict_comprehension,
    cst.Subscript: _subscript,
    cst.Index: _index,
    cst.Slice: _slice,
}
