"""vLLM: the whole model, built as the engine builds it, with few of its blocks.

Any architecture is what its own class makes of the checkpoint's config: which layers there are, under which
names, and which method each of them gets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ..evaluate import attributes
from ..evaluate.arguments import Spread
from ..evaluate.atoms import constant
from ..evaluate.calls import call_value, describe_value
from ..evaluate.machine import Dead
from ..evaluate.unions import alternatives, settle
from ..evaluate.values import MISSING, ClassValue, Instance, ListValue, Unknown, Value
from . import platform as facts
from .entering import phase
from .linear import registered, rows_of
from .vllm_checkpoint import model_class
from .vllm_layers import LINEAR
from .vllm_names import alike
from .vllm_picks import picks
from .vllm_updates import settle_config

if TYPE_CHECKING:
    from ..evaluate.kept import Made
    from ..evaluate.machine import Machine
    from ..guards import Guard
    from .vllm_walk import Walk

BUILD = "build_model"
MOST = 4
"""Blocks that are built at most."""
STRIDE = re.compile(r"step|interval|freq|stride|every|period")
"""How a checkpoint's config calls a number after which blocks repeat."""
ROPE = "vllm.model_executor.layers.rotary_embedding.get_rope"
EMBEDDING = "vllm.model_executor.layers.vocab_parallel_embedding"
KINDS = ("experts", "embedding", "lm_head")
"""Kinds of layers that are told of a built model."""
LINEAR_BASE = f"{LINEAR}.LinearBase"
"""What every linear layer of a model derives from."""


class Module(NamedTuple):
    """One layer of the model: under which name, and on which paths it is there."""

    name: str
    value: Instance
    guard: Guard
    parameters: list[tuple[str, Value, Value]]
    picks: dict[str, Value]
    """Of a class of experts that holds several, those that a forward takes; by the method's attribute."""


class Linear(NamedTuple):
    """A linear layer of the model: its name and how the model makes it."""

    name: str
    """Where the model keeps it, which is what the loader goes by; its prefix where the model was refused."""
    made: Made
    guard: Guard
    """The paths on which the model has it."""


class Blocks(NamedTuple):
    """How many blocks are built, and what has to hold where those do not show every kind that there is."""

    number: int
    unlike: str | None


class Model:
    """What became of the model."""

    def __init__(self) -> None:
        self.modules: dict[str, list[Module]] = {}
        """By kind."""
        self.linear: list[Linear] = []
        """Linear layers that no other in the list is like, in the order in which the model makes them."""
        self.blocks = Blocks(0, None)
        self.gated: bool | None = None
        """Whether the experts have a gate; None where they differ, or where that is not known."""
        self.live: Any = None
        self.abandoned: Guard | None = None
        self.raised: list[tuple[Guard, Instance]] = []
        self.edges = (0, 0)
        self.selections = (0, 0)
        self.fits = (0, 0)
        self.variables: tuple[str, ...] = ()


def build_model(walk: Walk, cache_dtype: Value = None) -> Model | None:
    """Build the checkpoint's model; None where its architecture is not known to the release."""
    m, out = walk.m, Model()
    cls = model_class(m, walk.scenario)
    if not isinstance(cls, ClassValue):
        return None
    first = m.record.place()
    _prepare(walk, cache_dtype or walk.scenario.kv_cache_dtype or "auto")
    value: Value = MISSING
    base = facts.engine_value(m, LINEAR_BASE)
    with (
        _few_blocks(walk) as out.blocks,
        suppress(Dead),
        m.record.keeping(base) as made,
        phase(m, BUILD, cls.module.name),
    ):
        value = call_value(m, cls, (), {"vllm_config": walk.config, "prefix": ""})
    out.live, out.raised, out.abandoned = m.live, walk.take_raised(), m.abandoned
    last = m.record.place()
    out.edges, out.fits = (first.edges, last.edges), (first.fits, last.fits)
    out.selections = (first.selections, last.selections)
    out.variables = tuple(v.name for v in m.space.order.values())
    names: dict[int, str] = {}
    if value is not MISSING and not out.live.is_false:
        for module in _modules(m, value, "", out.live, set(), rows_of(walk.scenario)):
            names[id(module.value)] = module.name
            kind = _kind(module.value)
            if kind is not None:
                out.modules.setdefault(kind, []).append(module)
        out.gated = _gated(m, out.modules.get("experts", []))
        m.live = out.live
    out.linear = list(_distinct(m, made, names))
    return out


def _gated(m: Machine, experts: list[Module]) -> bool | None:
    """The engine's own word, a field or a property of what it notes of the experts."""
    told = []
    for module in experts:
        m.live = module.guard
        ask = partial(attributes.get, m, settle(m, module.value.attrs["moe_config"]), "is_act_and_mul", None)
        told.append(facts.attempt(m, ask)[0])
    agreed = [answer for answer in (True, False) if told and all(found is answer for found in told)]
    return agreed[0] if agreed else None


