"""vLLM: the object that prepares forwards of an attention backend; the engine makes it when it starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..evaluate import attributes
from ..evaluate.calls import call_value
from ..evaluate.machine import RAISED, Dead, OutOfBudget
from ..evaluate.unions import alternatives
from ..evaluate.values import MISSING, ClassValue, Instance, ListValue, Opaque, Value
from ..guards import GuardBudget
from .entering import phase

if TYPE_CHECKING:
    from ..evaluate.machine import Machine
    from .vllm_attention import Attention
    from .vllm_walk import Walk

STEP_WORK, STEP_GUARDS = 900_000, 60_000
SCENARIO = ("capability", "arch", "cpu", "custom_ops", "package ", "env ")
"""How the names of what a scenario leaves open begin."""
GROUPS = "vllm.v1.worker.utils"
"""The module that makes the builders."""


def refuse(walk: Walk, attention: Attention) -> None:
    """Add what the backends' builders raise on conditions of the scenario alone, and nothing else of them."""
    m = walk.m
    if attention.live is None or attention.live.is_false:
        return
    m.live = attention.live
    try:
        with m.bounds(STEP_WORK, STEP_GUARDS), phase(m, "create_metadata_builders", GROUPS):
            _build(walk, attention)
    except (Dead, OutOfBudget, GuardBudget):
        pass
    for guard, exc in walk.take_raised():
        if RAISED in exc.attrs and set(m.space.variables(guard)) <= _scenario(m):
            attention.raised.append((guard, exc))
            attention.live = attention.live & ~guard


def _scenario(m: Machine) -> set[str]:
    """Variables of the scenario; others that are no atom are about what the engine's run finds."""
    choices = (variable.name for variable in m.space.order.values() if variable.predicate is None)
    return {name for name in choices if name.startswith(SCENARIO)}


def _build(walk: Walk, attention: Attention) -> None:
    m, layer = walk.m, attention.value
    for _, backend in alternatives(m, _attribute(layer, "attn_backend")):
        if not isinstance(backend, ClassValue):
            continue
        spec = call_value(m, attributes.get(m, layer, "get_kv_cache_spec", None), (walk.config,), {})
        builder = call_value(m, attributes.get(m, backend, "get_builder_cls", None), (), {})
        names = ListValue((attention.name,), m.live)
        call_value(m, builder, (spec, names, walk.config, Opaque("device")), {})


def _attribute(layer: Value, name: str) -> Value:
    return layer.attrs.get(name, MISSING) if isinstance(layer, Instance) else MISSING
