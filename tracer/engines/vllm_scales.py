"""vLLM: where the scales of a quantized cache come from.

The engine's own method turns what was loaded into the scales that the layer uses; it is evaluated with
parameters that hold what they were made with or, where the checkpoint has a tensor for them, a number that
stands for the tensor's.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from ...report.predicate import Opaque
from ..evaluate import attributes
from ..evaluate.calls import call_value
from ..evaluate.machine import Dead
from ..evaluate.unions import alternatives, each, join, settle, store
from ..evaluate.values import MISSING, DictValue, Instance, ListValue, Value
from ..models.numbers import HELD, MADE_WITH, number
from . import platform as facts
from .entering import call, phase
from .vllm_asked import engine_name
from .vllm_layers import LOADING

if TYPE_CHECKING:
    from ..evaluate.machine import Machine
    from ..guards import Guard
    from .vllm_walk import Walk

NAMES = ("k_scale", "v_scale")
BY_TOKEN = "vllm.v1.kv_cache_interface.kv_cache_uses_per_token_head_scales"
"""Tells whether whatever writes the cache computes a scale for each token."""
REMAP = "vllm.model_executor.model_loader.weight_utils.maybe_remap_kv_scale_name"
LOADED = 0.0625
"""Stands for the number in a checkpoint's tensor: positive, and the default of no scale."""


class Origin(NamedTuple):
    """Where a scale comes from on some paths."""

    name: str
    guard: Guard
    value: Value
    """What the layer ends with; `LOADED` or its double is the checkpoint's."""
    tensors: tuple[str, ...]
    computed: bool


def origins(walk: Walk, layer: Instance, name: str) -> list[Origin]:
    """The scales of a built layer called `name`, once its weights are loaded."""
    m = walk.m
    if _by_token(walk, layer):
        return [Origin(scale, m.live, MISSING, (), True) for scale in NAMES]
    brought = _brought(walk, layer, name)
    _fill(walk, layer, brought)
    live, before = m.live, dict(layer.attrs)
    try:
        with phase(m, "process_weights_after_loading", LOADING):
            _process(m, layer)
    except Dead:
        return []
    finally:
        m.live = live
    found = [origin for scale in NAMES for origin in _origin(m, layer, scale, brought or {})]
    _unsay(m, layer, before)
    return found


def _by_token(walk: Walk, layer: Instance) -> bool:
    m, form = walk.m, settle(walk.m, layer.attrs.get("kv_cache_dtype", MISSING))
    return facts.attempt(m, lambda: call(m, BY_TOKEN, form))[0] is True


def _process(m: Machine, layer: Instance) -> None:
    method = settle(m, layer.attrs.get("quant_method", MISSING))
    for guard, atom in alternatives(m, method):
        if isinstance(atom, Instance):
            m.live = guard
            call_value(m, attributes.get(m, atom, LOADING_STEP, None), (layer,), {})


LOADING_STEP = "process_weights_after_loading"


def _fill(walk: Walk, layer: Instance, brought: dict[str, tuple[str, ...]] | None) -> None:
    """Give each parameter what it holds after loading: the tensor's number, or what it was made with."""
    m = walk.m
    there = m.space.atom("kv scales", Opaque("the checkpoint has k_scale and v_scale for this layer"))
    for name, held in list(layer.attrs.items()):
        for _, atom in alternatives(m, held):
            if isinstance(atom, Instance) and MADE_WITH in atom.attrs and HELD not in atom.attrs:
                made = settle(m, atom.attrs[MADE_WITH])
                if name in NAMES and brought is None:
                    atom.attrs[HELD] = join(m, [(there, LOADED), (~there, made)])
                else:
                    atom.attrs[HELD] = LOADED if name in (brought or ()) else made


def is_loaded(value: Value) -> bool:
    """Whether a number stands for one in the checkpoint, which some platforms double."""
    return value in (LOADED, 2 * LOADED)


def _unsay(m: Machine, layer: Instance, before: dict[str, Value]) -> None:
    """Make what the layer has from the checkpoint a number that nobody knows: what runs may branch on it."""

    def unsaid(name: str, atom: Value) -> Value:
        if isinstance(atom, Instance) and HELD in atom.attrs:
            held = each(m, settle(m, atom.attrs[HELD]), lambda n: MISSING if is_loaded(n) else n)
            atom.attrs[HELD] = store(m, atom.attrs[HELD], held, atom.born)
        return m.unknown(f"{name} of the layer") if is_loaded(atom) else atom

    for name, value in list(layer.attrs.items()):
        tensors = any(isinstance(atom, Instance) for _, atom in alternatives(m, value))
        if tensors or value is not before.get(name, MISSING):
            layer.attrs[name] = store(m, value, each(m, settle(m, value), partial(unsaid, name)), layer.born)


def _origin(m: Machine, layer: Instance, scale: str, brought: dict[str, tuple[str, ...]]) -> Iterator[Origin]:
    value = attributes.find(m, layer, f"_{scale}_float", None)
    value = value if value is not MISSING else layer.attrs.get(f"_{scale}", MISSING)
    computes = settle(m, layer.attrs.get("calculate_kv_scales", False))
    for guard, flag in alternatives(m, computes):
        m_live, m.live = m.live, guard
        for under, atom in alternatives(m, value):
            found = number(m, atom) if isinstance(atom, Instance) else atom
            tensors = brought.get(scale, ()) or tuple(t for row in brought.values() for t in row)
            yield Origin(scale, under, found, tensors, flag is True)
        m.live = m_live


# --- what the checkpoint brings


def _brought(walk: Walk, layer: Instance, name: str) -> dict[str, tuple[str, ...]] | None:
    """The checkpoint's tensors that are loaded into each scale; None where its tensors are not at hand."""
    if not walk.scenario.tensors:
        return None
    targets = {f"{name}.{scale}": scale for scale in NAMES if scale in layer.attrs}
    out: dict[str, tuple[str, ...]] = {}
    for tensor in walk.scenario.tensors:
        if targets and "scale" in tensor.rpartition(".")[2]:
            target = targets.get(str(_renamed(walk, tensor, tuple(targets))))
            if target is not None:
                out[target] = (*out.get(target, ()), tensor)
    return out


def _renamed(walk: Walk, tensor: str, targets: tuple[str, ...]) -> Value:
    """The parameter that the engine's loaders take a tensor for: the model's and the method's renaming, then
    the loader's own for scales.
    """
    m = walk.m
    mapped = engine_name(walk, tensor)
    for rename in (partial(_by_mapper, walk), partial(_by_method, walk)):
        found, raised = facts.attempt(m, partial(rename, mapped))
        mapped = found if isinstance(found, str) and not raised else mapped
    known = DictValue(m.space.true)
    known.entries = {("constant", target): (target, None) for target in targets}
    found, raised = facts.attempt(m, lambda: walk.enter(REMAP, mapped, known))
    return mapped if raised else found


def _by_mapper(walk: Walk, name: str) -> Value:
    m = walk.m
    make = attributes.find(m, walk.quant_config, "get_cache_scale_mapper", None)
    if make is MISSING:
        return None
    mapper = call_value(m, make, (), {})
    names = ListValue((name,), m.space.true)
    out = call_value(m, attributes.get(m, mapper, "apply_list", None), (names,), {})
    return settle(m, out.content)[0]


def _by_method(walk: Walk, name: str) -> Value:
    m = walk.m
    ask = attributes.find(m, walk.quant_config, "get_cache_scale", None)
    return None if ask is MISSING else call_value(m, ask, (name,), {})
