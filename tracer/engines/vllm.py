"""vLLM: where a question enters its source, and what it asks of the machine that qtrace answers instead.

Entry points and facts about the platform only; which config, method, scheme or kernel follows is found by
reading.
"""

from __future__ import annotations

from ..evaluate.fields import fields_of
from ..evaluate.machine import Machine
from ..evaluate.unions import each, join
from ..evaluate.values import (
    ClassValue,
    Descriptor,
    DictValue,
    Instance,
    ListValue,
    Native,
    Opaque,
    Unknown,
    Value,
)
from ..evaluate.world import World
from ..guards import Space
from ..library import Library
from ..models.catalog import Catalog
from ..packages import InstalledPackages
from ..scenario import Scenario
from . import build, cpu, platform as facts, rocm
from .log import LOGGER, logged
from .native import NativeHalf
from .rewritten import rewritten
from .vllm_given import Fields, made_of
from .vllm_parts import Changes, outline, partial

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
"""Platform methods that ask the driver; their answers are unknown, unless the scenario knows the product."""

CORE = ("vllm.engine.arg_utils", "vllm.model_executor.layers.linear", "vllm.v1.engine.core")
"""Modules that every engine process has imported."""

PARALLEL = "vllm.distributed.parallel_state"
GROUPS = ("tp", "pp", "dp", "ep", "pcp", "dcp")
"""Groups of ranks, by how their getters are named."""

WARMUP_PLANNER = "vllm.model_executor.warmup.jit_warmup._trace_compile_key_dispatch"
"""Reads a kernel wrapper's own text, to plan what is compiled early; what runs does not hang on it."""

WORKSPACE = "vllm.v1.worker.workspace.current_workspace_manager"
"""What a worker sets up before it loads a model."""
SIZED_BY = {
    "pp": {"pipeline_parallel_size"},
    "dp": {"data_parallel_size"},
    "ep": {"data_parallel_size", "prefill_context_parallel_size"},
    "pcp": {"prefill_context_parallel_size"},
    "dcp": {"decode_context_parallel_size"},
}
"""Engine arguments that make a group larger than the ranks of tensor parallelism make it."""
SPANNING = ("tp", "ep")
"""Groups over the ranks of tensor parallelism."""

DRIVER = "vllm.third_party.pynvml"
"""The engine's own copy of the driver's management library."""

MODEL_CONFIG, VLLM_CONFIG = "vllm.config.model.ModelConfig", "vllm.config.vllm.VllmConfig"


def machine(library: Library, scenario: Scenario) -> Machine:
    """A machine that stands at the engine's door, ready to evaluate any of its functions."""
    packages = InstalledPackages(library, scenario, BUILT_PACKAGES)
    world = World(library, ROOT, Catalog(), packages)
    m = Machine(world, Space())
    world.settings |= {
        "os.environ": facts.environment(m, scenario),
        "default dtype": facts.default_dtype(m, scenario),
        "sys.platform": "linux",
    }
    if scenario.platform != "cpu":
        world.settings["triton.backends.backends"] = _active_driver(m)
    world.defaulted = frozenset({facts.HF_CONFIG})
    build.install(m, library)
    cpu.install(m, scenario)
    rocm.install(m, scenario)
    world.started = frozenset().union(*map(library.imports.outside, CORE))
    world.begun = frozenset(some for core in CORE for some in library.imports.maybe(core))
    native = NativeHalf(library, scenario)
    world.models.extra |= {"torch.ops.vllm.": native.call_registered, "torch.ops.": native.call}
    world.models.extra[f"{LOGGER}."] = logged
    world.settings["has attribute"] = native.has
    m.facts[native.registrar] = Native("registrar", native.register)
    _platform_facts(m, scenario)
    _config_facts(m, scenario)
    return m


def _active_driver(m: Machine) -> DictValue:
    """Triton's table of its backends: the device's own, of which the driver is active."""
    driver = facts.new(m, m.world.outside_class("triton.backends.driver.DriverBase"))
    for name in ("is_active", "__bool__"):
        driver.cls.attrs[name] = Native(name, lambda m, args, kwargs: True)
    backend = facts.new(m, m.world.outside_class("triton.backends.Backend"), driver=driver)
    out = DictValue(m.space.true)
    out.entries["constant", "device"] = ("device", backend)
    return out


