"""Which linear layers a question is about: those of a Llama block, or those of the model's own class."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..evaluate.unions import settle
from ..evaluate.values import ClassValue, Value
from . import platform as facts
from .asked import Asked
from .linear import plain_arguments
from .projections import PROJECTIONS, Sizes, given
from .vllm_checkpoint import HEADERS_SUPPOSED, model_class
from .vllm_layers import LINEAR
from .vllm_model import Linear
from .vllm_names import doubt, module_names, one_for_all

if TYPE_CHECKING:
    from .vllm_walk import Walk
    from .walk import Walk as Base

BLOCK = "model.layers.0"


def wants_model(walk: Walk) -> bool:
    """Whether the layers have to be those of the model's own class.

    So where its blocks are not like Llama's, and where its checkpoint names modules.
    """
    scenario = walk.scenario
    if scenario.layer != "linear" or scenario.shape is not None or not scenario.whole:
        return False
    if not isinstance(model_class(walk.m, scenario), ClassValue):
        return False
    sizes = Sizes(settle(walk.m, walk.model.attrs["hf_text_config"]))
    return any(sizes.has(p.unless) for p in PROJECTIONS) or any("." in n for n in module_names(scenario))


def asked(walk: Walk) -> Iterator[Asked]:
    """The layers asked for, in the order in which a block has them."""
    if walk.built is not None:
        yield from (_of_model(walk, linear) for linear in walk.built.linear)
        return
    text = walk.model.attrs["hf_text_config"]
    sizes, kind = Sizes(settle(walk.m, text)), walk.scenario.layer
    if walk.scenario.shape is not None:
        out_size, in_size = walk.scenario.shape
        name = "down_proj" if kind == "linear" else kind
        yield _placed(walk, name, f"{LINEAR}.ReplicatedLinear", (in_size, out_size), f"{BLOCK}.mlp.{name}")
        return
    rows = [p for p in PROJECTIONS if kind == p.name or (kind == "linear" and not sizes.has(p.unless))]
    walk.left_out = tuple(p.name for p in PROJECTIONS if kind == "linear" and p not in rows)
    for p in rows:
        yield _placed(walk, p.name, f"{LINEAR}.{p.cls}", given(walk.m, p, sizes), f"{BLOCK}.{p.prefix}")


def _of_model(walk: Walk, linear: Linear) -> Asked:
    made, kwargs = linear.made, dict(linear.made.kwargs)
    named = kwargs.get("quant_config") is not None  # without one, no name of the checkpoint is asked for
    apart = stands_for(walk, settle(walk.m, kwargs["prefix"])) if named else None
    apart = apart or (walk.built.blocks.unlike if walk.built is not None else None)
    supposed = named and walk.m.world.settings.get(HEADERS_SUPPOSED) is True
    doubt = "the checkpoint stores the layer quantized" if supposed else None
    return Asked(linear.name, made.value.cls, made.args, kwargs, linear.name, doubt, apart, linear.guard)


def stands_for(walk: Base, prefix: str) -> str | None:
    """What has to hold for a layer of the model's own class to stand for its like in all blocks."""
    return one_for_all(walk.scenario, prefix, walk.renamed, walk.fused())


def _placed(walk: Walk, name: str, cls: str, args: tuple[Value, ...], prefix: str) -> Asked:
    """A layer where a Llama block has it, under the name that the model's class gives the place."""
    m, scenario = walk.m, walk.scenario
    renamed = engine_name(walk, prefix)
    kwargs = plain_arguments(m, renamed or prefix, walk.quant_config)
    unsure = doubt(scenario, prefix, known=renamed == prefix)
    apart = one_for_all(scenario, prefix)
    return Asked(name, facts.engine_value(m, cls), args, kwargs, kwargs["prefix"], unsure, apart)


def engine_name(walk: Walk, prefix: str) -> str | None:
    """The engine's name of what the checkpoint calls `prefix`; None where that cannot be told."""
    m = walk.m
    if walk.scenario.model is None or model_class(m, walk.scenario) is None:
        return None
    return walk.renamed(prefix)
