"""What the engine asks of the CPU that it runs on: facts where they are given, conditions elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..cpus import cpus, has, kinds, machine_of
from ..evaluate.unions import join
from ..evaluate.values import Native, Value
from ..scenario import Scenario

if TYPE_CHECKING:
    from ..evaluate.machine import Machine
    from ..guards import Guard


def install(m: Machine, scenario: Scenario) -> None:
    """Answer for the architecture and the features."""
    if scenario.platform != "cpu":
        return
    table = m.world.models.table
    table["platform.machine"] = Native("platform.machine", lambda m, args, kwargs: _machine(m, scenario))
    for question, name in cpus().questions.items():
        table[question] = _question(question, scenario, name)


def machines(m: Machine, scenario: Scenario) -> Iterator[tuple[Guard, str]]:
    """The architectures that the CPU may have, each under its guard."""
    domain = scenario.cpu or kinds()
    for name in cpus().machines:
        mine = [kind for kind in domain if machine_of(kind) == name]
        if mine:
            yield m.space.choice("cpu", domain, mine), name


def feature(m: Machine, scenario: Scenario, name: str) -> Guard:
    """The guard that the CPU has a feature."""
    domain = scenario.cpu or kinds()
    return m.space.choice("cpu", domain, [kind for kind in domain if has(kind, name)])


def told(m: Machine, held: Guard) -> Value:
    """True where `held`, and False elsewhere."""
    with m.aside():
        return join(m, [(held, True), (~held, False)])


def _question(question: str, scenario: Scenario, name: str) -> Native:
    return Native(question, lambda m, args, kwargs: told(m, feature(m, scenario, name)))


def _machine(m: Machine, scenario: Scenario) -> Value:
    with m.aside():
        return join(m, list(machines(m, scenario)))
