"""SGLang: where a question enters its source, and what it asks of the machine that qtrace answers instead.

Entry points and facts about the platform only; which config, method, scheme or kernel follows is found by
reading, and so is what the start of the server makes of its arguments.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ..evaluate.machine import Machine
from ..evaluate.unions import each, join
from ..evaluate.values import (
    MISSING,
    ClassValue,
    DictValue,
    Instance,
    ListValue,
    Manager,
    Native,
    Opaque,
    Value,
)
from ..evaluate.world import World
from ..guards import Space
from ..library import Library
from ..models.catalog import Catalog
from ..scenario import Scenario
from . import folder, platform as facts
from .sglang_packages import SglangPackages

if TYPE_CHECKING:
    from ..guards import Guard

ROOT = "sglang"
GROUPS = "sglang.srt.distributed.parallel_state"
SPANNING, SINGLE = ("tp", "attn_tp", "moe_tp"), ("pp", "attn_cp", "moe_ep", "moe_dp")
"""Groups of ranks, by how their getters are named: those over the ranks of tensor parallelism, and others."""
MODELS = "sglang/srt/models/"
WARMUP = "sglang.srt.layers.deep_gemm_wrapper.compile_utils"
"""Compiles kernels early; what runs does not hang on it."""
REGISTRAR = "sglang.srt.utils.custom_op.register_custom_op"
"""The engine's decorator that makes a function an operator."""
JIT = "sgl_jit"
"""What the names of functions begin with that SGLang compiles from C++ in its package when they are used."""
CUDAS = (12060, 12080, 12090, 13000)
"""The CUDA versions that torch has been built for since 2.8: which of them is at hand, the question tells."""
OWN_CONFIGS = (facts.HF_CONFIG, "transformers.configuration_utils.PretrainedConfig")
"""What the engine's own classes of checkpoint configs are made of, by both its names."""
OTHERS = ("xpu", "hpu", "npu", "mps", "musa")


def machine(library: Library, scenario: Scenario) -> Machine:
    """A machine that stands at the engine's door, ready to evaluate any of its functions."""
    world = World(library, ROOT, Catalog(), SglangPackages(library, scenario))
    m = Machine(world, Space())
    world.settings |= {
        "os.environ": facts.environment(m, scenario),
        "default dtype": facts.default_dtype(m, scenario),
        "sys.platform": "linux",
        "has attribute": partial(_has, m),
    }
    world.defaulted = frozenset({facts.HF_CONFIG})
    _device(m, scenario)
    _start(m, library, scenario)
    _ranks(m, scenario)
    m.facts[_jit_loader(library)] = Native("load_jit", _compiled)
    m.facts[f"{WARMUP}.deep_gemm_execution_hook"] = facts.always(Manager(lambda m, body: body(None)))
    m.facts[REGISTRAR] = Native("register_custom_op", _registered)
    return m


