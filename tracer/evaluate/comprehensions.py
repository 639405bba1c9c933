"""Comprehensions: loops in a frame of their own that fill a container, or make a generator."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .. import tree
from ..names import bound_by_loops
from . import containers
from .frames import Frame
from .loops import iterate
from .targets import assign
from .truth import truth
from .values import MISSING, Value
from .walking import Taker, generator

if TYPE_CHECKING:
    from .machine import Machine


def comprehension(m: Machine, node: tree.Comprehension) -> Value:
    frame = _inner_frame(m, node)
    first = _evaluate(m, node.fors[0].iter)
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
        value = _evaluate(m, node.item)
        if m.frame.vague:
            taker.rest(m.unknown("what a generator gives", node))
        else:
            taker.item(value)

    return hand


def _collect(m: Machine, node: tree.Comprehension, out: Value) -> None:
    """Add one element to what a comprehension makes; after a loop of unknown length nobody knows what is
    in it.
    """
    key = _evaluate(m, node.item)
    value = None if node.value is None else _evaluate(m, node.value)
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
    source = _evaluate(m, clause.iter) if iterated is MISSING else iterated

    def body(item: Value) -> None:
        assign(m, clause.target, item)
        _tests(m, clause.tests, 0, lambda: _generate(m, node, at + 1, then))

    iterate(m, source, body, node)


def _tests(m: Machine, tests: tuple[tree.Node, ...], at: int, then: Callable[[], None]) -> None:
    if at == len(tests):
        then()
        return
    holds = truth(m, _evaluate(m, tests[at]))
    m.branch(holds, lambda: _tests(m, tests, at + 1, then), lambda: None)


def _evaluate(m: Machine, node: tree.Node) -> Value:
    from .expressions import evaluate

    return evaluate(m, node)
