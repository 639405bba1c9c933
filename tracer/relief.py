"""What else would be accepted: a refused question asked again with one part of it changed.

That tells what a refusal hangs on without reading its text: the engine is asked, not its words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from ..report.conditions import admitted
from ..report.model import Chain, Relief
from ..report.question import Value
from .engines.vllm_backends import head_sizes
from .engines.vllm_names import whole_layers
from .scenario import CAPABILITIES, Scenario
from .stated import DTYPES as STATED

if TYPE_CHECKING:
    from .engines.walk import Walk

CACHED = "attention"
"""The kind of layer that has a KV cache."""
AUTO = "auto"
"""The value of `--kv-cache-dtype` that leaves it to the engine."""
DTYPES = ("float16", "bfloat16")
"""Activation dtypes that a checkpoint may be run in instead."""


class Asked(NamedTuple):
    """What a changed question came to."""

    resolved: str | None
    """The quantization that the engine resolved."""
    chains: tuple[Chain, ...]
    consulted: frozenset[str]
    """What the engine asked its driver about the device."""


Ask = Callable[[Scenario], Asked]


def relieved(walk: Walk, chains: tuple[Chain, ...], ask: Ask) -> tuple[Chain, ...]:
    """The chains, those that are refused with the first change that turns the refusal."""
    refused = [at for at, chain in enumerate(chains) if chain.refused() and not _built(walk, chain)]
    found = _first(_changes(walk) if refused else (), chains, refused, ask)
    cached = [at for at in refused if chains[at].layer == CACHED]
    more = _first(_unquantized_cache(walk) if cached else (), chains, cached, ask)
    sized = _first(_of_other_sizes(walk) if cached else (), chains, cached, ask)
    taken = [] if any(chain.refused() for chain in chains) else list(range(len(chains)))
    more |= _first(_wider(walk) if taken else (), chains, taken, ask)
    return tuple(
        replace(chain, reliefs=tuple(part[at] for part in (found, more, sized) if at in part))
        for at, chain in enumerate(chains)
    )


Change = tuple[str, tuple[Value, ...], Scenario]


def _first(
    changes: Iterable[Change], chains: tuple[Chain, ...], wanted: list[int], ask: Ask
) -> dict[int, Relief]:
    """The first change that each of the wanted chains is accepted with, by its place."""
    found: dict[int, Relief] = {}
    for name, values, scenario in changes:
        other = ask(scenario)
        for at in wanted:
            taken = [value for value in values if _accepts(other.chains, chains[at], name, value)]
            if at not in found and taken:
                found[at] = Relief(name=name, values=tuple(taken), resolved=other.resolved)
        if len(found) == len(wanted):
            break
    return found


def _built(walk: Walk, chain: Chain) -> bool:
    """Whether layers of the chain are built, so that loading or running them refuses: asking again does not
    go that far.
    """
    return any(layer.name in chain.layers and not layer.live.is_false for layer in walk.layers)


def _wider(walk: Walk) -> Iterator[Change]:
    """With bfloat16, where float16 was asked for and taken: whether that is advice depends on it."""
    model = walk.scenario.model or {}
    wide = any(model.get(name) == "bfloat16" for name in STATED)
    if wide and walk.scenario.dtype == walk.resolved_dtype() == "float16":
        yield "dtype", ("bfloat16",), replace(walk.scenario, dtype="bfloat16")


def _unquantized_cache(walk: Walk) -> Iterator[Change]:
    """With the cache's dtype left to the engine: asked besides, as a device or dtype may do as well."""
    if walk.scenario.kv_cache_dtype not in (None, AUTO):
        yield "kv_cache_dtype", (AUTO,), replace(walk.scenario, kv_cache_dtype=AUTO)


RANK, ROTARY = "kv_lora_rank", "qk_rope_head_dim"
"""What a cached row of latent attention is made of: a head of it has the sum."""


def _of_other_sizes(walk: Walk) -> Iterator[Change]:
    """With the rotary dimensions that a head would have which some backend is written for."""
    model, found = walk.scenario.model or {}, walk.attention
    rank, rotary = model.get(RANK), model.get(ROTARY)
    if found is None or not isinstance(rank, int) or not isinstance(rotary, int):
        return
    for size in head_sizes(walk.m, found.asked):
        if rank < size != rank + rotary:
            config = {**model, ROTARY: size - rank}
            yield ROTARY, (size - rank,), replace(walk.scenario, model=config)


def _changes(walk: Walk) -> Iterator[Change]:
    """(part, values, question), the changes that say most about a refusal first."""
    scenario = walk.scenario
    yield from _completed(walk)
    for size in range(scenario.tensor_parallel - 1, 0, -1):
        if scenario.tensor_parallel % size == 0:
            yield "tp", (size,), replace(scenario, tensor_parallel=size)
    for dtype in DTYPES:
        if dtype != walk.resolved_dtype():
            yield "dtype", (dtype,), replace(scenario, dtype=dtype)
    if scenario.capability is not None:
        others = tuple(c for c in CAPABILITIES if c != scenario.capability)
        other = replace(scenario, capability=None, device_name=None, compute_units=None)
        yield "capability", others, other
    if scenario.quantization is not None and scenario.model is not None:
        yield "quantization", (None,), replace(scenario, quantization=None)


def _completed(walk: Walk) -> Iterator[Change]:
    """With all modules of a fused layer ignored, where the checkpoint ignores some of them."""
    config, added = whole_layers(walk.scenario.model, walk.fused())
    if added:
        yield "ignored modules", (", ".join(added),), replace(walk.scenario, model=config)


def _accepts(made: tuple[Chain, ...], chain: Chain, name: str, value: Value) -> bool:
    """Whether the changed question has an answer for the layers of `chain`."""
    same = [other for other in made if chain.layers and chain.layers[0] in other.layers] or made
    return bool(same) and all(_ends(other, name, value) for other in same)


def _ends(chain: Chain, name: str, value: Value) -> bool:
    """Whether a chain may end in a layer method or kernel where `name` is `value`."""
    return any(
        end.refusal is None
        and (end.method is not None or bool(end.kernels))
        and value in admitted(end.guard, name, (value,))
        for end in chain.outcomes
    )


def asked_of(walk: Walk, chains: tuple[Chain, ...], consulted: frozenset[str]) -> Asked:
    """What is kept of the walk of a changed question."""
    method = walk.model.attrs.get("quantization")
    return Asked(method if isinstance(method, str) else None, chains, consulted)
