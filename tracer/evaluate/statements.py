"""Statements: one function a node, found in one table; every write is guarded by the path it is on."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .. import tree
from . import calls
from .atoms import constant, describe
from .classes import make_class
from .expressions import condition, evaluate
from .loops import for_loop, while_loop
from .machine import RAISED
from .managers import with_
from .targets import assign, augment, delete
from .trust import trusted
from .trying import try_
from .unions import alternatives, each
from .values import LIBRARY_ERROR, ClassValue, Function, Instance, NativeClass, Opaque, Unknown, Value

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
    if node.cause is not None:
        evaluate(m, node.cause)
    m.frame.line = node.line
    each(m, value, lambda atom: _throw(m, atom, node))


def _throw(m: Machine, atom: Value, node: tree.Raise) -> None:
    """Raise an exception, or what calling a class gives."""
    if isinstance(atom, ClassValue | NativeClass):
        made = calls.call(m, atom, (), {}, node)
        each(m, made, lambda made: _throw(m, made, node))
        return
    if isinstance(atom, Instance) and m.world.models.classes["builtins.BaseException"] in atom.cls.mro:
        atom.attrs[RAISED] = True
        raise m.throw(atom)
    if isinstance(atom, Instance) or constant(atom):
        raise m.throw(m.world.exception(m, "TypeError", "exceptions must derive from BaseException"))
    exc = Instance(m.world.models.classes[LIBRARY_ERROR], m.live)
    exc.attrs["args"] = (describe(atom),)
    raise m.throw(exc)


def _assert(m: Machine, node: tree.Assert) -> None:
    holds = condition(m, node.test)
    if m.trusting and not m.record.trying:
        assumed = trusted(m, holds)
        if not assumed.is_false:
            m.coverage.assumed["an assertion fails", m.site(node)] += 1
            holds = holds | assumed  # narrowing the path to what was asserted is more than diagrams can bear

    def fail() -> None:
        text = () if node.message is None else (evaluate(m, node.message),)
        m.frame.line = node.line
        raise m.throw(m.world.exception(m, "AssertionError", *text))

    m.branch(holds, lambda: None, fail)


def _delete(m: Machine, node: tree.Delete) -> None:
    for target in node.targets:
        delete(m, target)


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
        m.frame.declare(name, node.kind)


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
    holds = condition(m, node.test)
    with m.record.under(node):
        m.branch(holds, _block(m, node.body), _block(m, node.orelse))


def _function(m: Machine, node: tree.FunctionDef) -> None:
    makers = [evaluate(m, decorator) for decorator in node.decorators]
    value: Value = calls.make_function(m, node, node.name)
    m.frame.write(m, node.name, decorated(m, node.decorators, makers, value))


def decorated(m: Machine, nodes: tuple[tree.Node, ...], makers: list[Value], value: Value) -> Value:
    """Apply decorators, the nearest first; a library's is taken to keep what it decorates, and so is any
    of a class.
    """
    for node, maker in zip(reversed(nodes), reversed(makers), strict=True):
        m.frame.line = node.line
        made = calls.call_value(m, maker, (value,), {}, node)
        outside = isinstance(made, Unknown) and isinstance(maker, Unknown | Opaque)
        if outside and isinstance(value, Function):
            value.marked = True
        elif not outside and not (isinstance(made, Unknown) and isinstance(value, ClassValue)):
            value = made
    return value


def _class(m: Machine, node: tree.ClassDef) -> None:
    makers = [evaluate(m, decorator) for decorator in node.decorators]
    value = make_class(m, node)
    m.frame.write(m, node.name, decorated(m, node.decorators, makers, value))


def _unsupported(m: Machine, node: tree.Unsupported) -> None:
    m.unsupported(node.kind, node)
    raise m.abandon()


STATEMENTS: dict[type, Callable[..., None]] = {
    tree.ExprStmt: _expr,
    tree.Assign: _assign,
    tree.AnnAssign: _ann_assign,
    tree.AugAssign: augment,
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
    tree.For: for_loop,
    tree.While: while_loop,
    tree.Try: try_,
    tree.With: with_,
    tree.FunctionDef: _function,
    tree.ClassDef: _class,
    tree.Unsupported: _unsupported,
}
