"""Names: which frame around the text binds one, else the module, else Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .. import tree
from . import attributes
from .frames import Frame
from .unions import alternatives, join
from .values import MISSING, Value

if TYPE_CHECKING:
    from .machine import Machine


def lookup(m: Machine, name: str, node: tree.Node | None = None) -> Value:
    """A name as the current frame sees it: its own, or that of the function around it that binds it, or
    global.
    """
    frame = m.frame
    if name in frame.redirect:
        target = frame.redirect[name]
        return _global_name(m, name) if target is None else _local(m, target, name, "NameError")
    if frame.local is None:
        own = frame.read(m, name)
        return own if not _gaps(m, own) else _or(m, own, lambda: _around(m, frame, name))
    if name in frame.local:
        return _local(m, frame, name, "UnboundLocalError")
    return _around(m, frame, name)


def _around(m: Machine, frame: Frame, name: str) -> Value:
    outer = frame.enclosing(name)
    if outer is not None:
        return _local(m, outer, name, "NameError")
    host = frame.outer
    while host is not None and name not in host.redirect:
        host = host.outer
    redirected = host.redirect[name] if host is not None else None
    return _global_name(m, name) if redirected is None else _local(m, redirected, name, "NameError")


def _local(m: Machine, frame: Frame, name: str, error: str) -> Value:
    message = f"cannot access local variable '{name}' where it is not associated with a value"
    return attributes.absent(m, frame.read(m, name), error, message)


def _global_name(m: Machine, name: str) -> Value:
    value = m.world.module_name(m, m.module(), name)
    if not _gaps(m, value):
        return value
    value = _or(m, value, lambda: m.world.builtin(name))
    return attributes.absent(m, value, "NameError", f"name '{name}' is not defined")


def _gaps(m: Machine, value: Value) -> bool:
    return any(atom is MISSING for _, atom in alternatives(m, value))


def _or(m: Machine, value: Value, other: Callable[[], Value]) -> Value:
    """`value`, and where it is missing the other one."""
    if value is MISSING:
        return other()
    if not _gaps(m, value):
        return value
    parts = []
    for guard, atom in alternatives(m, value):
        parts.append((guard, other() if atom is MISSING else atom))
    return join(m, parts)
