"""vLLM: from `--kv-cache-dtype` to the attention backend that takes it, and the cache that it allocates.

The engine's own attention layer is built, as the model builds it; which backends were asked, and what each
said, is what the platform answers on the way. Where the model itself gives the layer more than sizes (latent
attention), the model is built.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ..evaluate import attributes
from ..evaluate.calls import call_value
from ..evaluate.machine import CERTAIN, Dead
from ..evaluate.unions import alternatives, settle
from ..evaluate.values import MISSING, ClassValue, DictValue, Instance, Value
from ..links import field_site, function_behind, link, text_site
from . import platform as facts
from .entering import call, phase
from .linear import registered
from .projections import LATENT, Sizes
from .vllm_attend import attend
from .vllm_backends import Asked, listen
from .vllm_cache import Allocated, allocated, bind, layers
from .vllm_checkpoint import model_class
from .vllm_model import BUILD, build_model
from .vllm_scales import Origin, origins
from .vllm_updates import settle_config

if TYPE_CHECKING:
    from ...report.predicate import Site
    from ..guards import Guard
    from .vllm_walk import Walk

FLAG, FIELD = "--kv-cache-dtype", "kv_cache_dtype"
RESOLVER = "vllm.engine.arg_utils.resolve_kv_cache_dtype_string"
MODEL_INFO = "vllm.model_executor.models.registry._ModelInfo.from_model_cls"
FALLBACK_MODEL = "vllm.model_executor.models.llama"
CREATION = "create_attention"
BUILDING = (CREATION, BUILD)
"""Phases in which the layer is built."""
PREFIX = "model.layers.0.self_attn.attn"
"""Where the layer stands in the model."""


class Attention:
    """What became of one attention layer."""

    def __init__(self) -> None:
        self.flag_site: Site | None = None
        self.field_site: Site | None = None
        self.resolver_site: Site | None = None
        self.resolved: Value = MISSING
        """The cache dtype after `auto` is resolved against the checkpoint."""
        self.name = PREFIX
        self.value: Value = MISSING
        self.live: Any = None
        self.abandoned: Guard | None = None
        self.raised: list[tuple[Guard, Instance]] = []
        self.later: list[tuple[Guard, Instance]] = []
        """What loading or a forward is sure to raise."""
        self.asked = Asked()
        self.parameters: list[tuple[str, Value, Value]] = []
        self.caches: list[tuple[Guard, Allocated]] = []
        self.origins: list[Origin] = []
        self.layers: Value = MISSING
        """How many layers of the model have such a cache."""
        self.edges = (0, 0)
        self.variables: tuple[str, ...] = ()
        self.missing: str | None = None
        """What must hold for there to be an answer, where the layer could not be built."""


def walk_attention(walk: Walk) -> Attention:
    """Build the attention layer of block 0 and use it once, from where the configuration ended."""
    m, out = walk.m, Attention()
    _sites(walk, out)
    first = len(m.record.edges)
    sizes = Sizes(settle(m, walk.model.attrs["hf_text_config"]))
    with suppress(Dead):
        out.resolved = settle(m, walk.enter(RESOLVER, walk.scenario.kv_cache_dtype or "auto", walk.model))
        _settle_engine(walk, out.resolved)
        out.asked = listen(m)
        if sizes.has(LATENT):
            _from_model(walk, out)
        else:
            _build(walk, out, sizes)
    out.live, out.raised = m.live, [*out.raised, *walk.take_raised()]
    out.abandoned = m.abandoned
    out.variables = tuple(v.name for v in m.space.order.values())
    if not out.live.is_false:
        _use(walk, out)
    out.edges = (first, len(m.record.edges))
    return out


def _sites(walk: Walk, out: Attention) -> None:
    m = walk.m
    args = facts.engine_value(m, walk.arguments)
    flags = facts.engine_value(m, f"{walk.arguments}.add_cli_args")
    out.flag_site = text_site(m.world.source, function_behind(flags), FLAG)
    out.field_site = field_site(m, args, FIELD)
    start = facts.engine_value(m, f"{walk.arguments}.create_engine_config")
    out.resolver_site = link(m.world.source, function_behind(start), RESOLVER).site


def _settle_engine(walk: Walk, dtype: Value) -> None:
    """What no argument was given for is as the engine has it by default."""
    walk.config.attrs["cache_config"].attrs["cache_dtype"] = dtype
    settle_config(walk)
    walk.model.attrs["_model_info"] = _model_info(walk)
    # Layers that were built for another part of the question are not this one's.
    walk.config.attrs["compilation_config"].attrs["static_forward_context"] = DictValue(walk.m.space.true)


def _model_info(walk: Walk) -> Value:
    """What the engine notes of the model's class as it starts."""
    m = walk.m
    cls = model_class(m, walk.scenario)
    info = facts.vague(m, "model info")
    if isinstance(cls, ClassValue):
        found, _ = facts.attempt(m, lambda: call(m, MODEL_INFO, cls))
        info = found if isinstance(found, Instance) else info
    return info


