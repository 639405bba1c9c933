"""`try`: what its body raised goes to the handlers, each path to the first that takes its exception."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from .. import tree
from .endings import Endings
from .machine import Dead
from .unions import alternatives
from .values import LIBRARY_ERROR, MISSING, Instance, NativeClass, Unknown, Value
from .walking import give

if TYPE_CHECKING:
    from ..guards import Guard
    from .machine import Machine


def try_(m: Machine, node: tree.Try) -> None:
    entry, open_before, endings = m.live, m.abandoned, Endings(m)
    give(m, lambda _: _body(m, node), None)
    if node.finalbody:
        _finally(m, node, entry & ~(m.abandoned & ~open_before), endings)
    if m.live.is_false:
        raise Dead


def _finally(m: Machine, node: tree.Try, entry: Guard, endings: Endings) -> None:
    """Run the `finally` block on every path; how a path was about to end stands unless the block ends it."""
    from .statements import execute

    goes_on = m.live
    endings.take(m)
    m.live = entry
    give(m, lambda _: execute(m, node.finalbody), None)
    ended = m.live & ~goes_on
    endings.put_back(ended)
    endings.put_back_exceptions(ended)
    m.live = m.live & goes_on


def _body(m: Machine, node: tree.Try) -> None:
    from .statements import execute

    caught: list[tuple[Guard, Instance]] = []
    m.raised.append(caught)
    m.record.trying += 1
    try:
        give(m, lambda _: execute(m, node.body), None)
    finally:
        m.record.trying -= 1
        m.raised.pop()
    give(m, lambda _: execute(m, node.orelse), None)
    after = m.live
    for guard, exc in caught:
        m.live = guard
        _handle(m, node.handlers, exc)
        after = after | m.live
    m.live = after


def _handle(m: Machine, handlers: tuple[tree.Handler, ...], exc: Instance) -> None:
    """Give an exception to the first handler that takes it; it goes on where none does."""
    from .expressions import evaluate

    after = m.space.false
    for handler in handlers:
        hit = m.live
        if handler.type is not None:
            try:
                hit = catches(m, evaluate(m, handler.type), exc)
            except Dead:
                break
        rest = m.live & ~hit
        m.live = m.live & hit
        give(m, partial(_run, m, handler, exc), None)
        after = after | m.live
        m.live = rest
        if rest.is_false:
            break
    if not m.live.is_false:
        m.raised[-1].append((m.live, exc))
    m.live = after


def _run(m: Machine, handler: tree.Handler, exc: Instance, _: Value) -> None:
    from .statements import execute

    previous, m.record.handling = m.record.handling, exc
    if handler.name is not None:
        m.frame.write(m, handler.name, exc)
    try:
        execute(m, handler.body)
    finally:
        m.record.handling = previous
        if handler.name is not None and not m.live.is_false:
            m.frame.write(m, handler.name, MISSING)


def catches(m: Machine, kind: Value, exc: Instance) -> Guard:
    """Where on the current path a handler for `kind` takes the exception."""
    out = m.space.false
    for guard, atom in alternatives(m, kind):
        if isinstance(atom, tuple):
            for part in atom:
                out = out | (guard & catches(m, part, exc))
        else:
            out = out | (guard & _catches(m, atom, exc))
    return out


def _catches(m: Machine, cls: Value, exc: Instance) -> Guard:
    if cls in exc.cls.mro:
        return m.space.true
    if exc.cls.symbol == LIBRARY_ERROR or (not isinstance(cls, NativeClass) and not hasattr(cls, "mro")):
        return m.holds(Unknown(f"{m.tag(exc)} is a {cls!r}", f"what was raised is a {cls!r}"))
    return m.space.false
