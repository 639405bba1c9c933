"""vLLM: where a question enters its source, and what it asks of the machine that qtrace answers instead.

Entry points and facts about the platform only; which config, method, scheme or kernel follows is found by reading.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..evaluate.frames import Frame
from ..evaluate.machine import Machine
from ..evaluate.unions import each
from ..evaluate.values import Function, Instance, Native, Opaque, Value
from ..evaluate.world import World
from ..guards import Space
from ..library import Library
from ..models.catalog import Catalog
from ..packages import InstalledPackages
from ..scenario import Scenario
from . import platform as facts
from .native import NativeHalf

if TYPE_CHECKING:
    pass

ROOT = "vllm"
PLATFORMS = {
    "cuda": "vllm.platforms.cuda.NvmlCudaPlatform",
    "rocm": "vllm.platforms.rocm.RocmPlatform",
    "cpu": "vllm.platforms.cpu.CpuPlatform",
    "xpu": "vllm.platforms.xpu.XPUPlatform",
}
BUILT_PACKAGES = frozenset({"deep_gemm", "triton_kernels"})
"""Python packages that the build fetches into the engine and that a build may leave out."""

DEVICE_FACTS = (
    "get_device_name", "get_device_total_memory", "get_device_uuid", "is_fully_connected", "device_count",
    "num_compute_units", "is_integrated_gpu",
)  # fmt: skip
"""Platform methods that ask the driver; their answers are unknown."""


def machine(library: Library, scenario: Scenario, seconds: float = 60.0) -> Machine:
    """A machine that stands at the engine's door, ready to evaluate any of its functions."""
    packages = InstalledPackages(library.source, scenario, BUILT_PACKAGES)
    world = World(library, ROOT, Catalog(), packages)
    m = Machine(world, Space(), seconds)
    world.settings |= {
        "os.environ": facts.environment(m, scenario),
        "default dtype": facts.default_dtype(m, scenario),
        "sys.platform": "linux",
    }
    native = NativeHalf(library.source, scenario)
    world.models.extra["torch.ops."] = native.call
    world.settings["has attribute"] = native.has
    _platform_facts(m, scenario)
    _config_facts(m, scenario)
    return m


def _platform_facts(m: Machine, scenario: Scenario) -> None:
    cls = PLATFORMS[scenario.platform]
    made: list[Instance] = []

    def current(m: Machine, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        if not made:
            made.append(facts.new(m, facts.engine_value(m, cls)))
        return made[0]

    def device_capability(m: Machine, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        if scenario.platform in ("cpu", "xpu"):
            return None
        make = "vllm.platforms.interface.DeviceCapability"
        known = facts.capability(m, scenario)
        return each(m, known, lambda c: facts.construct(m, make, c // 10, c % 10))

    m.facts["vllm.platforms.current_platform"] = Native("current_platform", current)
    m.facts[f"{cls}.get_device_capability"] = Native("device capability", device_capability)
    for name in DEVICE_FACTS:
        for owner in (cls, "vllm.platforms.cuda.CudaPlatformBase", "vllm.platforms.interface.Platform"):
            m.facts[f"{owner}.{name}"] = facts.unknown_fact(f"current_platform.{name}()")
    m.facts["vllm.logger.init_logger"] = facts.always(Opaque("logger"))


def _config_facts(m: Machine, scenario: Scenario) -> None:
    rank = facts.always(0)
    size = facts.always(scenario.tensor_parallel)
    group = "vllm.distributed.parallel_state.get_tensor_model_parallel"
    m.facts[f"{group}_rank"], m.facts[f"{group}_world_size"] = rank, size


def call(m: Machine, symbol: str, *args: Value, **kwargs: Value) -> Value:
    """Call an engine function or method by its dotted name, from a frame of its own module."""
    from ..evaluate.calls import call_value

    func = facts.engine_value(m, symbol)
    if isinstance(func, Function):
        m.frames.append(Frame(func.module, None, None, m.space.true, func.module.scope))
    try:
        return call_value(m, func, args, kwargs)
    finally:
        if isinstance(func, Function):
            m.frames.pop()