def _platform_facts(m: Machine, scenario: Scenario) -> None:
    def device_capability(m: Machine, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        make = "vllm.platforms.interface.DeviceCapability"
        return each(m, facts.capability(m, scenario), lambda c: facts.construct(m, make, c // 10, c % 10))

    def platform() -> Value:
        cls = facts.engine_value(m, PLATFORMS[scenario.platform])
        if scenario.platform == "cuda":  # others answer from what their drivers' libraries tell
            cls.attrs["get_device_capability"] = Descriptor(
                "classmethod", Native("device capability", device_capability)
            )
        told = {"get_device_name": scenario.device_name, "num_compute_units": scenario.compute_units}
        for name in DEVICE_FACTS:
            cls.attrs[name] = Descriptor("classmethod", _device_fact(name, told.get(name)))
        return facts.new(m, cls)

    made = facts.Once(platform)
    m.given["vllm.platforms.current_platform"] = Native(
        "current_platform", lambda m, args, kwargs: made.value
    )
    for name in ("nvmlInit", "nvmlShutdown"):  # the driver is there, or there would be no such device
        m.facts[f"{DRIVER}.{name}"] = facts.always(None)
    m.facts[WORKSPACE] = Native(WORKSPACE, lambda m, args, kwargs: facts.vague(m, "workspace"))
    m.facts[WARMUP_PLANNER] = facts.unknown_fact("what is compiled early")
    m.facts["vllm.logger.init_logger"] = facts.always(Opaque(LOGGER))


def _device_fact(name: str, known: str | int | None) -> Native:
    """What the driver tells of a device; that it was asked for is noted."""
    fact = facts.unknown_fact(f"current_platform.{name}()") if known is None else facts.always(known)

    def answer(m: Machine, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        m.world.source.consulted.add(name)
        return fact.call(m, args, kwargs)

    return Native(name, answer)


def _config_facts(m: Machine, scenario: Scenario) -> None:
    group = f"{PARALLEL}.get_tensor_model_parallel"
    m.facts[f"{group}_rank"] = facts.always(0)
    m.facts[f"{group}_world_size"] = facts.always(scenario.tensor_parallel)
    for name in GROUPS:
        m.facts[f"{PARALLEL}.get_{name}_group"] = facts.always(_group(m, scenario, name))
    m.world.no_post_init = frozenset({MODEL_CONFIG, VLLM_CONFIG})
    config = facts.Once(lambda: engine_config(m, scenario))
    m.world.settings["engine config"] = config
    for name in ("get_current_vllm_config", "get_current_vllm_config_or_none"):
        m.facts[f"vllm.config.vllm.{name}"] = Native(name, lambda m, args, kwargs: config.value)


def engine_config(m: Machine, scenario: Scenario) -> Instance:
    """The configuration object that engine code reads.

    Fields of the scenario are set; a field that the engine's start may rewrite is unknown; others have the
    source's defaults.
    """
    places = ("vllm/config/", *(f"vllm/platforms/{name}.py" for name in ("interface", scenario.platform)))
    changed = Changes(rewritten(m.world.source, places), frozenset(scenario.unread))
    config = outline(m, facts.engine_value(m, VLLM_CONFIG), "vllm_config", changed)
    for field in fields_of(m, config.cls) if isinstance(config.cls, ClassValue) else ():
        if isinstance(field.factory, ClassValue):
            config.attrs[field.name] = partial(m, field.factory, field.name, changed)
    model = partial(m, facts.engine_value(m, MODEL_CONFIG), "model_config", changed)
    hf = facts.checkpoint(m, scenario)
    model.attrs |= {
        "hf_config": hf,
        "hf_text_config": facts.text_config(m, hf),
        "model": scenario.name if scenario.whole else Unknown("model", "model", None, "str"),
    }
    model.attrs |= {"quantization": scenario.quantization, "dtype": m.world.settings["default dtype"]}
    model.attrs |= {"quantization_config": None}
    config.attrs["model_config"] = model
    config.attrs["parallel_config"].attrs |= {
        "tensor_parallel_size": scenario.tensor_parallel,
        "enable_expert_parallel": scenario.expert_parallel,
    }
    if not SIZED_BY["dp"] & set(scenario.unread):  # as the groups of ranks are told
        config.attrs["parallel_config"].attrs["data_parallel_size"] = 1
    declared = {field.name for field in fields_of(m, config.cls)}
    for name, fields in made_of(m, scenario.unread).items():
        if name in declared:
            config.attrs[name] = _given(m, config.attrs.get(name), name, fields)
    if "compilation_config" not in scenario.unread:
        config.attrs["compilation_config"].attrs["custom_ops"] = _custom_ops(m)
    return config


def _given(m: Machine, part: Value, name: str, fields: Fields) -> Value:
    """A part of the configuration of which the launch gives fields that nobody reads: they are unknown."""
    if not (isinstance(part, Instance) and isinstance(part.cls, ClassValue)):
        return Unknown(f"vllm_config.{name}", f"vllm_config.{name}")
    for field in [field.name for field in fields_of(m, part.cls)] if fields is None else sorted(fields):
        part.attrs[field] = Unknown(f"{name}.{field}", f"{name}.{field}")
    return part


def _custom_ops(m: Machine) -> ListValue:
    """What the engine's start turns on or off is not read yet: both base modes of its custom ops stay
    possible.
    """
    base = m.space.choice("custom_ops", ("none", "all"), ("none",))
    with m.aside():
        content = join(m, [(base, ("none",)), (~base, ("all",))])
    return ListValue(content, m.space.true)


def _group(m: Machine, scenario: Scenario, name: str) -> Unknown:
    size = scenario.tensor_parallel if name in SPANNING else 1
    return facts.ranks(m, name, None if SIZED_BY.get(name, set()) & set(scenario.unread) else size)
