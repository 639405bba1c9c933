"""Calls: arguments, binding to parameters, running a body, what came back on which path."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import tree
from . import attributes
from .frames import Frame
from .machine import DEPTH, Dead
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
)

if TYPE_CHECKING:
    from .machine import Machine

Args = tuple[Value, ...]
Kwargs = dict[str, Value]


class Spread:
    """A `*args` or `**kwargs` argument that source cannot tell: what it brings is open."""

    __slots__ = ("value",)

    def __init__(self, value: Unknown) -> None:
        self.value = value


def arguments(m: Machine, nodes: tuple[tree.Arg, ...]) -> tuple[Args, Kwargs]:
    """Evaluate a call's arguments from left to right."""
    from .containers import items_of
    from .expressions import evaluate

    args: list[Value] = []
    kwargs: Kwargs = {}
    for arg in nodes:
        value = evaluate(m, arg.value)
        if arg.star == 1:
            items = items_of(m, value, arg.value)
            args += _spread(m, items)
        elif arg.star == 2:
            _spread_names(m, value, kwargs)
        elif arg.name is not None:
            kwargs[arg.name] = value
        else:
            args.append(value)
    return tuple(args), kwargs


def _spread(m: Machine, items: Value) -> list[Value]:
    alts = alternatives(m, items)
    if len(alts) == 1 and isinstance(alts[0][1], tuple):
        return list(alts[0][1])
    longest = max((len(a) for _, a in alts if isinstance(a, tuple)), default=0)
    if any(isinstance(a, Unknown) for _, a in alts):
        return [Spread(m.unknown("*arguments"))]
    columns = []
    for at in range(longest):
        columns.append(join(m, [(g, a[at] if at < len(a) else MISSING) for g, a in alts]))
    return columns


def _spread_names(m: Machine, value: Value, kwargs: Kwargs) -> None:
    for _, atom in alternatives(m, value):
        if isinstance(atom, Instance) and isinstance(atom.payload, DictValue):
            atom = atom.payload
        if isinstance(atom, DictValue) and atom.other is MISSING:
            for name, item in atom.entries.values():
                if isinstance(name, str) and item is not MISSING:
                    kwargs[name] = item
        else:
            kwargs["**"] = Spread(m.unknown("**keywords"))


def call(m: Machine, func: Value, args: Args, kwargs: Kwargs, node: tree.Node | None) -> Value:
    """Call one atom; every kind of callable has its row in `CALLERS`."""
    caller = CALLERS.get(type(func))
    if caller is not None:
        return caller(m, func, args, kwargs, node)
    if isinstance(func, CONSTANTS) or isinstance(func, tuple | ListValue | DictValue):
        raise m.throw(m.world.exception(m, "TypeError", f"'{type(func).__name__}' object is not callable"))
    return m.unknown(f"{func!r}()", node)


def call_value(m: Machine, func: Value, args: Args, kwargs: Kwargs, node: tree.Node | None = None) -> Value:
    """Call a value that may be Guarded."""
    return each(m, func, lambda atom: call(m, atom, args, kwargs, node))


def _function(m: Machine, func: Function, args: Args, kwargs: Kwargs, node: tree.Node | None) -> Value:
    fact = m.facts.get(func.symbol)
    if fact is not None:
        m.record.called(func, node)
        return fact.call(m, args, kwargs)
    if len(m.frames) >= DEPTH:
        m.coverage.budget(f"more than {DEPTH} nested calls")
        return m.unknown(f"{func.symbol}()", node)
    if isinstance(func.node, tree.FunctionDef) and func.node.is_async:
        return m.unknown(f"await {func.symbol}()", node)
    m.record.called(func, node)
    return run(m, func, args, kwargs, node)


def run(m: Machine, func: Function, args: Args, kwargs: Kwargs, node: tree.Node | None) -> Value:
    """Run the body of `func` on the current path and join what it returns."""
    frame = Frame(func.module, func, func.closure, m.live)
    frame.line = func.node.line
    if isinstance(func.node, tree.Lambda) or not func.node.is_generator:
        frame.yields = None
    else:
        frame.yields = ListValue((), m.live)
    m.frames.append(frame)
    try:
        _bind(m, func, frame, args, kwargs, node)
        if isinstance(func.node, tree.Lambda):
            from .expressions import evaluate

            return evaluate(m, func.node.body)
        return _body(m, frame, func.node)
    finally:
        m.frames.pop()


def _body(m: Machine, frame: Frame, node: tree.FunctionDef) -> Value:
    from .statements import execute

    try:
        execute(m, node.body)
    except Dead:
        pass
    ends = [*frame.returns]
    if not m.live.is_false:
        ends.append((m.live, None))
    live = m.space.false
    for guard, _ in ends:
        live = live | guard
    m.live = live
    if live.is_false:
        raise Dead
    return frame.yields if frame.yields is not None else join(m, ends)


def _bind(m: Machine, func: Function, frame: Frame, args: Args, kwargs: Kwargs, node: tree.Node | None) -> None:
    params = func.node.params.items
    left = list(args)
    named = dict(kwargs)
    spread = next((a for a in (*left, *named.values()) if isinstance(a, Spread)), None)
    left = [a for a in left if not isinstance(a, Spread)]
    named.pop("**", None)
    for param in params:
        if param.kind == "star":
            frame.names[param.name] = tuple(left) if spread is None else m.unknown(f"*{param.name}", node)
            left = []
        elif param.kind == "kwargs":
            frame.names[param.name] = _keywords(m, named, spread is not None)
            named = {}
        else:
            frame.names[param.name] = _parameter(m, func, param, left, named, spread is not None, node)
    if left or named:
        what = f"an unexpected keyword argument '{next(iter(named))}'" if named else f"{len(left)} arguments too many"
        raise m.throw(m.world.exception(m, "TypeError", f"{func.symbol.rpartition('.')[2]}() got {what}"))