def _registered(m: Machine, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """A function that is an operator of torch's as well is still that function."""
    return args[0] if args else Native("register_custom_op()", lambda m, args, kwargs: args[0])


def _device(m: Machine, scenario: Scenario) -> None:
    """CUDA as torch tells of it."""
    table = m.world.models.table
    table["torch.version.cuda"] = _cuda(m, scenario)
    table["torch.version.hip"] = None
    table["torch.cuda.is_available"] = facts.always(True)
    pairs = each(m, facts.capability(m, scenario), lambda c: (c // 10, c % 10))
    table["torch.cuda.get_device_capability"] = facts.always(pairs)
    for name in OTHERS:
        for symbol in (f"torch.{name}.is_available", f"torch.backends.{name}.is_available"):
            table[symbol] = facts.always(False)


def _cuda(m: Machine, scenario: Scenario) -> Value:
    """The CUDA version that torch is built for, as text: SGLang's own source pins torch, not its build."""
    if scenario.cuda is not None:
        return dotted(scenario.cuda)
    parts = [(m.space.choice("cuda", CUDAS, (v,)), dotted(v)) for v in CUDAS]
    with m.aside():
        return join(m, parts)


def dotted(cuda: int) -> str:
    return f"{cuda // 1000}.{cuda % 1000 // 10}"


def _has(m: Machine, _: Machine, atom: Value, name: str) -> Guard | None:
    """`hasattr(torch, "npu")`: what a build of torch for CUDA has."""
    if not isinstance(atom, Opaque) or atom.symbol not in ("torch", "torch.version"):
        return None
    if name in OTHERS:
        return m.space.true if atom.symbol == "torch" and name in ("xpu", "mps") else m.space.false
    return m.space.true if name in ("cuda", "cpu", "hip") else None


def _start(m: Machine, library: Library, scenario: Scenario) -> None:
    """What the start reads of the machine and the checkpoint."""
    # The class bodies of a module are evaluated when they are asked for, which its end forbids.
    m.facts["sglang.srt.environ.EnvField.__set_name__"] = Native("__set_name__", _named)
    m.facts["sglang.srt.utils.common.get_device_memory_capacity"] = facts.unknown_fact("GPU memory", "int")
    folder.install(m, scenario)
    _paths(m, scenario)
    read = facts.checkpoint(m, scenario)
    m.world.models.table["transformers.AutoConfig.from_pretrained"] = facts.always(read)
    # The engine's own config classes fill in what the file does not say.
    own = facts.checkpoint(m, replace(scenario, whole=False))
    for base in OWN_CONFIGS:
        m.world.outside_class(base).attrs["from_pretrained"] = facts.always(own)
    for path in library.source.files("sglang/srt/", ".py"):
        if "def get_generation_config(" in (library.source.text(path) or ""):
            m.facts[f"{_module(path)}.get_generation_config"] = facts.always(None)
    m.facts["sglang.srt.model_loader.utils.get_model_architecture"] = Native(
        "get_model_architecture", partial(_architecture, library, scenario)
    )


def _named(m: Machine, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    args[0].attrs["name"] = args[2]
    return None


def _module(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _paths(m: Machine, scenario: Scenario) -> None:
    """`os.path.exists` for the checkpoint's folder and the files in it."""
    held = {"config.json", *scenario.names, *scenario.files}

    def there(whole: bool, m: Machine, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        def of(path: Value) -> Value:
            if path == scenario.name:
                return whole
            inside = isinstance(path, str) and path.startswith(f"{scenario.name}/")
            return path.removeprefix(f"{scenario.name}/") in held if inside else m.unknown("os.path.exists()")

        return each(m, args[0], of)

    for symbol, whole in (("os.path.exists", True), ("os.path.isfile", False)):
        m.world.models.table[symbol] = Native(symbol, partial(there, whole))


def architecture(scenario: Scenario) -> str | None:
    """The first architecture that the checkpoint names."""
    names = (scenario.model or {}).get("architectures")
    first = names[0] if isinstance(names, list) and names else None
    return first if isinstance(first, str) else None


def model_class(m: Machine, scenario: Scenario) -> Value:
    """The class of the model that the checkpoint names; MISSING where the release has none."""
    found = _architecture(m.world.source, scenario, m, (), {})[0]
    return found if isinstance(found, ClassValue) else MISSING


def _architecture(
    library: Library, scenario: Scenario, m: Machine, args: tuple[Value, ...], kwargs: dict[str, Value]
) -> tuple[Value, Value]:
    """The class that the engine's own table of models has for the checkpoint's architecture: that of the file
    whose `EntryClass` names it.
    """
    name = architecture(scenario)
    if name is None:
        return m.unknown("get_model_architecture()"), None
    entry = re.compile(rf"^EntryClass\b[^\n]*(?:\n[^\n\]]*)*\b{re.escape(name)}\b", re.M)
    for path in library.source.files(MODELS, ".py"):
        if entry.search(library.source.text(path) or ""):
            return facts.engine_value(m, f"{_module(path)}.{name}"), name
    return m.unknown("get_model_architecture()"), name


def _ranks(m: Machine, scenario: Scenario) -> None:
    """The groups of ranks, seen from the first of them."""
    for names, size in ((SPANNING, scenario.tensor_parallel), (SINGLE, 1)):
        for name in names:
            m.facts[f"{GROUPS}.get_{name}_group"] = facts.always(facts.ranks(m, name, size))


def _jit_loader(library: Library) -> str:
    """The engine's function that compiles C++ of its package."""
    for path in ("sglang/kernels/jit/utils.py", "sglang/jit_kernel/utils.py"):
        if "def load_jit(" in (library.source.text(path) or ""):
            return f"{_module(path)}.load_jit"
    return "sglang.jit_kernel.utils.load_jit"


def _compiled(m: Machine, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """A module that is compiled when it is first used: its functions by the names that are exported."""
    out = Instance(m.world.outside_class("a module compiled from C++"), m.live)
    for wrappers in (kwargs.get("cuda_wrappers"), kwargs.get("cpp_wrappers")):
        content = wrappers.content if isinstance(wrappers, ListValue) else ()
        for pair in content if isinstance(content, tuple) else ():
            if isinstance(pair, tuple) and pair and isinstance(pair[0], str):
                out.attrs[pair[0]] = Opaque(f"{JIT}.{pair[0]}")
    return out


def table_of(m: Machine, symbol: str) -> DictValue | None:
    """A table of the engine by its dotted name; None where the release has none."""
    found = facts.engine_value(m, symbol)
    return found if found is not MISSING and isinstance(found, DictValue) else None
