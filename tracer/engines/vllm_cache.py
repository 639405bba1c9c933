"""vLLM: the cache that is allocated for an attention layer, as the engine's own functions size it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from ..evaluate import attributes
from ..evaluate.calls import call_value
from ..evaluate.unions import alternatives, each, each2, join, settle
from ..evaluate.values import MISSING, ClassValue, Instance, ListValue, Token, Unknown, Value
from ..models.tensors import dtype_attribute
from . import platform as facts
from .entering import call
from .vllm_given import BLOCK_SIZE, unless_given

if TYPE_CHECKING:
    from ..evaluate.machine import Machine
    from ..guards import Guard
    from .vllm_walk import Walk

INTERFACE = "vllm.v1.kv_cache_interface"
SHAPE = f"{INTERFACE}.compute_layer_kv_cache_shape_bytes"
MODE = f"{INTERFACE}.get_kv_quant_mode"
LAYOUTS = "vllm.v1.attention.backends.utils"
BINDER = "bind_kv_cache"
"""The layer's method that takes what was allocated for it."""
DEFAULT_BLOCK = "vllm.config.cache.CacheConfig.DEFAULT_BLOCK_SIZE"


class Allocated(NamedTuple):
    """The cache on some paths, as values of the engine; MISSING or unknown where it cannot be told."""

    format: Value
    mode: Value
    dtype: Value
    shape: Value
    layout: Value
    order: Value
    block_size: Value
    page_bytes: Value
    """Bytes of a block."""


def allocated(walk: Walk, layer: Instance) -> list[tuple[Guard, Allocated]]:
    """The cache of a built layer for each backend that it may have."""
    m = walk.m
    out, live = [], m.live
    for guard, backend in alternatives(m, layer.attrs.get("attn_backend", MISSING)):
        if isinstance(backend, ClassValue):
            m.live = guard
            out.append((guard, _of_backend(walk, layer, backend)))
    m.live = live
    return out


def _of_backend(walk: Walk, layer: Instance, backend: ClassValue) -> Allocated:
    m, told = walk.m, partial(_told, walk.m)
    cache = walk.config.attrs["cache_config"]
    form = settle(m, layer.attrs.get("kv_cache_dtype", MISSING))
    size = told(lambda: _block_size(walk))
    cache.attrs["block_size"] = size if isinstance(size, int) else _unknown("block_size")
    spec = told(lambda: _spec(walk, layer, backend))
    layout, order = _layout(walk, backend, spec)
    return Allocated(
        format=form,
        mode=told(lambda: call(m, MODE, form)),
        dtype=_part(m, spec, "dtype"),
        shape=told(lambda: _shape(walk, backend, spec, form)),
        layout=layout,
        order=order,
        block_size=size,
        page_bytes=_part(m, spec, "page_size_bytes"),
    )


def _told(m: Machine, run: Callable[[], Value]) -> Value:
    """What `run` gives, MISSING where it raises or the release has nothing like it."""
    value, raised = facts.attempt(m, run)
    return MISSING if raised else value


def _unknown(name: str) -> Unknown:
    return Unknown(name, name, None, "int")


def _part(m: Machine, atom: Value, name: str) -> Value:
    return _told(m, lambda: each(m, atom, lambda a: attributes.get(m, a, name, None)))


def _block_size(walk: Walk) -> Value:
    """Tokens in a block: the engine starts from a default, and its platform fits that to the backend."""
    m, cache = walk.m, walk.config.attrs["cache_config"]
    default = facts.engine_value(m, DEFAULT_BLOCK)
    cache.attrs["block_size"] = unless_given(walk.scenario, BLOCK_SIZE, default)
    platform = facts.engine_value(m, "vllm.platforms.current_platform")
    update = attributes.get(m, platform, "update_block_size_for_backend", None)
    call_value(m, update, (walk.config,), {})
    return settle(m, cache.attrs["block_size"])


def _spec(walk: Walk, layer: Instance, backend: ClassValue) -> Value:
    """The layer's own description of its cache, which a backend may change."""
    m = walk.m
    spec = call_value(m, attributes.get(m, layer, "get_kv_cache_spec", None), (walk.config,), {})
    change = attributes.find(m, backend, "customize_spec", None)
    return spec if change is MISSING else call_value(m, change, (spec,), {})


