"""Arguments of a call: evaluated from left to right, spread, and bound to parameters."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from .. import tree
from . import attributes
from .unions import alternatives, cover, each, join
from .values import MISSING, DictValue, Function, Instance, Unknown, Value

if TYPE_CHECKING:
    from ..guards import Guard
    from .frames import Frame
    from .machine import Machine

Args = tuple[Value, ...]
Kwargs = dict[str, Value]
OPEN = "**"
"""Under this name a `Spread` stands among keyword arguments when more may come than are known."""


class Spread:
    """A `*args` or `**kwargs` argument that source cannot tell: what it brings is open."""

    __slots__ = ("value",)

    def __init__(self, value: Unknown) -> None:
        self.value = value


class Given:
    """The arguments of one call on one path; a keyword's value is MISSING where it is not given."""

    __slots__ = ("args", "kwargs")

    def __init__(self, args: Args, kwargs: Kwargs) -> None:
        self.args, self.kwargs = args, kwargs


NOTHING = Given((), {})


def arguments(m: Machine, nodes: tuple[tree.Arg, ...]) -> Value:
    """The arguments as `Given`, several where `*` or `**` spread different things on different paths."""
    from .expressions import evaluate

    out: Value = NOTHING
    args: list[Value] = []
    kwargs: Kwargs = {}
    for arg in nodes:
        value = evaluate(m, arg.value)
        if arg.star == 0 and arg.name is None:
            args.append(value)
        elif arg.star == 0 and arg.name is not None:
            kwargs[arg.name] = value
        else:
            out = _more(m, out, args, kwargs)
            args, kwargs = [], {}
            out = _spread(m, out, value, arg)
    return _more(m, out, args, kwargs)


def _more(m: Machine, out: Value, args: list[Value], kwargs: Kwargs) -> Value:
    if out is NOTHING:
        return Given(tuple(args), kwargs)
    return each(m, out, lambda g: Given((*g.args, *args), _united(m, g.kwargs, kwargs)))


def _spread(m: Machine, out: Value, value: Value, arg: tree.Arg) -> Value:
    from .containers import items_of

    if arg.star == 1:
        items = items_of(m, value, arg.value)
        return each(m, out, lambda g: each(m, items, lambda i: Given((*g.args, *_positions(m, i)), g.kwargs)))
    return each(
        m, out, lambda g: each(m, value, lambda v: Given(g.args, _united(m, g.kwargs, _keywords_of(m, v))))
    )


def _positions(m: Machine, items: Value) -> Args:
    return (Spread(m.unknown("*arguments")),) if isinstance(items, Unknown) else items


def _keywords_of(m: Machine, atom: Value) -> Kwargs:
    if isinstance(atom, Instance) and isinstance(atom.payload, DictValue):
        atom = atom.payload
    if not isinstance(atom, DictValue) or not cover(m, atom.other).is_false:
        return {OPEN: Spread(m.unknown("**keywords"))}
    out = {}
    for name, item in atom.entries.values():
        if not cover(m, item).is_false:
            if not isinstance(name, str):
                raise m.throw(m.world.exception(m, "TypeError", "keywords must be strings"))
            out[name] = item
    return out


def _united(m: Machine, given: Kwargs, more: Kwargs) -> Kwargs:
    """Both sets of keywords; one that is given twice is an error on the paths where it is."""
    if not given:
        return more
    out = dict(given)
    for name, value in more.items():
        if name in given and name != OPEN:
            twice = cover(m, given[name]) & cover(m, value)
            message = f"got multiple values for keyword argument '{name}'"
            m.branch(twice, partial(m.fail, "TypeError", message), lambda: None)
            value = join(m, [(g, given[name] if a is MISSING else a) for g, a in alternatives(m, value)])
        out[name] = value
    return out


def settled_keywords(m: Machine, kwargs: Kwargs, run: Value) -> Value:
    """`run(keywords)` with every keyword either given or not, on each part of the path for itself."""
    for name, value in kwargs.items():
        if isinstance(value, Spread):
            continue
        there = cover(m, value)
        if there is not m.live:
            rest = {k: v for k, v in kwargs.items() if k != name}
            present = [(g, a) for g, a in alternatives(m, value) if a is not MISSING]
            given = partial(_with_keyword, m, rest, name, present, run)
            return m.branch(there, given, partial(settled_keywords, m, rest, run))
    return run(kwargs)


def _with_keyword(
    m: Machine, rest: Kwargs, name: str, present: list[tuple[Guard, Value]], run: Value
) -> Value:
    return settled_keywords(m, {**rest, name: join(m, present)}, run)


def bind(
    m: Machine, func: Function, frame: Frame, args: Args, kwargs: Kwargs, node: tree.Node | None
) -> None:
    """Give every parameter of `func` its value; raises TypeError where the arguments do not fit."""
    left, named = [a for a in args if not isinstance(a, Spread)], dict(kwargs)
    spread = len(left) < len(args) or named.pop(OPEN, MISSING) is not MISSING
    for param in func.node.params.items:
        if param.kind == "star":
            frame.names[param.name] = m.unknown(f"*{param.name}", node) if spread else tuple(left)
            left = []
        elif param.kind == "kwargs":
            frame.names[param.name] = _keywords(m, named, spread)
            named = {}
        else:
            frame.names[param.name] = _parameter(m, func, param, left, named, spread, node)
    _refuse_rest(m, func, left, named)


def _refuse_rest(m: Machine, func: Function, left: list[Value], named: Kwargs) -> None:
    name = func.symbol.rpartition(".")[2]
    if left:
        raise m.throw(m.world.exception(m, "TypeError", f"{name}() got {len(left)} arguments too many"))
    for keyword, value in named.items():
        message = f"{name}() got an unexpected keyword argument '{keyword}'"
        m.branch(cover(m, value), partial(m.fail, "TypeError", message), lambda: None)


def _parameter(
    m: Machine,
    func: Function,
    param: tree.Param,
    left: list[Value],
    named: Kwargs,
    spread: bool,
    node: tree.Node | None,
) -> Value:
    value: Value = MISSING
    if param.kind != "kw" and left:
        value = left.pop(0)
    elif param.kind != "pos" and param.name in named:
        value = named.pop(param.name)
    if value is MISSING and spread:
        return m.unknown(param.name, node)
    default = func.defaults.get(param.name, MISSING)
    bound = join(m, [(g, default if a is MISSING else a) for g, a in alternatives(m, value)])
    name = func.symbol.rpartition(".")[2]
    return attributes.absent(m, bound, "TypeError", f"{name}() missing a required argument: '{param.name}'")


def _keywords(m: Machine, named: Kwargs, spread: bool) -> DictValue:
    out = DictValue(m.live)
    for name, value in named.items():
        out.entries["constant", name] = (name, value)
    if spread:
        out.other = m.unknown("**keywords")
    return out
