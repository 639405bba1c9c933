"""Expressions: one function a node, found in one table."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from .. import tree
from ..names import bound_by_loops
from . import attributes, calls, containers, operators
from .arguments import arguments
from .comparing import as_value, compare
from .frames import Frame
from .loops import iterate
from .machine import Dead
from .targets import assign
from .texts import format_value, joined_text
from .truth import truth
from .unions import alternatives, each, each2, join
from .values import MISSING, IteratorValue, Unknown, Value
from .walking import Taker, generator, walk

if TYPE_CHECKING:
    from .machine import Machine


def evaluate(m: Machine, node: tree.Node) -> Value:
    """The value of an expression on the current path."""
    return EXPRESSIONS[type(node)](m, node)


def _const(m: Machine, node: tree.Const) -> Value:
    return node.value


def _name(m: Machine, node: tree.Name) -> Value:
    return lookup(m, node.id, node)


def lookup(m: Machine, name: str, node: tree.Node | None = None) -> Value:
    """A name as the current frame sees it: its own, or that of the function around it that binds it, or
    global.
    """
    frame = m.frame
    if name in frame.redirect:
        target = frame.redirect[name]
        return _global_name(m, name) if target is None else _local(m, target, name, "NameError")
    if frame.local is None:
        own = frame.read(m, name)
        return own if not _gaps(m, own) else _or(m, own, lambda: _around(m, frame, name))
    if name in frame.local:
        return _local(m, frame, name, "UnboundLocalError")
    return _around(m, frame, name)


def _around(m: Machine, frame: Frame, name: str) -> Value:
    outer = frame.enclosing(name)
    if outer is not None:
        return _local(m, outer, name, "NameError")
    host = frame.outer
    while host is not None and name not in host.redirect:
        host = host.outer
    redirected = host.redirect[name] if host is not None else None
    return _global_name(m, name) if redirected is None else _local(m, redirected, name, "NameError")


def _local(m: Machine, frame: Frame, name: str, error: str) -> Value:
    message = f"cannot access local variable '{name}' where it is not associated with a value"
    return attributes.absent(m, frame.read(m, name), error, message)


def _global_name(m: Machine, name: str) -> Value:
    value = m.world.module_name(m, m.module(), name)
    if not _gaps(m, value):
        return value
    value = _or(m, value, lambda: m.world.builtin(name))
    return attributes.absent(m, value, "NameError", f"name '{name}' is not defined")


def _gaps(m: Machine, value: Value) -> bool:
    return any(atom is MISSING for _, atom in alternatives(m, value))


def _or(m: Machine, value: Value, other: Callable[[], Value]) -> Value:
    """`value`, and where it is missing the other one."""
    if value is MISSING:
        return other()
    if not _gaps(m, value):
        return value
    parts = []
    for guard, atom in alternatives(m, value):
        parts.append((guard, other() if atom is MISSING else atom))
    return join(m, parts)


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
            m, parts[1], lambda b: each(m, parts[2], lambda c: operators.make_slice(m, a, b, c, node))
        ),
    )


def _call(m: Machine, node: tree.Call) -> Value:
    func = evaluate(m, node.func)
    given = arguments(m, node.args)
    m.frame.line = node.line
    return each2(m, func, given, lambda atom, g: calls.call_with(m, atom, g, node))


def _unary(m: Machine, node: tree.Unary) -> Value:
    value = evaluate(m, node.value)
    if node.op == "not":
        return as_value(m, ~truth(m, value))
    return each(m, value, lambda atom: operators.unary(m, node.op, atom, node))


def _binary(m: Machine, node: tree.Binary) -> Value:
    left, right = evaluate(m, node.left), evaluate(m, node.right)
    m.frame.line = node.line
    return each2(m, left, right, lambda a, b: operators.binary(m, node.op, a, b, node))


def _bool(m: Machine, node: tree.Bool, start: int = 0) -> Value:
    value = evaluate(m, node.values[start])
    if start == len(node.values) - 1:
        return value
    holds = truth(m, value)
    more = lambda: _bool(m, node, start + 1)  # noqa: E731
    keep = lambda: settled(m, value)  # noqa: E731
    return m.branch(holds, more, keep) if node.op == "and" else m.branch(holds, keep, more)


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
    holds = m.record.test(node.test, truth(m, evaluate(m, node.test)))
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


def _comprehension(m: Machine, node: tree.Comprehension) -> Value:
    frame = _inner_frame(m, node)
    first = evaluate(m, node.fors[0].iter)
    if node.kind == "generator":
        return generator(
            m,
            lambda taker: _in_frame(
                m, frame, lambda: _generate(m, node, 0, _yielding(m, node, taker), first)
            ),
        )
    out = containers.new_dict(m) if node.kind == "dict" else containers.make(m, node.kind, ())
    _in_frame(m, frame, lambda: _generate(m, node, 0, lambda: _collect(m, node, out), first))
    return out


def _inner_frame(m: Machine, node: tree.Comprehension) -> Frame:
    outer = m.frame
    frame = Frame(m.module(), outer.function, outer, m.live, cls=outer.cls, local=bound_by_loops(node))
    frame.line, frame.comprehension = node.line, True
    return frame


def _in_frame(m: Machine, frame: Frame, run: Callable[[], None]) -> None:
    m.frames.append(frame)
    try:
        run()
    finally:
        m.frames.pop()


def _yielding(m: Machine, node: tree.Comprehension, taker: Taker) -> Callable[[], None]:
    def hand() -> None:
        value = evaluate(m, node.item)
        if m.frame.vague:
            taker.rest(m.unknown("what a generator gives", node))
        else:
            taker.item(value)

    return hand


def _collect(m: Machine, node: tree.Comprehension, out: Value) -> None:
    """Add one element to what a comprehension makes; after a loop of unknown length nobody knows what is
    in it.
    """
    key = evaluate(m, node.item)
    value = None if node.value is None else evaluate(m, node.value)
    if m.frame.vague:
        containers.smear(m, out, "what a comprehension made")
    elif node.kind == "dict":
        containers.set_item(m, out, key, value, node)
    elif node.kind == "set":
        containers.add(m, out, key)
    else:
        containers.append(m, out, key)


def _generate(
    m: Machine, node: tree.Comprehension, at: int, then: Callable[[], None], iterated: Value = MISSING
) -> None:
    if at == len(node.fors):
        then()
        return
    clause = node.fors[at]
    source = evaluate(m, clause.iter) if iterated is MISSING else iterated

    def body(item: Value) -> None:
        assign(m, clause.target, item)
        _tests(m, clause.tests, 0, lambda: _generate(m, node, at + 1, then))

    iterate(m, source, body, node)


def _tests(m: Machine, tests: tuple[tree.Node, ...], at: int, then: Callable[[], None]) -> None:
    if at == len(tests):
        then()
        return
    holds = truth(m, evaluate(m, tests[at]))
    m.branch(holds, lambda: _tests(m, tests, at + 1, then), lambda: None)


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
    tree.Comprehension: _comprehension,
    tree.FString: _fstring,
    tree.Format: _format,
    tree.Walrus: _walrus,
    tree.Yield: _yield,
    tree.Await: _await,
    tree.Star: _star,
    tree.Unsupported: _unsupported,
}
