"""What the engine asks of the CPU it runs on: facts where the scenario tells, conditions where it does not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..cpus import cpus, with_all
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
    for question, feature in cpus().questions.items():
        table[question] = _question(question, scenario, feature)


def machines(m: Machine, scenario: Scenario) -> Iterator[tuple[Guard, str]]:
    """The architectures that the CPU may have, each under its guard."""
    known = tuple(cpus().machines)
    for name in known:
        if scenario.machine in (None, name):
            yield m.space.true if scenario.machine else m.space.choice("machine", known, (name,)), name


def feature(m: Machine, scenario: Scenario, name: str) -> Guard:
    """The guard that the CPU has a feature, and so all that come with it."""
    if scenario.features is not None:
        return m.space.true if name in scenario.features else m.space.false
    held = m.space.false
    for guard, machine in machines(m, scenario):
        if machine == cpus().feature_machine:
            held = held | guard
    for part in sorted(with_all([name], cpus().features)):
        held = held & m.space.choice(f"cpu feature {part}", (False, True), (True,))
    return held


def told(m: Machine, held: Guard) -> Value:
    """True where `held`, and False elsewhere."""
    with m.aside():
        return join(m, [(held, True), (~held, False)])


def _question(question: str, scenario: Scenario, name: str) -> Native:
    def run(m: Machine, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        return told(m, feature(m, scenario, name))

    return Native(question, run)


def _machine(m: Machine, scenario: Scenario) -> Value:
    with m.aside():
        return join(m, list(machines(m, scenario)))
