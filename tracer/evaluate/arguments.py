"""Arguments of a call: evaluated from left to right, spread, and bound to parameters."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from .. import tree
from . import attributes, complaints
from .unions import alternatives, cover, each, join
from .values import MISSING, DictValue, Function, Guarded, Instance, Unknown, Value

if TYPE_CHECKING:
    from ..guards import Guard
    from .frames import Frame
    from .machine import Machine

Args = tuple[Value, ...]
Kwargs = dict[str, Value]
Evaluate = Callable[["Machine", tree.Node], Value]
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


def arguments(m: Machine, nodes: tuple[tree.Arg, ...], evaluate: Evaluate) -> Value:
    """The arguments as `Given`, several where `*` or `**` spread different things on different paths."""
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
    _refuse(m, func, len(left), named)
    for param in func.node.params.items:
        if param.kind == "star":
            frame.names[param.name] = m.unknown(f"*{param.name}", node) if spread else tuple(left)
            left = []
        elif param.kind == "kwargs":
            frame.names[param.name] = _keywords(m, named, spread)
            named = {}
        else:
            frame.names[param.name] = _parameter(m, func, param, left, named, spread, node)


def _refuse(m: Machine, func: Function, given: int, named: Kwargs) -> None:
    """Raise TypeError where there are keywords or places that no parameter takes, as Python does first."""
    kinds = {param.name: param.kind for param in func.node.params.items}
    places = [name for name, kind in kinds.items() if kind in ("pos", "any")]
    for keyword, value in named.items():
        complaint = _complaint(func, keyword, kinds, places[:given])
        if complaint is not None:
            m.branch(cover(m, value), partial(m.fail, "TypeError", complaint), lambda: None)
    if given > len(places) and "star" not in kinds.values():
        least = sum(1 for name in places if name not in func.defaults)
        only = sum(1 for name in named if kinds.get(name) == "kw")
        m.fail("TypeError", complaints.too_many(complaints.qualified(func), least, len(places), given, only))


def _complaint(func: Function, keyword: str, kinds: dict[str, str], filled: list[str]) -> str | None:
    """What Python says of an argument given by this name, where `filled` came by place; None if nothing."""
    kind = kinds.get(keyword)
    twice = kind == "any" and keyword in filled
    if not twice and (kind in ("any", "kw") or "kwargs" in kinds.values()):
        return None
    name = complaints.qualified(func)
    if twice:
        return complaints.twice(name, keyword)
    return complaints.by_place(name, [keyword]) if kind == "pos" else complaints.unexpected(name, keyword)


def _missing(func: Function, param: tree.Param, named: Kwargs) -> str:
    """`param` and those of its kind behind it that were not given either."""
    items = func.node.params.items
    wanted = [
        p.name
        for p in items[items.index(param) :]
        if p.kind in ("pos", "any", "kw") and (p.kind == "kw") == (param.kind == "kw")
        if p is param or not (p.name in func.defaults or p.name in named)
    ]
    return complaints.missing(complaints.qualified(func), wanted, param.kind == "kw")


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
    if bound is not MISSING and not isinstance(bound, Guarded):
        return bound
    return attributes.absent(m, bound, "TypeError", _missing(func, param, named))


def _keywords(m: Machine, named: Kwargs, spread: bool) -> DictValue:
    out = DictValue(m.live)
    for name, value in named.items():
        out.entries["constant", name] = (name, value)
    if spread:
        out.other = m.unknown("**keywords")
    return out