def _shape(walk: Walk, backend: ClassValue, spec: Value, form: Value) -> Value:
    """The backend's own word for the shape, or what the spec makes of it."""
    m, blocks = walk.m, Unknown("num_blocks", "num_blocks", None, "int", positive=True)
    ask = attributes.find(m, backend, "get_kv_cache_shape", None)
    if ask is MISSING:
        sizes = call_value(m, facts.engine_value(m, SHAPE), (spec, blocks), {})
        return _elements(m, sizes, _part(m, spec, "dtype"))
    names = ("block_size", "num_kv_heads", "head_size")
    return call_value(m, ask, (blocks, *(_part(m, spec, name) for name in names)), {"cache_dtype_str": form})


def _elements(m: Machine, sizes: Value, dtype: Value) -> Value:
    """A shape whose last dimension counts bytes, in elements."""

    def divided(sizes: Value, dtype: Value) -> Value:
        width = dtype_attribute(dtype, "itemsize") if isinstance(dtype, Token) else None
        if isinstance(sizes, tuple) and isinstance(width, int) and isinstance(sizes[-1], int):
            return (*sizes[:-1], sizes[-1] // width)
        return sizes if width == 1 else MISSING

    return each2(m, sizes, dtype, divided)


def _layout(walk: Walk, backend: ClassValue, spec: Value) -> tuple[Value, Value]:
    """(the engine's name of the order in memory, the order of the shape's dimensions)."""
    m = walk.m
    module = m.world.module(m, LAYOUTS)
    resolve = attributes.find(m, module, "resolve_kv_cache_layout", None)
    if resolve is MISSING:
        name = _told(m, lambda: call(m, f"{LAYOUTS}.get_kv_cache_layout"))
        order = _told(
            m,
            lambda: call_value(m, attributes.get(m, backend, "get_kv_cache_stride_order", None), (), {}),
        )
        return name, order
    found = _told(m, lambda: _resolved(walk, backend, spec))
    return _part(m, found, "name"), _part(m, found, "layer_view_order")


def _resolved(walk: Walk, backend: ClassValue, spec: Value) -> Value:
    """The layout that the engine core resolves from what the backends of its workers support."""
    m, cache = walk.m, walk.config.attrs["cache_config"]
    backends = ListValue((backend,), m.space.true)
    supported = call(m, f"{LAYOUTS}.get_supported_kv_cache_layouts", backends)
    specs = ListValue((spec,), m.space.true)

    def resolve(layouts: Value) -> Value:
        names = tuple(attributes.get(m, layout, "name", None) for layout in layouts)
        workers = ListValue((ListValue(names, m.space.true),), m.space.true)
        cache.attrs["kv_cache_layout"] = None  # nothing is resolved yet
        return call(m, f"{LAYOUTS}.resolve_kv_cache_layout", walk.config, workers, specs)

    return each(m, supported.content, resolve)


def bind(m: Machine, layer: Instance, made: list[tuple[Guard, Allocated]]) -> None:
    """Give the layer its cache, as the engine's runner does once it is allocated: through the layer's own
    method, in the releases that have one.
    """
    known = [(g, c) for g, c in made if c.shape is not MISSING and c.dtype is not MISSING]
    if not len(known) == len(made) > 0:
        return
    cache = join(m, [(g, m.world.models.tensor(m, c.shape, c.dtype)) for g, c in known])
    take = attributes.find(m, layer, BINDER, None)
    if take is MISSING:
        layer.attrs["kv_cache"] = cache
    elif facts.attempt(m, lambda: call_value(m, take, (cache,), {}))[1]:
        layer.attrs["kv_cache"] = Unknown("kv_cache", "kv_cache", None, "tensor")


def layers(walk: Walk) -> Value:
    """How many layers of the model have such a cache, by the engine's own count."""
    m = walk.m
    ask = attributes.get(m, walk.model, "get_num_layers_by_block_type", None)
    return _told(m, lambda: call_value(m, ask, (walk.config.attrs["parallel_config"],), {}))
