"""How a walk enters the engine: from a frame of one of its modules, in a phase that the record names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..evaluate.frames import Frame
from ..links import function_behind
from . import platform as facts

if TYPE_CHECKING:
    from ..evaluate.machine import Machine
    from ..evaluate.values import Value


@contextmanager
def inside(m: Machine, module: str) -> Iterator[None]:
    """Stand in a module of the engine, so that what is called next has a caller."""
    with m.aside():
        found = m.world.module(m, module)
    assert found is not None, module
    m.frames.append(Frame(found, None, None, m.space.true, found.scope))
    try:
        yield
    finally:
        m.frames.pop()


@contextmanager
def phase(m: Machine, name: str, module: str) -> Iterator[None]:
    """Do in a module of the engine what the record tells under `name`."""
    with inside(m, module), m.record.phase_of(name):
        yield


def call(m: Machine, symbol: str, *args: Value, **kwargs: Value) -> Value:
    """Call an engine function or method by its dotted name, from a frame of its own module."""
    from ..evaluate.calls import call_value

    func = facts.engine_value(m, symbol)
    with inside(m, function_behind(func).module.name):
        return call_value(m, func, args, kwargs)
