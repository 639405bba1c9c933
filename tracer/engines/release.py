"""What a release says of its own build."""

from __future__ import annotations

from ..library import Library
from ..scenario import Scenario
from . import entering, platform as facts, vllm

CUDA = "VLLM_MAIN_CUDA_VERSION"
"""The engine's own name for the CUDA version its wheels are built with."""


def cuda_of(library: Library) -> int | None:
    """The CUDA version of the release's wheels (13000 for 13.0), None where its source does not say."""
    if library.source.engine == "sglang":
        return None
    m = vllm.machine(library, Scenario(capability=90, profile="bare"))
    if m.world.module(m, "vllm.envs") is None:
        return None
    value, _ = facts.attempt(m, lambda: entering.call(m, "vllm.envs.__getattr__", CUDA))
    major, _, minor = value.partition(".") if isinstance(value, str) else ("", "", "")
    return int(major) * 1000 + int(minor or 0) * 10 if major.isdigit() and (minor or "0").isdigit() else None
