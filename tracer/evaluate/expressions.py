"""Expressions: one function a node, found in one table."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from .. import tree
from . import attributes, calls, containers, fits, operators, slices
from .arguments import Given, arguments
from .comparing import as_value, compare
from .comprehensions import comprehension
from .lookup import lookup
from .machine import Dead
from .texts import format_value, joined_text
from .truth import truth
from .unions import alternatives, each, each2, join
from .values import IteratorValue, Unknown, Value
from .walking import walk

if TYPE_CHECKING:
    from ..guards import Guard
    from .machine import Machine


def evaluate(m: Machine, node: tree.Node) -> Value:
    """The value of an expression on the current path."""
    return EXPRESSIONS[type(node)](m, node)


def _const(m: Machine, node: tree.Const) -> Value:
    return node.value


def _name(m: Machine, node: tree.Name) -> Value:
    return lookup(m, node.id, node)


def _attr(m: Machine, node: tree.Attr) -> Value:
    value = evaluate(m, node.value)
    m.frame.line = node.line
    return each(m, value, lambda atom: attributes.get(m, atom, node.name, node))


def _index(m: Machine, node: tree.Index) -> Value:
    value = evaluate(m, node.value)
    key = evaluate(m, node.key)
    m.frame.line = node.line
    return each2(m, value, key, lambda a, k: containers.get_item(m, a, k, node))


def _slice(m: Machine, node: tree.Slice) -> Value:
    parts = [None if p is None else evaluate(m, p) for p in (node.lower, node.upper, node.step)]
    return each(
        m,
        parts[0],
        lambda a: each(
            m, parts[1], lambda b: each(m, parts[2], lambda c: slices.make_slice(m, a, b, c, node))
        ),
    )


def _call(m: Machine, node: tree.Call) -> Value:
    func = evaluate(m, node.func)
    given = arguments(m, node.args, evaluate)
    m.frame.line = node.line
    return each2(m, func, given, lambda atom, g: _called(m, atom, g, node))


def _called(m: Machine, func: Value, given: Given, node: tree.Call) -> Value:
    value = calls.call_with(m, func, given, node)
    fits.rounding(m, func, node, given.args, value)
    return value


def _unary(m: Machine, node: tree.Unary) -> Value:
    value = evaluate(m, node.value)
    if node.op == "not":
        return as_value(m, ~truth(m, value))
    return each(m, value, lambda atom: operators.unary(m, node.op, atom, node))


def _binary(m: Machine, node: tree.Binary) -> Value:
    left, right = evaluate(m, node.left), evaluate(m, node.right)
    m.frame.line = node.line
    return each2(m, left, right, lambda a, b: _operated(m, a, b, node))


def _operated(m: Machine, a: Value, b: Value, node: tree.Binary) -> Value:
    if node.op == "%":
        fits.remainder(m, node, a, b)
    return operators.binary(m, node.op, a, b, node)


def _bool(m: Machine, node: tree.Bool, start: int = 0) -> Value:
    value = evaluate(m, node.values[start])
    if start == len(node.values) - 1:
        return value
    holds = truth(m, value)
    more = lambda: _bool(m, node, start + 1)  # noqa: E731
    keep = lambda: settled(m, value)  # noqa: E731
    return m.branch(holds, more, keep) if node.op == "and" else m.branch(holds, keep, more)


def condition(m: Machine, node: tree.Node) -> Guard:
    """Where a test is true on the current path, of which it leaves what does not raise.

    As a value, `a and b` is any of what its parts may be; a test asks of each only where it is true.
    """
    return _connected(m, node, 0) if isinstance(node, tree.Bool) else truth(m, evaluate(m, node))


def _connected(m: Machine, node: tree.Bool, start: int) -> Guard:
    holds = condition(m, node.values[start])
    if start == len(node.values) - 1:
        return holds
    goes_on = holds if node.op == "and" else m.live & ~holds
    if goes_on.is_false:
        return holds
    decided = m.live & ~goes_on
    m.live = goes_on
    try:
        more = _connected(m, node, start + 1)
    except Dead:
        more = m.live = m.space.false
    m.live = m.live | decided
    if m.live.is_false:
        raise Dead
    return more if node.op == "and" else more | decided


def settled(m: Machine, value: Value) -> Value:
    return join(m, alternatives(m, value))


def _compare(m: Machine, node: tree.Compare) -> Value:
    return _chain(m, node, evaluate(m, node.left), 0)


def _chain(m: Machine, node: tree.Compare, left: Value, at: int) -> Value:
    right = evaluate(m, node.rights[at])
    m.frame.line = node.line
    first = each2(m, left, right, lambda a, b: compare(m, node.ops[at], a, b, node))
    if at == len(node.ops) - 1:
        return first
    return m.branch(truth(m, first), lambda: _chain(m, node, right, at + 1), lambda: settled(m, first))


def _if_exp(m: Machine, node: tree.IfExp) -> Value:
    holds = condition(m, node.test)
    return m.branch(holds, lambda: evaluate(m, node.body), lambda: evaluate(m, node.orelse))


def _display(m: Machine, node: tree.Display) -> Value:
    items = elements(m, node.items)
    if isinstance(items, Unknown):
        return items
    return containers.make(m, node.kind, items)


def elements(m: Machine, nodes: tuple[tree.Node, ...]) -> Value:
    """The elements of a display: a tuple of Values, or a Guarded set of tuples when a `*` part is guarded."""
    out: Value = ()
    for node in nodes:
        if isinstance(node, tree.Star):
            more = containers.items_of(m, evaluate(m, node.value), node)
            out = each2(m, out, more, lambda a, b: _concat(a, b))
        else:
            value = evaluate(m, node)
            out = each(m, out, partial(_with_element, value))
    return out


def _with_element(value: Value, items: Value) -> Value:
    return items if isinstance(items, Unknown) else (*items, value)


def _concat(a: Value, b: Value) -> Value:
    if isinstance(a, Unknown):
        return a
    return b if isinstance(b, Unknown) else (*a, *b)


def _dict(m: Machine, node: tree.DictDisplay) -> Value:
    out = containers.new_dict(m)
    for key, value in node.items:
        if key is None:
            containers.update(m, out, evaluate(m, value), node)
        else:
            name = evaluate(m, key)
            containers.set_item(m, out, name, evaluate(m, value), node)
    return out


def _lambda(m: Machine, node: tree.Lambda) -> Value:
    return calls.make_function(m, node, "<lambda>")


def _fstring(m: Machine, node: tree.FString) -> Value:
    out: Value = ""
    for part in node.parts:
        text = part.value if isinstance(part, tree.Const) else _format(m, part)
        out = each2(m, out, text, lambda a, b: joined_text(m, a, b, node))
    return out


def _format(m: Machine, node: tree.Node) -> Value:
    if not isinstance(node, tree.Format):
        return evaluate(m, node)
    value = evaluate(m, node.value)
    spec = "" if node.spec is None else evaluate(m, node.spec)
    return each2(m, value, spec, lambda a, s: format_value(m, a, node.conversion, s, node))


def _walrus(m: Machine, node: tree.Walrus) -> Value:
    value = evaluate(m, node.value)
    if isinstance(node.target, tree.Name):
        m.frame.host().write(m, node.target.id, value)
    return value


def _yield(m: Machine, node: tree.Yield) -> Value:
    value = None if node.value is None else evaluate(m, node.value)
    taker, frame = m.frame.take, m.frame
    if taker is None:
        return m.unsupported("Yield", node)
    if node.from_:
        walk(m, value, taker, node)
        if m.live.is_false:
            raise Dead
        return m.unknown("what a generator returns", node) if isinstance(value, IteratorValue) else None
    if frame.vague:
        taker.rest(m.unknown("what a generator gives", node))
    else:
        taker.item(value)
    return None


def _await(m: Machine, node: tree.Await) -> Value:
    return m.unsupported("Await", node)


def _unsupported(m: Machine, node: tree.Unsupported) -> Value:
    return m.unsupported(node.kind, node)


def _star(m: Machine, node: tree.Star) -> Value:
    return m.unsupported("Star", node)


EXPRESSIONS: dict[type, Callable[..., Value]] = {
    tree.Const: _const,
    tree.Name: _name,
    tree.Attr: _attr,
    tree.Index: _index,
    tree.Slice: _slice,
    tree.Call: _call,
    tree.Unary: _unary,
    tree.Binary: _binary,
    tree.Bool: _bool,
    tree.Compare: _compare,
    tree.IfExp: _if_exp,
    tree.Display: _display,
    tree.DictDisplay: _dict,
    tree.Lambda: _lambda,
    tree.Comprehension: comprehension,
    tree.FString: _fstring,
    tree.Format: _format,
    tree.Walrus: _walrus,
    tree.Yield: _yield,
    tree.Await: _await,
    tree.Star: _star,
    tree.Unsupported: _unsupported,
}
