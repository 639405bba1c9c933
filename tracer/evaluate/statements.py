"""Statements: one function a node, found in one table; every write is guarded by the path it is on."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .. import tree
from . import attributes, calls, containers, operators
from .classes import make_class
from .expressions import evaluate, lookup
from .forget import forget
from .frames import Loop
from .machine import LOOPS, Dead
from .truth import truth
from .unions import alternatives, each, each2
from .values import LIBRARY_ERROR, MISSING, DictValue, Instance, ListValue, SetValue, Unknown, Value

if TYPE_CHECKING:
    from .machine import Machine


def execute(m: Machine, block: tree.Block) -> None:
    """Run statements in order until the path ends."""
    for node in block:
        m.tick()
        m.frame.line = node.line
        STATEMENTS[type(node)](m, node)


def _block(m: Machine, block: tree.Block) -> Callable[[], None]:
    return lambda: execute(m, block)


def _expr(m: Machine, node: tree.ExprStmt) -> None:
    evaluate(m, node.value)


def _assign(m: Machine, node: tree.Assign) -> None:
    value = evaluate(m, node.value)
    for target in node.targets:
        assign(m, target, value)


def _ann_assign(m: Machine, node: tree.AnnAssign) -> None:
    if node.value is not None:
        assign(m, node.target, evaluate(m, node.value))


def assign(m: Machine, target: tree.Node, value: Value) -> None:
    """Bind `value` to a name, an attribute, an item or a pattern of those."""
    if isinstance(target, tree.Name):
        m.frame.write(m, target.id, value)
    elif isinstance(target, tree.Attr):
        owner = evaluate(m, target.value)
        each(m, owner, lambda atom: attributes.put(m, atom, target.name, value, target))
    elif isinstance(target, tree.Index):
        owner, key = evaluate(m, target.value), evaluate(m, target.key)
        each(m, owner, lambda atom: containers.set_item(m, atom, key, value, target))
    elif isinstance(target, tree.Display):
        items = containers.items_of(m, value, target)
        each(m, items, lambda atom: _unpack(m, target, atom))
    else:
        m.unsupported(f"assignment to {type(target).__name__}", target)


def _unpack(m: Machine, target: tree.Display, items: Value) -> None:
    if isinstance(items, Unknown):
        for at, item in enumerate(target.items):
            inner = item.value if isinstance(item, tree.Star) else item
            assign(m, inner, Unknown(f"{items.key}[{at}]", f"{items.label}[{at}]", m.site(target)))
        return
    star = next((at for at, item in enumerate(target.items) if isinstance(item, tree.Star)), None)
    wanted = len(target.items)
    if (star is None and len(items) != wanted) or len(items) < wanted - 1:
        message = f"expected {wanted} values to unpack, got {len(items)}"
        raise m.throw(m.world.exception(m, "ValueError", message))
    for at, item in enumerate(target.items):
        if isinstance(item, tree.Star):
            assign(m, item.value, ListValue(items[at : len(items) - (wanted - at - 1)], m.live))
        else:
            assign(m, item, items[at] if star is None or at < star else items[at - wanted])


def _aug_assign(m: Machine, node: tree.AugAssign) -> None:
    old = evaluate(m, node.target)
    value = evaluate(m, node.value)

    def change(atom: Value, other: Value) -> Value:
        if node.op == "+" and isinstance(atom, ListValue):
            containers.extend(m, atom, other, node)
            return atom
        if node.op == "|" and isinstance(atom, DictValue):
            containers.update(m, atom, other, node)
            return atom
        if node.op == "|" and isinstance(atom, SetValue):
            each(m, containers.items_of(m, other, node), lambda items: _add_all(m, atom, items))
            return atom
        return operators.binary(m, node.op, atom, other, node)

    assign(m, node.target, each2(m, old, value, change))


def _add_all(m: Machine, target: SetValue, items: Value) -> None:
    if isinstance(items, Unknown):
        target.other = items
        return
    for item in items:
        containers.add(m, target, item)


def _return(m: Machine, node: tree.Return) -> None:
    value = None if node.value is None else evaluate(m, node.value)
    m.record.returned(value, node)
    m.frame.returns += alternatives(m, value)
    raise m.kill()


def _raise(m: Machine, node: tree.Raise) -> None:
    if node.exc is None:
        current = m.record.handling
        if current is None:
            raise m.throw(m.world.exception(m, "RuntimeError", "No active exception to reraise"))
        raise m.throw(current)
    value = evaluate(m, node.exc)
    m.frame.line = node.line

    def throw(atom: Value) -> None:
        if isinstance(atom, Instance):
            raise m.throw(atom)
        made = calls.call(m, atom, (), {}, node)
        if isinstance(made, Instance):
            raise m.throw(made)
        raise m.throw(m.world.exception(m, "Exception", operators.describe(atom)))

    each(m, value, throw)


def _assert(m: Machine, node: tree.Assert) -> None:
    holds = truth(m, evaluate(m, node.test))

    def fail() -> None:
        text = None if node.message is None else evaluate(m, node.message)
        m.frame.line = node.line
        raise m.throw(m.world.exception(m, "AssertionError", "" if text is None else text))

    m.branch(m.record.test(node.test, holds), lambda: None, fail)


def _delete(m: Machine, node: tree.Delete) -> None:
    for target in node.targets:
        if isinstance(target, tree.Name):
            m.frame.write(m, target.id, MISSING)
        elif isinstance(target, tree.Attr):
            each(m, evaluate(m, target.value), lambda a, t=target: _delete_attribute(m, a, t))
        elif isinstance(target, tree.Index):
            key = evaluate(m, target.key)
            each2(m, evaluate(m, target.value), key, lambda a, k, t=target: _delete_item(m, a, k, t))


def _delete_attribute(m: Machine, atom: Value, target: tree.Attr) -> None:
    if isinstance(atom, Instance):
        m.world.delete_attribute(m, atom, target.name)


def _delete_item(m: Machine, atom: Value, key: Value, node: tree.Node) -> None:
    if isinstance(atom, DictValue):
        containers.get_item(m, atom, key, node)
        containers.discard(m, atom, key)
    else:
        m.unsupported("del of an item", node)


def _nothing(m: Machine, node: tree.Node) -> None:
    pass


def _break(m: Machine, node: tree.Break) -> None:
    loop = m.frame.loops[-1]
    loop.broken = loop.broken | m.live
    raise m.kill()


def _continue(m: Machine, node: tree.Continue) -> None:
    loop = m.frame.loops[-1]
    loop.continued = loop.continued | m.live
    raise m.kill()


def _global(m: Machine, node: tree.Global) -> None:
    for name in node.names:
        m.frame.redirect[name] = None if node.kind == "global" else _defining(m, name)


def _defining(m: Machine, name: str) -> Any:
    frame = m.frame.outer
    while frame is not None and name not in frame.names:
        frame = frame.outer
    return frame


def _import(m: Machine, node: tree.Import) -> None:
    for alias in node.aliases:
        value = m.world.import_module(m, alias.name, node)
        if alias.asname is None:
            value = m.world.import_module(m, alias.name.partition(".")[0], node)
        m.frame.write(m, alias.asname or alias.name.partition(".")[0], value)


def _import_from(m: Machine, node: tree.ImportFrom) -> None:
    base = m.world.absolute(m.module(), node.module, node.level)
    for alias in node.aliases:
        if alias.name != "*":
            value = m.world.import_name(m, base, alias.name, node)
            m.frame.write(m, alias.asname or alias.name, value)


def _if(m: Machine, node: tree.If) -> None:
    holds = m.record.test(node.test, truth(m, evaluate(m, node.test)))
    with m.record.under(node):
        m.branch(holds, _block(m, node.body), _block(m, node.orelse))


def _for(m: Machine, node: tree.For) -> None:
    source = evaluate(m, node.iter)
    with m.record.choosing(node, source) as choosing:

        def body(item: Value) -> None:
            assign(m, node.target, item)
            with choosing.trying(item):
                execute(m, node.body)

        iterate(m, source, body, node, lambda: execute(m, node.orelse))


def iterate(
    m: Machine,
    source: Value,
    body: Callable[[Value], None],
    node: tree.Node,
    orelse: Callable[[], None] = lambda: None,
) -> None:
    """Run `body` for every element, each iteration on the paths that reach it."""
    each(m, containers.items_of(m, source, node), lambda items: _iterate(m, items, body, node, orelse))


def _iterate(
    m: Machine, items: Value, body: Callable[[Value], None], node: tree.Node, orelse: Callable[[], None]
) -> None:
    loop = Loop(m.space.false)
    m.frame.loops.append(loop)
    try:
        if isinstance(items, Unknown):
            _some_iteration(m, items, body, loop, node)
        elif len(items) > LOOPS:
            m.coverage.budget(f"a loop of more than {LOOPS} iterations")
            raise m.abandon()
        else:
            for item in items:
                if m.live.is_false:
                    break
                _one(m, lambda item=item: body(item), loop)
    finally:
        m.frame.loops.pop()
    _close(m, loop, orelse)


def _one(m: Machine, run: Callable[[], None], loop: Loop) -> None:
    try:
        run()
    except Dead:
        pass
    m.live = m.live | loop.continued
    loop.continued = m.space.false


def _some_iteration(m: Machine, items: Unknown, body: Callable[[Value], None], loop: Loop, node: tree.Node) -> None:
    """A loop over unknown elements: none, or a last one that starts from whatever the others left."""
    runs = m.holds(m.unknown(f"{items.label} is not empty", node))
    skipped = m.live & ~runs
    m.live = m.live & runs
    if not m.live.is_false:
        forget(m, node)
        _one(m, lambda: body(m.unknown(f"an element of {items.label}", node)), loop)
    m.live = m.live | skipped


def _close(m: Machine, loop: Loop, orelse: Callable[[], None]) -> None:
    if not m.live.is_false:
        try:
            orelse()
        except Dead:
            pass
    m.live = m.live | loop.broken
    if m.live.is_false:
        raise Dead


def _while(m: Machine, node: tree.While) -> None:
    loop, left, turns = Loop(m.space.false), m.space.false, 0
    m.frame.loops.append(loop)
    try:
        while not m.live.is_false:
            holds = truth(m, evaluate(m, node.test))
            left = left | (m.live & ~holds)
            m.live = m.live & holds
            turns += 1
            if turns > _turns(m, holds):
                forget(m, node)
                loop.broken = loop.broken | m.live
                m.live = m.space.false
            if not m.live.is_false:
                _one(m, _block(m, node.body), loop)
    except Dead:
        m.live = m.space.false
    finally:
        m.frame.loops.pop()
    m.live = left
    _close(m, loop, _block(m, node.orelse))


def _turns(m: Machine, holds: Any) -> int:
    """Iterations allowed: many while the test is decided, few while it is not."""
    return LOOPS if holds.is_true or m.live.implies(holds) else WIDE_TURNS


WIDE_TURNS = 24


def _try(m: Machine, node: tree.Try) -> None:
    entry = m.live
    try:
        _try_body(m, node)
    except Dead:
        m.live = m.space.false
    if node.finalbody:
        _finally(m, node, entry)
    if m.live.is_false:
        raise Dead


def _finally(m: Machine, node: tree.Try, entry: Any) -> None:
    """Run the `finally` block on the paths that go on, and for its effects on those that have ended."""
    goes_on = m.live
    for part in (entry & ~goes_on, goes_on):
        m.live = part
        if not part.is_false:
            try:
                execute(m, node.finalbody)
            except Dead:
                pass
            ended_before = part is not goes_on
            goes_on = goes_on if ended_before else m.live
    m.live = goes_on


def _try_body(m: Machine, node: tree.Try) -> None:
    caught: list[tuple[Any, Instance]] = []
    m.raised.append(caught)
    handlers = [h for h in node.handlers]
    depth = len(m.frames)
    m.record.trying += 1
    try:
        execute(m, node.body)
    except Dead:
        pass
    finally:
        m.record.trying -= 1
        m.raised.pop()
        del m.frames[depth:]
    if not m.live.is_false:
        try:
            execute(m, node.orelse)
        except Dead:
            pass
    after = m.live
    for guard, exc in caught:
        m.live = guard
        try:
            _handle(m, handlers, exc)
        except Dead:
            pass
        after = after | m.live
    m.live = after
    if after.is_false:
        raise Dead


def _handle(m: Machine, handlers: list[tree.Handler], exc: Instance) -> None:
    for handler in handlers:
        if handler.type is None or _catches(m, evaluate(m, handler.type), exc):
            previous, m.record.handling = m.record.handling, exc
            if handler.name is not None:
                m.frame.write(m, handler.name, exc)
            try:
                execute(m, handler.body)
            finally:
                m.record.handling = previous
            return
    m.raised[-1].append((m.live, exc))
    raise m.kill()


def _catches(m: Machine, kind: Value, exc: Instance) -> bool:
    """Whether a handler takes the exception; what a library raises may be of any class."""
    for _, atom in alternatives(m, kind):
        if isinstance(atom, tuple):
            if any(_catches(m, part, exc) for part in atom):
                return True
        elif atom in exc.cls.mro or exc.cls.symbol == LIBRARY_ERROR:
            return True
    return False


def _with(m: Machine, node: tree.With) -> None:
    for manager, target in node.items:
        value = evaluate(m, manager)
        entered = m.world.enter(m, value, node)
        if target is not None:
            assign(m, target, entered)
    execute(m, node.body)


def _function(m: Machine, node: tree.FunctionDef) -> None:
    value: Value = calls.make_function(m, node, node.name)
    for decorator in reversed(node.decorators):
        value = decorate(m, decorator, value)
    m.frame.write(m, node.name, value)


def decorate(m: Machine, decorator: tree.Node, value: Value) -> Value:
    """Apply one decorator; property setters are methods of the value already bound."""
    maker = evaluate(m, decorator)
    return calls.call_value(m, maker, (value,), {}, decorator)


def _class(m: Machine, node: tree.ClassDef) -> None:
    m.frame.write(m, node.name, make_class(m, node))


def _unsupported(m: Machine, node: tree.Unsupported) -> None:
    m.unsupported(node.kind, node)
    raise m.abandon()


STATEMENTS: dict[type, Callable[..., None]] = {
    tree.ExprStmt: _expr,
    tree.Assign: _assign,
    tree.AnnAssign: _ann_assign,
    tree.AugAssign: _aug_assign,
    tree.Return: _return,
    tree.Raise: _raise,
    tree.Assert: _assert,
    tree.Delete: _delete,
    tree.Pass: _nothing,
    tree.Break: _break,
    tree.Continue: _continue,
    tree.Global: _global,
    tree.Import: _import,
    tree.ImportFrom: _import_from,
    tree.If: _if,
    tree.For: _for,
    tree.While: _while,
    tree.Try: _try,
    tree.With: _with,
    tree.FunctionDef: _function,
    tree.ClassDef: _class,
    tree.Unsupported: _unsupported,
}

__all__ = ["assign", "decorate", "execute", "iterate", "lookup"]
