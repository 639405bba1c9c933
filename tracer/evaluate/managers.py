"""`with`: the body runs inside its managers, which see how it ends and may swallow what it raises."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from .. import tree
from . import attributes, inheritance
from .atoms import describe
from .endings import Endings
from .machine import Dead
from .truth import truth
from .unions import each
from .values import MISSING, Instance, IteratorValue, Manager, Value
from .walking import Taker, away, give

if TYPE_CHECKING:
    from ..guards import Guard
    from .machine import Machine

Body = Callable[[Value], None]


def with_(m: Machine, node: tree.With, at: int = 0) -> None:
    from .expressions import evaluate
    from .statements import execute
    from .targets import assign

    if at == len(node.items):
        execute(m, node.body)
        return
    expression, target = node.items[at]

    def body(entered: Value) -> None:
        if target is not None:
            assign(m, target, entered)
        with_(m, node, at + 1)

    value = evaluate(m, expression)
    each(m, value, lambda atom: within(m, atom, body, node))


def within(m: Machine, manager: Value, body: Body, node: tree.Node | None) -> None:
    """Run `body` inside one manager."""
    if isinstance(manager, Manager):
        manager.run(m, body)
    elif (
        isinstance(manager, Instance)
        and inheritance.class_attribute(m, manager.cls, "__enter__") is not MISSING
    ):
        _object(m, manager, body, node)
    else:
        body(m.unknown(f"{describe(manager)}.__enter__()", node))
    if m.live.is_false:
        raise Dead


def _object(m: Machine, manager: Instance, body: Body, node: tree.Node | None) -> None:
    """An object with `__enter__` and `__exit__`."""
    from .calls import call_value

    leave = attributes.get(m, manager, "__exit__", node)
    entered = call_value(m, attributes.get(m, manager, "__enter__", node), (), {}, node)
    endings = Endings(m)
    give(m, body, entered)
    goes_on = m.live
    ended = endings.take(m)
    m.live = goes_on | ended
    give(m, lambda _: call_value(m, leave, (None, None, None), {}, node), None)
    endings.put_back(m.live & ended)
    after = m.live & goes_on
    for guard, exc in endings.exceptions:
        m.live = guard
        give(m, partial(_leave, m, leave, exc, node), None)
        after = after | m.live
    m.live = after


def _leave(m: Machine, leave: Value, exc: Instance, node: tree.Node | None, _: Value) -> None:
    """`__exit__` of an exception: it goes on unless the answer is true."""
    from .calls import call_value

    swallowed = truth(m, call_value(m, leave, (exc.cls, exc, None), {}, node))
    rest = m.live & ~swallowed
    m.live = m.live & swallowed
    if not rest.is_false:
        m.raised[-1].append((rest, exc))


def of_generator(generator: IteratorValue) -> Manager:
    """What `contextlib.contextmanager` makes of a generator: the body runs where it yields."""

    def run(m: Machine, body: Body) -> None:
        endings: list[tuple[Endings, Guard]] = []

        def inside(value: Value) -> None:
            """The body; a path that it ends by return or break still runs the rest of the generator first."""
            mark = Endings(m)
            give(m, body, value)
            goes_on = m.live
            ended = mark.take(m)
            mark.put_back_exceptions(m.space.true)
            endings.append((mark, ended))
            m.live = goes_on | ended

        assert generator.start is not None
        generator.start(away(m, Taker(inside, inside), catches=True))
        for mark, ended in endings:
            mark.put_back(m.live & ended)
            m.live = m.live & ~ended

    return Manager(run)
