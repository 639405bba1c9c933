"""`for` and `while`: each iteration on the paths that reach it; what nobody can count is run once from the
unknown.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .. import tree
from .forget import forget, forget_slots, older
from .frames import Loop
from .machine import LOOPS, Dead
from .unions import settle
from .values import Unknown, Value
from .walking import Taker, give, walk

if TYPE_CHECKING:
    from ..guards import Guard
    from .machine import Machine

Slots = dict[tuple[int, Any], tuple[Any, Any]]
ROUNDS = 4
"""Times that a loop is run for what it was seen to write, before its outcome is open."""

WIDE_TURNS = 24
"""Iterations of a `while` whose test stays undecided, before it is widened."""


def for_loop(m: Machine, node: tree.For) -> None:
    from .expressions import evaluate
    from .statements import execute
    from .targets import assign

    source = settle(m, evaluate(m, node.iter))
    with m.record.choosing(node, source) as choosing:

        def body(item: Value) -> None:
            assign(m, node.target, item)
            with choosing.trying(settle(m, item)):
                execute(m, node.body)

        iterate(m, source, body, node, lambda: execute(m, node.orelse))


def iterate(
    m: Machine,
    source: Value,
    body: Callable[[Value], None],
    node: tree.Node,
    orelse: Callable[[], None] = lambda: None,
) -> None:
    """Run `body` for every element, then `orelse` on the paths that were not broken off."""
    loop = Loop(m.space.false)
    frame = m.frame
    frame.loops.append(loop)
    try:
        walk(m, source, looping(m, body, loop, node), node)
    finally:
        frame.loops.pop()
    _close(m, loop, orelse)


def looping(m: Machine, body: Callable[[Value], None], loop: Loop, node: tree.Node) -> Taker:
    """One who takes elements as a loop does."""

    def item(value: Value) -> None:
        give(m, body, value)
        m.live = m.live | loop.continued
        loop.continued = m.space.false

    return Taker(item, lambda items: some(m, items, item, node))


def some(m: Machine, items: Unknown, item: Callable[[Value], None], node: tree.Node | None) -> None:
    """`item` on unknown elements: none, or some, each starting from whatever those before it left.

    `node` is the loop in the text, if there is one.
    """
    runs = m.holds(m.unknown(f"{items.label} is not empty", node))
    skipped = m.live & ~runs
    m.live = m.live & runs
    _any_number(m, runs, lambda: give(m, item, m.unknown(f"an element of {items.label}", node)), node)
    m.live = m.live | skipped


def _any_number(m: Machine, runs: Guard, turn: Callable[[], None], node: tree.Node | None) -> None:
    """Run one iteration for any number of them: what its text writes, if it has one, is unknown before it.

    What it turns out to write elsewhere, through calls, is unknown before the next one, which runs then.
    """
    if m.live.is_false:
        return
    with m.watching() as known:
        if node is not None:
            forget(m, node)
    left = m.space.false
    for _ in range(ROUNDS):
        new = _turn(m, runs, known, turn)
        if not new or m.live.is_false:
            m.live = m.live | left
            return
        known |= new
        forget_slots(m, new.values())
        again = m.holds(m.unknown("another iteration", node))
        left = left | (m.live & ~again)
        m.live = m.live & again
    m.abandoned = m.abandoned | m.live
    m.live = left


def _turn(m: Machine, runs: Guard, known: Slots, turn: Callable[[], None]) -> Slots:
    """One iteration; gives what it wrote that was there before the loop and was not taken to change."""
    with m.watching() as touched:
        m.frame.vague += 1
        turn()
        m.frame.vague -= 1
    found = older(touched.values(), runs)
    return {(id(box), slot): (box, slot) for box, slot in found if (id(box), slot) not in known}


def _close(m: Machine, loop: Loop, orelse: Callable[[], None]) -> None:
    give(m, lambda _: orelse(), None)
    m.live = m.live | loop.broken
    if m.live.is_false:
        raise Dead


def while_loop(m: Machine, node: tree.While) -> None:
    from .statements import execute

    loop = Loop(m.space.false)
    m.frame.loops.append(loop)
    try:
        m.live = _turns(m, node, looping(m, lambda _: execute(m, node.body), loop, node))
    finally:
        m.frame.loops.pop()
    _close(m, loop, lambda: execute(m, node.orelse))


def _turns(m: Machine, node: tree.While, taker: Taker) -> Guard:
    """Run the body as often as the test asks; gives where the test ended the loop."""
    left, turns, open_turns = m.space.false, 0, 0
    while not m.live.is_false:
        holds = _test(m, node)
        left = left | (m.live & ~holds)
        open_turns += 0 if m.live.implies(holds) else 1
        turns += 1
        m.live = m.live & holds
        if turns > LOOPS or open_turns > WIDE_TURNS:
            return left | _last_turn(m, node, taker)
        give(m, taker.item, None)
    return left


def _test(m: Machine, node: tree.While) -> Guard:
    from .expressions import condition

    try:
        return condition(m, node.test)
    except Dead:
        return m.space.false


def _last_turn(m: Machine, node: tree.While, taker: Taker) -> Guard:
    """More iterations from whatever any number of them left; where even then it goes on, all is open."""
    m.coverage.budget(f"a loop of more than {LOOPS} iterations, or of {WIDE_TURNS} that may be the last")
    goes_on = m.holds(m.unknown("a loop goes on", node))
    skipped = m.live & ~goes_on
    m.live = m.live & goes_on
    _any_number(m, goes_on, lambda: give(m, taker.item, None), node)
    m.live = m.live | skipped
    if m.live.is_false:
        return m.live
    holds = _test(m, node)
    m.abandoned = m.abandoned | (m.live & holds)
    return m.live & ~holds
