"""Calls: every kind of callable, running a body, and what came back on which path."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import tree
from . import inheritance
from .arguments import Args, Given, Kwargs, Spread, bind, settled_keywords
from .atoms import describe
from .frames import Frame
from .machine import DEPTH
from .typenames import type_name
from .unions import alternatives, each, join
from .values import (
    CONSTANTS,
    MISSING,
    Bound,
    ClassValue,
    Descriptor,
    DictValue,
    Function,
    Instance,
    ListValue,
    Native,
    NativeClass,
    Opaque,
    Partial,
    Unknown,
    Value,
    Wrapper,
)
from .walking import Taker, generator, give

if TYPE_CHECKING:
    from .machine import Machine


def call(m: Machine, func: Value, args: Args, kwargs: Kwargs, node: tree.Node | None) -> Value:
    """Call one atom; every kind of callable has its row in `CALLERS`."""
    caller = CALLERS.get(type(func))
    if caller is not None:
        return caller(m, func, args, kwargs, node)
    if isinstance(func, (*CONSTANTS, tuple, ListValue, DictValue)):
        raise m.throw(m.world.exception(m, "TypeError", f"'{type_name(func)}' object is not callable"))
    m.world.models.given(m, args, kwargs)
    return m.unknown(f"{func!r}()", node)


def call_value(m: Machine, func: Value, args: Args, kwargs: Kwargs, node: tree.Node | None = None) -> Value:
    """Call a value that may be Guarded."""
    return each(m, func, lambda atom: call(m, atom, args, kwargs, node))


def call_with(m: Machine, func: Value, given: Given, node: tree.Node | None) -> Value:
    """Call one atom with evaluated arguments."""
    return call(m, func, given.args, dict(given.kwargs), node)


def _function(m: Machine, func: Function, args: Args, kwargs: Kwargs, node: tree.Node | None) -> Value:
    fact = m.facts.get(func.symbol)
    if fact is not None:
        m.record.called(func, node)
        return fact.call(m, args, kwargs)
    if len(m.frames) >= DEPTH:
        m.coverage.budget(f"more than {DEPTH} nested calls")
        raise m.abandon()
    if isinstance(func.node, tree.FunctionDef) and func.node.is_async:
        return m.unknown(f"await {func.symbol}()", node)
    m.record.called(func, node)
    live = m.live
    try:
        return run(m, func, args, kwargs, node)
    except RecursionError:
        m.live = live
        m.coverage.budget("more nested calls than Python has room for")
        raise m.abandon() from None


def run(m: Machine, func: Function, args: Args, kwargs: Kwargs, node: tree.Node | None) -> Value:
    """Run the body of `func` on the current path and join what it returns."""
    frame = Frame(func.module, func, func.closure, m.live, local=m.world.source.local_names(func.node))
    frame.line = func.node.line
    m.frames.append(frame)
    try:
        bind(m, func, frame, args, kwargs, node)
        if isinstance(func.node, tree.Lambda):
            from .expressions import evaluate

            return evaluate(m, func.node.body)
        if not func.node.is_generator:
            return _body(m, frame, func.node)
    finally:
        m.frames.pop()
    body = func.node
    return generator(m, lambda taker: _produce(m, frame, body, taker))


def _body(m: Machine, frame: Frame, node: tree.FunctionDef) -> Value:
    """Run statements to their end; what is returned, or None where nothing is."""
    from .statements import execute

    give(m, lambda _: execute(m, node.body), None)
    ends = [*frame.returns]
    if not m.live.is_false:
        ends.append((m.live, None))
    live = m.space.false
    for guard, _ in ends:
        live = live | guard
    m.live = live
    if live.is_false:
        raise m.kill()
    return join(m, ends)


def _produce(m: Machine, frame: Frame, node: tree.FunctionDef, taker: Taker) -> None:
    """Run the body of a generator, giving what it yields to `taker`."""
    frame.take, frame.returns = taker, []
    m.frames.append(frame)
    try:
        give(m, lambda _: _body(m, frame, node), None)
    finally:
        m.frames.pop()


def make_function(m: Machine, node: tree.FunctionDef | tree.Lambda, name: str) -> Function:
    """A function object for a `def` or `lambda`; defaults are evaluated now, in the defining scope."""
    from .expressions import evaluate

    frame = m.frame
    defaults = {p.name: evaluate(m, p.default) for p in node.params.items if p.default is not None}
    owner = frame.cls if frame.is_class_body else frame.function.owner if frame.function is not None else None
    closure = frame if frame.local is not None else frame.outer
    return Function(node, frame.module, f"{frame.symbol}.{name}", closure, defaults, owner)


def _native(m: Machine, func: Native, args: Args, kwargs: Kwargs, node: tree.Node | None) -> Value:
    if any(isinstance(a, Spread) for a in (*args, *kwargs.values())):
        return m.unknown(f"{func.symbol}(*...)", node)
    return settled_keywords(m, kwargs, lambda named: func.call(m, args, named))


def _bound(m: Machine, func: Bound, args: Args, kwargs: Kwargs, node: tree.Node | None) -> Value:
    return call_value(m, func.func, (func.self_, *args), kwargs, node)


def _partial(m: Machine, func: Partial, args: Args, kwargs: Kwargs, node: tree.Node | None) -> Value:
    return call_value(m, func.func, (*func.args, *args), {**func.kwargs, **kwargs}, node)


def _wrapper(m: Machine, func: Wrapper, args: Args, kwargs: Kwargs, node: tree.Node | None) -> Value:
    if any(isinstance(a, Spread) for a in (*args, *kwargs.values())):
        return call_value(m, func.func, args, kwargs, node)
    return settled_keywords(m, kwargs, lambda named: func.call(m, args, named))


def _class(m: Machine, func: ClassValue, args: Args, kwargs: Kwargs, node: tree.Node | None) -> Value:
    from .classes import instantiate

    m.record.constructed(func, node)
    return instantiate(m, func, args, kwargs, node)


def _native_class(m: Machine, func: NativeClass, args: Args, kwargs: Kwargs, node: tree.Node | None) -> Value:
    from .classes import instantiate

    construct = func.construct
    if construct is None:
        return instantiate(m, func, args, kwargs, node)
    if any(isinstance(a, Spread) for a in (*args, *kwargs.values())):
        return m.unknown(f"{func.symbol}(*...)", node)
    return settled_keywords(m, kwargs, lambda named: construct(m, args, named))


def _instance(m: Machine, func: Instance, args: Args, kwargs: Kwargs, node: tree.Node | None) -> Value:
    method = inheritance.class_attribute(m, func.cls, "__call__")
    if method is MISSING:
        raise m.throw(m.world.exception(m, "TypeError", f"'{func.cls.name}' object is not callable"))
    return call_value(m, inheritance.bind(m, method, func), args, kwargs, node)


def _opaque(m: Machine, func: Opaque, args: Args, kwargs: Kwargs, node: tree.Node | None) -> Value:
    return m.world.call_library(m, func, args, kwargs, node)


def _unknown(m: Machine, func: Unknown, args: Args, kwargs: Kwargs, node: tree.Node | None) -> Value:
    m.world.models.given(m, args, kwargs)
    kind = "tensor" if func.label.endswith(TENSOR_METHODS) else None
    return m.unknown(f"{func.label}({', '.join(describe_value(m, a) for a in args)})", node, kind)


def describe_value(m: Machine, value: Value) -> str:
    """A value that may be Guarded, in a few words."""
    if isinstance(value, Spread):
        return "*..."
    alts = alternatives(m, value)
    return describe(alts[0][1]) if len(alts) == 1 else " or ".join(describe(a) for _, a in alts[:3])


def _descriptor(m: Machine, func: Descriptor, args: Args, kwargs: Kwargs, node: tree.Node | None) -> Value:
    return call_value(m, func.func, args, kwargs, node)


TENSOR_METHODS = (
    ".view",
    ".reshape",
    ".contiguous",
    ".to",
    ".t",
    ".squeeze",
    ".unsqueeze",
    ".flatten",
    ".transpose",
)

CALLERS: dict[type, Any] = {
    Function: _function,
    Native: _native,
    Bound: _bound,
    Partial: _partial,
    Wrapper: _wrapper,
    ClassValue: _class,
    NativeClass: _native_class,
    Instance: _instance,
    Opaque: _opaque,
    Unknown: _unknown,
    Descriptor: _descriptor,
}
