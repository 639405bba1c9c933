"""What is taken to hold of values that nobody knows, and what the scenario decides all the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..guards import Guard, Space
    from .machine import Machine


def trusted(m: Machine, holds: Guard) -> Guard:
    """Where on this path `holds` fails for some of the values that nobody knows, and holds for others."""
    return m.live & ~holds & allowed(m.space, m.live & holds)


def allowed(space: Space, guard: Guard) -> Guard:
    """The choices of the scenario under which `guard` can hold."""
    done: dict[Guard, Guard] = {}

    def choices(node: Guard) -> Guard:
        if node not in done:
            done[node] = ask(node)
        return done[node]

    def ask(node: Guard) -> Guard:
        if node.is_false or node.is_true:
            return node
        if space.order[node.level].predicate is not None:
            return space.true  # choices are tested first: below an atom there are atoms only
        return space.node(node.level, tuple(map(choices, node.children)))

    return choices(guard)
