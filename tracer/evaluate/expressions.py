"""Expressions: one function a node, found in one table."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .. import tree
from . import attributes, calls, containers, operators
from .frames import Frame
from .machine import Dead
from .truth import truth
from .unions import alternatives, each, each2, join
from .values import MISSING, Function, Unknown, Value

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
    """A name as the current frame sees it: local, enclosing, module, builtin."""
    value: Value = MISSING
    frame: Frame | None = m.frame
    while frame is not None:
        value = _or(m, value, lambda frame=frame: frame.read(m, name))
        if not _gaps(m, value):
            return value
        frame = frame.outer
    value = _or(m, value, lambda: m.world.module_name(m, m.module(), name))
    value = _or(m, value, lambda: m.world.builtin(name))
    if _gaps(m, value):
        return attributes.absent(m, value, "NameError", f"name '{name}' is not defined")
    return value


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
        lambda a: each(m, parts[1], lambda b: each(m, parts[2], lambda c: operators.make_slice(m, a, b, c, node))),
    )


def _call(m: Machine, node: tree.Call) -> Value:
    func = evaluate(m, node.func)
    args, kwargs = calls.arguments(m, node.args)
    m.frame.line = node.line
    return each(m, func, lambda atom: calls.call(m, atom, args, kwargs, node))


def _unary(m: Machine, node: tree.Unary) -> Value:
    value = evaluate(m, node.value)
    if node.op == "not":
        return _as_bool(m, ~truth(m, value), node)
    return each(m, value, lambda atom: operators.unary(m, node.op, atom, node))


def _binary(m: Machine, node: tree.Binary) -> Value:
    left, right = evaluate(m, node.left), evaluate(m, node.right)
    m.frame.line = node.line
    return each2(m, left, right, lambda a, b: operators.binary(m, node.op, a, b, node))


def _as_bool(m: Machine, guard: Any, node: tree.Node) -> Value:
    yes = m.live & guard
    if yes is m.live:
        return True
    if yes.is_false:
        return False
    return join(m, [(yes, True), (m.live & ~guard, False)])


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
    first = each2(m, left, right, lambda a, b: operators.compare(m, node.ops[at], a, b, node))
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
            out = each(m, out, lambda a, value=value: a if isinstance(a, Unknown) else (*a, value))
    return out


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
    out = containers.new_dict(m) if node.kind == "dict" else containers.make(m, "list", ())
    frame = Frame(m.module(), m.frame.function, m.frame, m.live, cls=m.frame.cls)
    frame.line = node.line
    first = evaluate(m, node.fors[0].iter)
    m.frames.append(frame)
    try:
        _generate(m, node, 0, out, first)
    finally:
        m.frames.pop()
    if node.kind == "set":
        return each(m, out.content, lambda items: items if isinstance(items, Unknown) else containers.make(m, "set", items))
    return out


def _generate(m: Machine, node: tree.Comprehension, at: int, out: Value, iterated: Value = MISSING) -> None:
    if at == len(node.fors):
        if node.kind == "dict" and node.value is not None:
            key = evaluate(m, node.item)
            containers.set_item(m, out, key, evaluate(m, node.value), node)
        else:
            containers.append(m, out, evaluate(m, node.item))
        return
    clause = node.fors[at]
    source = evaluate(m, clause.iter) if iterated is MISSING else iterated
    from .statements import assign, iterate  # statements and expressions need each other

    def body(item: Value) -> None:
        assign(m, clause.target, item)
        _tests(m, clause.tests, 0, lambda: _generate(m, node, at + 1, out))

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
        out = each2(m, out, text, lambda a, b: _concat_text(m, a, b, node))
    return out


def _concat_text(m: Machine, a: Value, b: Value, node: tree.Node) -> Value:
    if isinstance(a, str) and isinstance(b, str):
        return a + b
    return m.unknown(f"{operators.describe(a)}{operators.describe(b)}", node, "str")


def _format(m: Machine, node: tree.Node) -> Value:
    if not isinstance(node, tree.Format):
        return evaluate(m, node)
    value = evaluate(m, node.value)
    spec = "" if node.spec is None else evaluate(m, node.spec)
    return each2(m, value, spec, lambda a, s: operators.format_value(m, a, node.conversion, s, node))


def _walrus(m: Machine, node: tree.Walrus) -> Value:
    from .statements import assign

    value = evaluate(m, node.value)
    assign(m, node.target, value)
    return value


def _yield(m: Machine, node: tree.Yield) -> Value:
    value = None if node.value is None else evaluate(m, node.value)
    frame = m.frame
    if frame.yields is None:
        return m.unsupported("Yield", node)
    if node.from_:
        containers.extend(m, frame.yields, value, node)
    else:
        containers.append(m, frame.yields, value)
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

__all__ = ["Dead", "Function", "evaluate", "lookup"]
