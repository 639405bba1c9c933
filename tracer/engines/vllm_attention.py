"""vLLM: from `--kv-cache-dtype` to the attention backend that takes it, and the cache that it allocates.

The engine's own attention layer is built, as the model builds it; which backends were asked, and what each
said, is what the platform answers on the way.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ..evaluate import attributes, inheritance
from ..evaluate.atoms import describe
from ..evaluate.calls import call_value
from ..evaluate.machine import Dead
from ..evaluate.unions import alternatives, settle
from ..evaluate.values import (
    MISSING,
    ClassValue,
    Descriptor,
    DictValue,
    Instance,
    ListValue,
    Native,
    Unknown,
    Value,
)
from ..links import field_site, function_behind, link, text_site
from . import platform as facts
from .vllm import phase
from .vllm_checkpoint import model_class
from .vllm_layers import LATENT, Sizes
from .vllm_linear import registered

if TYPE_CHECKING:
    from ...report.predicate import Site
    from ..evaluate.machine import Machine
    from ..guards import Guard
    from .vllm_walk import Walk

FLAG, FIELD = "--kv-cache-dtype", "kv_cache_dtype"
RESOLVER = "vllm.engine.arg_utils.resolve_kv_cache_dtype_string"
ASKED = "get_valid_backends"
"""The platform's method that asks every backend in turn."""
FALLBACK_MODEL = "vllm.model_executor.models.llama"
SHAPE = "vllm.v1.kv_cache_interface.compute_layer_kv_cache_shape_bytes"
CREATION = "create_attention"
PREFIX = "model.layers.0.self_attn.attn"
"""Where the layer stands in the model."""


class Answer(NamedTuple):
    """What one backend is on some paths: whether it fits, and the reasons if not."""

    guard: Guard
    backend: str
    priority: int
    reasons: tuple[str, ...]
    """Empty where it fits."""


class Attention:
    """What became of one attention layer."""

    def __init__(self) -> None:
        self.flag_site: Site | None = None
        self.field_site: Site | None = None
        self.resolver_site: Site | None = None
        self.resolved: Value = MISSING
        """The cache dtype after `auto` is resolved against the checkpoint."""
        self.value: Value = MISSING
        self.live: Any = None
        self.abandoned: Guard | None = None
        self.raised: list[tuple[Guard, Instance]] = []
        self.asked: list[list[Answer]] = []
        """What the backends answered, a list for each time they were asked."""
        self.asker = ASKED
        """The symbol of the method that asks them."""
        self.parameters: list[tuple[str, Value, Value]] = []
        self.edges = (0, 0)
        self.variables: tuple[str, ...] = ()
        self.latent = False
        """Whether the checkpoint has latent attention, which is not followed yet."""


def walk_attention(walk: Walk) -> Attention:
    """Build the attention layer of block 0, from where the configuration ended."""
    m, out = walk.m, Attention()
    args = facts.engine_value(m, walk.arguments)
    flags = facts.engine_value(m, f"{walk.arguments}.add_cli_args")
    out.flag_site = text_site(function_behind(flags), FLAG)
    out.field_site = field_site(m, args, FIELD)
    start = facts.engine_value(m, f"{walk.arguments}.create_engine_config")
    out.resolver_site = link(function_behind(start), RESOLVER).site
    first = len(m.record.edges)
    sizes = Sizes(settle(m, walk.model.attrs["hf_text_config"]))
    out.latent = sizes.has(LATENT)
    with suppress(Dead):
        out.resolved = settle(m, walk.enter(RESOLVER, walk.scenario.kv_cache_dtype or "auto", walk.model))
        _settle_engine(walk, out.resolved)
        if not out.latent:
            _listen(m, out)
            _build(walk, out, sizes)
    out.live, out.raised, out.abandoned = m.live, walk.take_raised(), m.abandoned
    out.variables = tuple(v.name for v in m.space.order.values())
    out.edges = (first, len(m.record.edges))
    return out


def _settle_engine(walk: Walk, dtype: Value) -> None:
    """What no argument was given for is as the engine has it by default."""
    cache, attention = walk.config.attrs["cache_config"], walk.config.attrs["attention_config"]
    cache.attrs["cache_dtype"] = dtype
    cache.attrs["user_specified_block_size"] = _unless(walk, "cache_config.user_specified_block_size", False)
    attention.attrs["backend"] = _unless(walk, "attention_config.backend", None)


GIVEN_BY = {
    "cache_config.user_specified_block_size": {"block_size"},
    "attention_config.backend": {"attention_backend", "attention_config"},
}
"""Engine arguments that set a field of another name."""