def _parameter(
    m: Machine, func: Function, param: tree.Param, left: list[Value], named: Kwargs, spread: bool, node: tree.Node | None
) -> Value:
    value: Value = MISSING
    if param.kind != "kw" and left:
        value = left.pop(0)
    elif param.kind != "pos" and param.name in named:
        value = named.pop(param.name)
    default = func.defaults.get(param.name, MISSING)
    if value is MISSING and spread:
        return m.unknown(param.name, node)
    parts = [(g, default if a is MISSING else a) for g, a in alternatives(m, value)]
    bound = join(m, parts)
    name = func.symbol.rpartition(".")[2]
    return attributes.absent(m, bound, "TypeError", f"{name}() missing a required argument: '{param.name}'")


def _keywords(m: Machine, named: Kwargs, spread: bool) -> DictValue:
    out = DictValue(m.live)
    for name, value in named.items():
        out.entries["constant", name] = (name, value)
    if spread:
        out.other = m.unknown("**keywords")
    return out


def make_function(m: Machine, node: tree.FunctionDef | tree.Lambda, name: str) -> Function:
    """A function object for a `def` or `lambda`; defaults are evaluated now, in the defining scope."""
    from .expressions import evaluate

    frame = m.frame
    defaults = {p.name: evaluate(m, p.default) for p in node.params.items if p.default is not None}
    in_body = frame.scope is not None
    owner = frame.cls if in_body else None
    symbol = f"{frame.symbol}.{name}"
    closure = None if in_body else frame
    if owner is not None and closure is None and frame.outer is not None:
        closure = frame.outer
    return Function(node, frame.module, symbol, closure, defaults, owner or (None if in_body else _owner(frame)))


def _owner(frame: Frame) -> ClassValue | None:
    return frame.function.owner if frame.function is not None else None


def _native(m: Machine, func: Native, args: Args, kwargs: Kwargs, node: tree.Node | None) -> Value:
    if any(isinstance(a, Spread) for a in (*args, *kwargs.values())):
        return m.unknown(f"{func.symbol}(*...)", node)
    return func.call(m, args, kwargs)


def _bound(m: Machine, func: Bound, args: Args, kwargs: Kwargs, node: tree.Node | None) -> Value:
    return call_value(m, func.func, (func.self_, *args), kwargs, node)


def _partial(m: Machine, func: Partial, args: Args, kwargs: Kwargs, node: tree.Node | None) -> Value:
    return call_value(m, func.func, (*func.args, *args), {**func.kwargs, **kwargs}, node)


def _class(m: Machine, func: ClassValue, args: Args, kwargs: Kwargs, node: tree.Node | None) -> Value:
    from .classes import instantiate

    m.record.constructed(func, node)
    return instantiate(m, func, args, kwargs, node)


def _native_class(m: Machine, func: NativeClass, args: Args, kwargs: Kwargs, node: tree.Node | None) -> Value:
    from .classes import instantiate

    if func.construct is not None:
        return func.construct(m, args, kwargs)
    return instantiate(m, func, args, kwargs, node)


def _instance(m: Machine, func: Instance, args: Args, kwargs: Kwargs, node: tree.Node | None) -> Value:
    method = attributes.class_attribute(m, func.cls, "__call__")
    if method is MISSING:
        raise m.throw(m.world.exception(m, "TypeError", f"'{func.cls.name}' object is not callable"))
    return call_value(m, attributes.bind(m, method, func), args, kwargs, node)


def _opaque(m: Machine, func: Opaque, args: Args, kwargs: Kwargs, node: tree.Node | None) -> Value:
    return m.world.call_library(m, func, args, kwargs, node)


def _unknown(m: Machine, func: Unknown, args: Args, kwargs: Kwargs, node: tree.Node | None) -> Value:
    kind = "tensor" if func.label.endswith(TENSOR_METHODS) else None
    return m.unknown(f"{func.label}({', '.join(describe_value(m, a) for a in args)})", node, kind)


def describe_value(m: Machine, value: Value) -> str:
    """A value that may be Guarded, in a few words."""
    from .operators import describe

    if isinstance(value, Spread):
        return "*..."
    alts = alternatives(m, value)
    return describe(alts[0][1]) if len(alts) == 1 else " or ".join(describe(a) for _, a in alts[:3])


def _descriptor(m: Machine, func: Descriptor, args: Args, kwargs: Kwargs, node: tree.Node | None) -> Value:
    return call_value(m, func.func, args, kwargs, node)


TENSOR_METHODS = (".view", ".reshape", ".contiguous", ".to", ".t", ".squeeze", ".unsqueeze", ".flatten", ".transpose")

CALLERS: dict[type, Any] = {
    Function: _function,
    Native: _native,
    Bound: _bound,
    Partial: _partial,
    ClassValue: _class,
    NativeClass: _native_class,
    Instance: _instance,
    Opaque: _opaque,
    Unknown: _unknown,
    Descriptor: _descriptor,
}
