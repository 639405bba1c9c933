"""Which builds of the engine's native half a question is about: one on a GPU, several on a CPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..evaluate import attributes
from ..evaluate.calls import call_value
from ..native.build import COMPILED, Build
from ..scenario import Scenario
from . import cpu, platform as facts

if TYPE_CHECKING:
    from ..evaluate.machine import Machine
    from ..guards import Guard

Builds = list[tuple["Guard", Build]]
PLATFORM, LOADER = "vllm.platforms.current_platform", "import_kernels"
"""The platform's method that imports the extension module which fits the machine."""


def builds(m: Machine, scenario: Scenario) -> Builds:
    """The builds that may be the one, each under its guard."""
    if scenario.platform not in COMPILED:
        return []
    if scenario.platform != "cpu":
        return [(m.space.true, Build(scenario.platform, scenario.cuda))]
    found = [
        (guard & loaded, Build("cpu", None, machine, extension))
        for guard, machine in cpu.machines(m, scenario)
        for extension, loaded in _loaded(m)
    ]
    return [(guard, build) for guard, build in found if not guard.is_false]


def _loaded(m: Machine) -> list[tuple[str, Guard]]:
    """Extension modules by name, each where the platform imports it."""
    platform = facts.engine_value(m, PLATFORM)
    with m.aside():
        call_value(m, attributes.get(m, platform, LOADER, None), (), {})
    return [(name.rpartition(".")[2], guard) for name, guard in m.world.loaded.items()]