def _unless(walk: Walk, field: str, default: Value) -> Value:
    """The default of a field, unknown where an argument that sets it was given."""
    return Unknown(field, field) if GIVEN_BY[field] & set(walk.scenario.unread) else default


def _listen(m: Machine, out: Attention) -> None:
    """Keep what the platform answers when it asks the backends."""
    cls = facts.engine_value(m, "vllm.platforms.current_platform").cls
    method = inheritance.class_attribute(m, cls, ASKED)
    if method is MISSING:
        return

    def ask(m: Machine, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        answer = call_value(m, inheritance.bind(m, method, args[0]), args[1:], kwargs)
        out.asker = function_behind(method).symbol
        out.asked.append([found for _, atom in alternatives(m, answer) for found in _answers(m, atom)])
        return answer

    cls.attrs[ASKED] = Descriptor("classmethod", Native(ASKED, ask))


def _answers(m: Machine, answer: Value) -> Iterator[Answer]:
    """What the platform's answer says of each backend: a list of those that fit, a dict of the others."""
    if not isinstance(answer, tuple) or len(answer) != 2:
        return
    valid, invalid = answer
    for guard, items in alternatives(m, valid.content) if isinstance(valid, ListValue) else ():
        for candidate in items if isinstance(items, tuple) else ():
            yield from _fitting(guard, candidate)
    for shown, held in invalid.entries.values() if isinstance(invalid, DictValue) else ():
        for guard, told in alternatives(m, held):
            if isinstance(told, tuple):
                yield from _refused(m, guard, str(shown.attrs["name"]), told)


def _fitting(guard: Guard, candidate: Value) -> Iterator[Answer]:
    """A candidate: a tuple, named or not, that holds the backend and its priority."""
    parts = candidate.payload if isinstance(candidate, Instance) else candidate
    for backend in parts if isinstance(parts, tuple) else ():
        if isinstance(backend, Instance) and "name" in backend.attrs:
            priority = next(p for p in parts if isinstance(p, int))
            yield Answer(guard, str(backend.attrs["name"]), priority, ())


def _refused(m: Machine, guard: Guard, backend: str, told: tuple[Value, ...]) -> Iterator[Answer]:
    priority, reasons = told
    for under, items in alternatives(m, reasons.content) if isinstance(reasons, ListValue) else ():
        found = tuple(_words(m, item) for item in items) if isinstance(items, tuple) else (describe(items),)
        yield Answer(guard & under, backend, priority, found)


def _words(m: Machine, reason: Value) -> str:
    texts = (text if isinstance(text, str) else describe(text) for _, text in alternatives(m, reason))
    return " or ".join(dict.fromkeys(texts))


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
    for _, atom in alternatives(m, out.value):
        if isinstance(atom, Instance):
            out.parameters += registered(m, atom)
            out.parameters += _cache(walk, atom, head, given["num_kv_heads"])


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


def _cache(walk: Walk, layer: Instance, head: Value, pairs: Value) -> list[tuple[str, Value, Value]]:
    """The cache that is allocated for the layer: ("kv_cache", dtype, shape), or nothing where that cannot be
    told.
    """
    m = walk.m
    dtype = settle(m, layer.attrs.get("kv_cache_torch_dtype", MISSING))
    shapes = [
        facts.attempt(m, partial(_shape, walk, layer, backend, head, pairs))[0]
        for _, backend in alternatives(m, layer.attrs.get("attn_backend", MISSING))
        if isinstance(backend, ClassValue)
    ]
    return [("kv_cache", dtype, shape) for shape in shapes if isinstance(shape, tuple)]


def _shape(walk: Walk, layer: Instance, backend: ClassValue, head: Value, pairs: Value) -> Value:
    """The backend's own word for the shape, or what the layer's spec makes of it, in bytes."""
    m = walk.m
    blocks, size = (Unknown(n, n, None, "int") for n in ("num_blocks", "block_size"))
    ask = attributes.find(m, backend, "get_kv_cache_shape", None)
    if ask is not MISSING:
        name = settle(m, layer.attrs.get("kv_cache_dtype", MISSING))
        return call_value(m, ask, (blocks, size, pairs, head), {"cache_dtype_str": name})
    walk.config.attrs["cache_config"].attrs["block_size"] = size
    spec = call_value(m, attributes.get(m, layer, "get_kv_cache_spec", None), (walk.config,), {})
    return call_value(m, facts.engine_value(m, SHAPE), (spec, blocks), {})
