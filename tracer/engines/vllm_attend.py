"""vLLM: an attention layer run once, so that what writes its cache and what reads it is called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..evaluate import attributes
from ..evaluate.calls import call_value
from ..evaluate.machine import Dead, OutOfBudget
from ..evaluate.unions import settle
from ..evaluate.values import MISSING, DictValue, Instance, Unknown, Value
from ..guards import GuardBudget
from ..links import function_behind
from . import platform as facts
from .entering import phase
from .linear import STEP_GUARDS
from .vllm_layers import LOADING

if TYPE_CHECKING:
    from ..evaluate.machine import Machine
    from .vllm_walk import Walk

FORWARD = "vllm.model_executor.models.llama"
"""A module from which an attention layer is called."""
STEP_WORK = 2_700_000
"""What loading the layer and running it may take."""
CONTEXT = "vllm.forward_context.get_forward_context"
OPERANDS = {
    "query": ("num_heads", "head_size"),
    "key": ("num_kv_heads", "head_size"),
    "value": ("num_kv_heads", "head_size"),
    "q": ("num_heads", "qk_head_dim"),
    "kv_c_normed": ("kv_lora_rank",),
    "k_pe": (1, "qk_rope_head_dim"),
}
"""The sizes of one row of what a forward is given, by the parameter's name: attributes of the layer."""


def attend(walk: Walk, layer: Instance, name: str) -> bool:
    """Load what a layer called `name` needs, and run it; whether it came to an end within its bounds."""
    m, live = walk.m, walk.m.live
    m.facts[CONTEXT] = facts.always(_context(walk, name))
    try:
        with m.bounds(STEP_WORK, STEP_GUARDS):
            _load(m, layer)
            m.live, m.trusting = live, True  # what the runner lays ready fits the layer
            with phase(m, "forward", FORWARD):
                _forward(walk, layer)
    except Dead:
        return True
    except (OutOfBudget, GuardBudget) as stop:
        m.coverage.budget(f"forward of {name} was cut short: {stop}")
        return False
    finally:
        m.live, m.trusting = live, False
    return True


def _load(m: Machine, layer: Instance) -> None:
    step = attributes.find(m, layer, "process_weights_after_loading", None)
    if step is not MISSING:
        with phase(m, "process_weights_after_loading", LOADING):
            facts.attempt(m, lambda: call_value(m, step, (m.world.settings["default dtype"],), {}))


def _context(walk: Walk, name: str) -> Instance:
    """What the engine's runner lays ready for a forward: the batch, and the layers by name."""
    m = walk.m
    out = facts.new(m, m.world.outside_class("a forward context"))
    compilation = walk.config.attrs["compilation_config"]
    out.attrs |= {
        "attn_metadata": _one(m, name, facts.vague(m, "attn_metadata")),
        "slot_mapping": _one(m, name, Unknown("slot_mapping", "slot_mapping", None, "tensor")),
        "no_compile_layers": settle(m, compilation.attrs["static_forward_context"]),
    }
    return out


def _one(m: Machine, name: str, value: Value) -> DictValue:
    out = DictValue(m.space.true)
    out.entries["constant", name] = (name, value)
    return out


def _forward(walk: Walk, layer: Instance) -> None:
    m, scenario = walk.m, walk.scenario
    rows = scenario.rows if scenario.rows is not None else Unknown("M", "M", None, "int")
    run = attributes.get(m, layer, "forward", None)
    names = [p.name for p in function_behind(run).node.params.items]
    given = {n: _operand(m, layer, rows, OPERANDS[n]) for n in names if n in OPERANDS}
    if "output_shape" in names and "q" in names:
        given["output_shape"] = (rows, _size(m, layer, ("num_heads", "v_head_dim")))
    call_value(m, run, (), given)


def _operand(m: Machine, layer: Instance, rows: Value, sizes: tuple[int | str, ...]) -> Value:
    width: tuple[Value, ...] = tuple(_size(m, layer, (s,)) for s in sizes)
    flat = sizes[-1] == "head_size"  # the model gives these side by side
    shape = (rows, _size(m, layer, sizes)) if flat else (rows, *width)
    return m.world.models.tensor(m, shape, m.world.settings["default dtype"])


def _size(m: Machine, layer: Instance, names: tuple[int | str, ...]) -> Value:
    out = 1
    for name in names:
        size = settle(m, attributes.find(m, layer, name, None)) if isinstance(name, str) else name
        if not isinstance(size, int):
            return Unknown(f"{name} of the layer", f"{name} of the layer", None, "int")
        out *= size
    return out
