"""vLLM: what the engine's start changes in the configuration for the model's own class."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..evaluate import attributes
from ..evaluate.calls import call_value
from ..evaluate.fields import fields_of
from ..evaluate.unions import settle
from ..evaluate.values import MISSING, ClassValue, DictValue, Instance, Unknown
from . import platform as facts
from .vllm_checkpoint import architecture
from .vllm_given import settle_at_rest

if TYPE_CHECKING:
    from .vllm_walk import Walk

UPDATES = "vllm.model_executor.models.config"
TABLE, UPDATE = "MODELS_CONFIG_MAP", "verify_and_update_config"
CHANGED = ("attention_config", "cache_config")
"""The parts of the configuration that attention is built from, which an update may change."""


def settle_config(walk: Walk) -> None:
    """Bring the configuration to where models are built from it: at rest, then updated for the model."""
    settle_at_rest(walk.m, walk.config, walk.scenario)
    update = _update(walk)
    if isinstance(update, ClassValue):
        _apply(walk, update)


def _update(walk: Walk) -> object:
    """The class that the release has for the architecture, None where there is none."""
    m, name = walk.m, architecture(walk.scenario)
    module = m.world.module(m, UPDATES) if m.world.source.module(UPDATES) is not None else None
    with m.aside():
        table = MISSING if module is None else settle(m, attributes.find(m, module, TABLE, None))
    row = table.entries.get(("constant", name)) if isinstance(table, DictValue) else None
    return None if row is None else settle(m, row[1])


def _apply(walk: Walk, cls: ClassValue) -> None:
    """Evaluate the update. Where it raises as far as it is read, what it may have changed is not known."""
    m, first = walk.m, len(walk.m.record.edges)
    run = attributes.find(m, cls, UPDATE, None)
    ended, raised = (
        (None, False) if run is MISSING else facts.attempt(m, lambda: call_value(m, run, (walk.config,), {}))
    )
    del m.record.edges[first:]  # a step of the start, none on the way to the layer
    for part in CHANGED if raised or ended is MISSING else ():
        held = walk.config.attrs[part]
        if isinstance(held, Instance):
            names = {*held.attrs, *(field.name for field in fields_of(m, held.cls))}
            held.attrs |= {name: Unknown(f"{part}.{name}", f"{part}.{name}") for name in sorted(names)}