def _build(walk: Walk, out: Attention, sizes: Sizes) -> None:
    m = walk.m
    cls = _layer_class(walk)
    head, heads, pairs = sizes.heads
    scale = head**-0.5 if isinstance(head, int) else m.unknown("head_dim ** -0.5")
    given = {
        "num_kv_heads": _share(pairs, walk.scenario.tensor_parallel),
        "cache_config": walk.config.attrs["cache_config"],
        "quant_config": walk.quant_config,
        "prefix": PREFIX,
    }
    with phase(m, CREATION, cls.module.name):
        heads = _share(heads, walk.scenario.tensor_parallel)
        out.value = call_value(m, cls, (heads, head, scale), given)


def _share(count: Value, ranks: int) -> Value:
    """Heads on one rank, of which there is always one."""
    return max(count // ranks, 1) if isinstance(count, int) else count


def _layer_class(walk: Walk) -> ClassValue:
    """The attention layer that the model's own module imports."""
    found = model_class(walk.m, walk.scenario)
    module = found.module.name if isinstance(found, ClassValue) else FALLBACK_MODEL
    owner = walk.m.world.module(walk.m, module)
    with walk.m.aside():
        cls = attributes.find(walk.m, owner, "Attention", None)
    return cls if isinstance(cls, ClassValue) else facts.engine_value(walk.m, f"{FALLBACK_MODEL}.Attention")


def _from_model(walk: Walk, out: Attention) -> None:
    """The first attention layer that the model registers with the engine as it is built."""
    m = walk.m
    model = build_model(walk, out.resolved)
    if model is None:
        out.missing = "the release knows the architecture"
        return
    out.raised, m.live = model.raised, model.live
    known = settle(m, walk.config.attrs["compilation_config"].attrs["static_forward_context"])
    for name, held in known.entries.values() if isinstance(known, DictValue) else ():
        found = settle(m, held)
        if isinstance(found, Instance) and {"attn_backend", "impl"} <= found.attrs.keys():
            out.name, out.value = name, found
            return
    out.missing = None if model.live.is_false else "the model has an attention layer"


def _use(walk: Walk, out: Attention) -> None:
    """What the built layer registers and allocates, and what is called when it is loaded and run."""
    m = walk.m
    out.layers = layers(walk)
    for guard, atom in _built(walk, out):
        m.live = guard
        out.parameters += registered(m, atom)
        made = allocated(walk, atom)
        out.caches += made
        out.origins += origins(walk, atom, out.name)
        bind(m, atom, made)
        before = len(m.record.edges)
        if not attend(walk, atom, out.name):
            del m.record.edges[before:]  # half of what runs would read as all of it
    m.live = out.live
    out.later = [(guard, exc) for guard, exc in walk.take_raised() if CERTAIN in exc.attrs]


def _built(walk: Walk, out: Attention) -> Iterator[tuple[Guard, Instance]]:
    walk.m.live = out.live
    for guard, atom in alternatives(walk.m, out.value):
        if isinstance(atom, Instance):
            yield guard, atom
