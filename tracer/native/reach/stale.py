"""Conditions on variables that are set anew: what held before says nothing of what is asked after."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ....report.predicate import Opaque, Site
from ..syntax import text_of, within
from .conditions import Checked, Ended, Guard, Guards

if TYPE_CHECKING:
    from tree_sitter import Node


class Settings:
    """Where one body sets which variables."""

    def __init__(self, root: Node) -> None:
        self._set = sorted(_settings(root))

    def still(self, guards: Guards, node: Node, line: int) -> Guards:
        """Guards after a statement in that line: those on what it sets are of the earlier value."""
        if not guards:
            return guards
        first, end = (bisect_left(self._set, (byte, "")) for byte in (node.start_byte, node.end_byte))
        names = {name for _, name in self._set[first:end]}
        return tuple(_earlier(guard, line) if _asks(guard, names) else guard for guard in guards)


def _settings(root: Node) -> Iterator[tuple[int, str]]:
    for node in within(root):
        if node.type == "assignment_expression":
            yield node.start_byte, text_of(node.child_by_field_name("left"))
        elif node.type == "update_expression":
            yield node.start_byte, text_of(node.child_by_field_name("argument"))


# A variable itself, not what a tensor is asked for: `x = x.contiguous()` leaves its dtype as it is.
_VARIABLE = re.compile(r"(?<![\w.])(?<!->)[A-Za-z_]\w*\b(?!\s*(?:\(|\.|->|::))")


def _asks(guard: Guard, names: set[str]) -> bool:
    if not names or (isinstance(guard, Opaque) and guard.site is not None):
        return False
    test = guard.item if isinstance(guard, Checked | Ended) else guard
    return not names.isdisjoint(_VARIABLE.findall(str(test)))


def _earlier(guard: Guard, line: int) -> Guard:
    if isinstance(guard, Checked):
        return Checked(Opaque(str(guard.item)))
    if isinstance(guard, Ended):
        return Ended(Opaque(f"at first {guard.item}", None, Site("", line)))
    # The place tells it apart from the same words on what the variable is now.
    return Opaque(f"at first {guard}", None, Site("", line))
