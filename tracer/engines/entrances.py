"""By which walk a question enters an engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..library import Library
    from ..scenario import Scenario
    from .walk import Walk


def walk(library: Library, scenario: Scenario) -> Walk:
    """A walk that stands at the engine's door."""
    if library.source.engine == "sglang":
        from . import sglang, sglang_walk

        sglang_walk.expect(library.source, scenario)
        return sglang_walk.Walk(sglang.machine(library, scenario), scenario)
    from . import vllm, vllm_walk

    return vllm_walk.Walk(vllm.machine(library, scenario), scenario)
