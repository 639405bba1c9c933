"""Classes of experts that hold several others: which of them takes a forward, by its rows and the weights."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ..evaluate import attributes
from ..evaluate.calls import call_value
from ..evaluate.unions import alternatives, settle
from ..evaluate.values import MISSING, ClassValue, Guarded, Instance, Value
from . import platform as facts
from .entering import inside

if TYPE_CHECKING:
    from ..evaluate.machine import Machine
    from ..guards import Guard

SELECT = "_select_experts_impl"
"""How the engine asks such a class for the experts that take these tensors."""


def picks(m: Machine, layer: Instance, rows: Value) -> dict[str, Value]:
    """What is picked, by the attribute of the layer's method that has the class; None where there is nothing
    to pick, or where that was not read to its end.
    """
    live = m.live
    found: dict[str, list[tuple[Guard, Value]]] = {}
    for guard, method in alternatives(m, layer.attrs["quant_method"]):
        for name, held in method.attrs.items() if isinstance(method, Instance) else ():
            m.live = guard
            for part, cls in alternatives(m, held) if name.endswith("_cls") else ():
                if isinstance(cls, ClassValue) and any(map(_selects, cls.mro)):
                    m.live = part
                    picked, _ = facts.attempt(m, partial(_picked, m, layer, method, cls, rows))
                    found.setdefault(name, []).extend(
                        alternatives(m, picked) if picked is not MISSING else ()
                    )
    m.live = live
    return {name: _everywhere(ends, live) for name, ends in found.items()}


def _everywhere(ends: list[tuple[Guard, Value]], live: Guard) -> Value:
    """These ends, and None on all other paths."""
    rest = live
    for guard, _ in ends:
        rest = rest & ~guard
    return Guarded((*ends, *(() if rest.is_false else ((rest, None),))))


def _selects(base: Value) -> bool:
    return isinstance(base, ClassValue) and base.scope is not None and base.scope.defines(SELECT)


def _picked(m: Machine, layer: Instance, method: Instance, cls: ClassValue, rows: Value) -> Value:
    """Make the experts as the method's kernel does, and ask them."""
    config = settle(m, layer.attrs["moe_config"])
    with inside(m, cls.module.name):
        quant = call_value(m, attributes.get(m, method, "get_fused_moe_quant_config", None), (layer,), {})
        experts = call_value(m, cls, (), {"moe_config": config, "quant_config": quant})
        width = attributes.get(m, config, "hidden_dim", None)
        hidden = m.world.models.tensor(m, (rows, width), m.world.settings["default dtype"])
        weights = (attributes.get(m, layer, name, None) for name in ("w13_weight", "w2_weight"))
        return call_value(m, attributes.get(m, experts, SELECT, None), (hidden, *weights), {})