def _distinct(m: Machine, made: list[Made], names: dict[int, str]) -> Iterator[Linear]:
    """Of layers that stand in the same place of different blocks and are made alike, the first."""
    seen: dict[tuple[str, ...], Linear] = {}
    for one in made:
        prefix = settle(m, one.kwargs.get("prefix"))
        if not isinstance(prefix, str) or any(isinstance(a, Spread) for a in one.args):
            continue
        given = (*one.args, *(v for k, v in sorted(one.kwargs.items()) if k != "prefix"))
        like = (one.value.cls.symbol, alike(prefix), *map(partial(described, m), given))
        first = seen.get(like) or Linear(names.get(id(one.value), prefix), one, m.space.false)
        seen[like] = first._replace(guard=first.guard | one.guard)
    yield from seen.values()


def described(m: Machine, value: Value) -> str:
    """An argument in words; a list by what it holds."""
    if isinstance(value, ListValue):
        value = settle(m, value.content)
    if isinstance(value, tuple):
        return f"({', '.join(described(m, item) for item in value)})"
    return describe_value(m, value)


@contextmanager
def _few_blocks(walk: Walk) -> Iterator[Blocks]:
    """Leave as few blocks as show every kind of layer: those that come first may be unlike the others."""
    config = walk.model.attrs["hf_text_config"]
    dense = config.attrs.get("first_k_dense_replace", 0)
    count = config.attrs.get("num_hidden_layers")
    wanted = max(dense + 1 if isinstance(dense, int) else 1, _all_kinds(walk, config, count))
    whole = count if isinstance(count, int) else wanted
    left = min(wanted, MOST, whole)
    config.attrs["num_hidden_layers"] = left
    try:
        shown = left >= min(wanted, whole)
        yield Blocks(left, None if shown else f"blocks after block {left - 1} are like it")
    finally:
        if count is not None:
            config.attrs["num_hidden_layers"] = count


def _all_kinds(walk: Walk, config: Instance, count: Value) -> int:
    """Blocks after which everything that tells the blocks apart has told all kinds that there are.

    That is a list with a kind for each block, a list of the numbers of some blocks, or a stride.
    """
    out = 1
    for name, value in config.attrs.items():
        kinds = settle(walk.m, value.content) if isinstance(value, ListValue) else value
        if isinstance(kinds, tuple | str) and len(kinds) == count and all(map(constant, kinds)):
            out = max(out, *(kinds.index(kind) + 1 for kind in kinds))
        elif isinstance(kinds, tuple) and "layers" in name and _numbers_blocks(kinds, count):
            others = next(at for at in range(len(kinds) + 1) if at not in kinds)
            out = max(out, min(kinds) + 1, others + 1)
        elif STRIDE.search(name) and isinstance(value, int) and not isinstance(value, bool):
            out = max(out, value)
    return out


def _numbers_blocks(items: tuple[Value, ...], count: Value) -> bool:
    """Whether a list holds numbers of blocks."""
    numbers = [i for i in items if isinstance(i, int) and not isinstance(i, bool)]
    return bool(items) and len(numbers) == len(items) and isinstance(count, int) and max(numbers) < count


def _prepare(walk: Walk, cache_dtype: Value) -> None:
    """What no argument was given for is as the engine has it by default; nothing is compiled."""
    m, config = walk.m, walk.config
    config.attrs["quant_config"] = walk.quant_config
    config.attrs["cache_config"].attrs["cache_dtype"] = cache_dtype
    settle_config(walk)
    config.attrs["compilation_config"].attrs["mode"] = 0
    m.world.settings |= {  # a worker builds the model after it has met the others
        "torch.distributed.is_initialized": facts.always(True),
        "torch.distributed.get_world_size": facts.always(walk.scenario.tensor_parallel),
    }
    m.facts[ROPE] = facts.always(Unknown("rotary embedding", "rotary embedding"))


def _modules(
    m: Machine, value: Value, name: str, live: Guard, seen: set[int], rows: Value
) -> Iterator[Module]:
    """Every module below, each once, under the name by which it is reached first."""
    m.live = live
    for guard, atom in alternatives(m, value):
        if not isinstance(atom, Instance) or id(atom) in seen or not _is_module(atom):
            continue
        seen.add(id(atom))
        m.live = guard
        if "quant_method" in atom.attrs:
            yield Module(name, atom, guard, registered(m, atom), picks(m, atom, rows))
        for part, held in _held(m, atom, guard):
            yield from _modules(m, held, f"{name}.{part}" if name else part, guard, seen, rows)


def _held(m: Machine, atom: Instance, guard: Guard) -> Iterator[tuple[str, Value]]:
    """What may be modules: the elements of a list of them, and attributes."""
    m.live = guard
    if isinstance(atom.payload, ListValue):
        for _, items in alternatives(m, atom.payload.content):
            yield from ((str(at), item) for at, item in enumerate(items if isinstance(items, tuple) else ()))
    yield from list(atom.attrs.items())


def _is_module(atom: Instance) -> bool:
    return any(base.symbol == "torch.nn.Module" for base in atom.cls.mro)


def _kind(atom: Instance) -> str | None:
    if "moe_config" in atom.attrs:
        return "experts"
    names = {base.symbol for base in atom.cls.mro}
    if f"{EMBEDDING}.ParallelLMHead" in names:
        return "lm_head"
    return "embedding" if f"{EMBEDDING}.VocabParallelEmbedding" in names else None
