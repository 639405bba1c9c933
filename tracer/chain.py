"""A walked question as facts: the chain of each layer, those that agree told together."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ..report.model import Chain, Hop, HopKind, Outcome, Warned, Why
from ..report.predicate import Member, Not, Opaque, Site
from .alike import grouped
from .attention import attention_chain
from .built import built_chains
from .choices import choices
from .engines.vllm_model import KINDS
from .evaluate.machine import CERTAIN, ON_PATH
from .evaluate.record import Edge
from .evaluate.unions import alternatives
from .evaluate.values import MISSING, ClassValue, Instance
from .fits import fits
from .guards import Guard
from .hops import Conditions, Marks, hops, is_work, kept
from .outcomes import (
    built,
    doubted,
    dtype_name,
    families,
    merged,
    outcome,
    parameters,
    refusals,
    stands_for_all,
    turned_down,
)
from .rows import by_rows
from .stored import stored

Raised = tuple[Guard, Instance]

if TYPE_CHECKING:
    from .engines.linear import Layer
    from .engines.walk import Walk


MODEL = "model"
"""What a chain is called that is about the model as a whole."""


def chains(walk: Walk) -> tuple[Chain, ...]:
    """The chains of a walk; a question refused before any layer is one chain with its refusals."""
    more = () if walk.attention is None else (attention_chain(walk, walk.attention),)
    if walk.scenario.layer in KINDS and not walk.needs_model and walk.open_end is None:
        return (*_with_head(walk, built_chains(walk, walk.built, walk.scenario.layer)), *more)
    if not walk.layers and more:
        return more
    if not walk.layers:
        early = _refused_early(walk, walk.m.space.true) or _without_checkpoint(walk)
        roles = {o.config: HopKind.CONFIG_CLASS for _, o in early if o.config}
        head = tuple(_head(walk, Marks(roles, frozenset()), walk.m.space.true))
        return (Chain(layer=walk.scenario.layer, hops=head, outcomes=_guarded(walk, early)),)
    made = [_chain(walk, layer) for layer in walk.layers]
    return (*grouped(made), *_refused_model(walk, made), *more)


def _refused_model(walk: Walk, made: list[Chain]) -> tuple[Chain, ...]:
    """What building the model raises and none of the told layers does: the engine does not get further."""
    if walk.built is None:
        return ()
    m, told = walk.m, [end.refusal for chain in made for end in chain.outcomes if end.refusal]
    known = {(refusal.message, refusal.site) for refusal in told}
    ends = [
        (guard, end)
        for guard, end in refusals(m, walk.built.raised, m.space.true)
        if end.refusal is not None and (end.refusal.message, end.refusal.site) not in known
    ]
    ends = doubted(m, walk.built.blocks.unlike, ends)
    if not ends:
        return ()
    if not walk.built.live.is_false:
        ends.append((walk.built.live, Outcome()))
    head = tuple(_head(walk, Marks({}, frozenset()), m.space.true))
    return (Chain(layer=walk.scenario.layer, layers=(MODEL,), hops=head, outcomes=_guarded(walk, ends)),)


def _with_head(walk: Walk, made: tuple[Chain, ...]) -> tuple[Chain, ...]:
    """The way from the flag to the config object before what follows it."""
    configs = {o.config: HopKind.CONFIG_CLASS for c in made for o in c.outcomes if o.config}
    head = tuple(_head(walk, Marks(configs, frozenset()), walk.m.space.true))
    return tuple(replace(chain, hops=(*head, *chain.hops)) for chain in made)


def _without_checkpoint(walk: Walk) -> list[tuple[Guard, Outcome]]:
    """What the flag alone decides: its config class, if a checkpoint says nothing else."""
    space = walk.m.space
    if walk.open_end is not None:
        cut = space.atom("bounds", Opaque(f"what was not read: {walk.open_end}"))
        return [(cut, Outcome())]
    if not walk.needs_model:
        return []
    says = space.atom("checkpoint", Opaque("the checkpoint's quantization_config allows it"))
    ends = []
    for guard, cls in alternatives(walk.m, walk.config_class) if walk.config_class is not MISSING else ():
        ends.append((guard & says, Outcome(config=cls.symbol if isinstance(cls, ClassValue) else None)))
    return ends or [(says, Outcome())]


def _chain(walk: Walk, layer: Layer) -> Chain:
    m = walk.m
    selections = m.record.selections[layer.selections[0] : layer.selections[1]]
    every = [cls for s in selections for cls in s.candidates]
    m.live = layer.live
    ends = _ends(walk, layer, families(every))
    marks = _marks(ends, every, frozenset(s.function for s in selections))
    body = tuple(_body(walk, layer, marks))
    return Chain(
        layer=walk.scenario.layer,
        layers=(layer.name,),
        hops=(*_head(walk, marks, m.space.true), *body),
        choices=choices(m, selections),
        outcomes=_guarded(walk, ends),
        fits=fits(m, layer.name, m.record.fits[layer.fits[0] : layer.fits[1]], layer.live),
        warnings=_warnings(walk, layer),
    )


def ends_of(walk: Walk, layer: Layer | None) -> list[tuple[Guard, Outcome]]:
    """Where the walk of one layer can end, each end under its guard; without a layer, the early refusals."""
    if layer is None:
        return _refused_early(walk, walk.m.space.true)
    selections = walk.m.record.selections[layer.selections[0] : layer.selections[1]]
    return _ends(walk, layer, families(cls for s in selections for cls in s.candidates))


def _ends(walk: Walk, layer: Layer, roots: frozenset[ClassValue]) -> list[tuple[Guard, Outcome]]:
    m = walk.m
    out: list[tuple[Guard, Outcome]] = []
    if not layer.live.is_false:
        named = stored(walk, layer.path, parameters(m, layer.parameters))
        work = _work(walk, layer)
        parts = [
            (part, {**seen, "ops": ops, "dtypes": _dtypes(walk, layer, part)})
            for g, seen in built(m, layer.value, layer.live, roots)
            for cell in _cells(walk, layer, work, g)
            for part, ops in by_rows(m.space, work, cell)
        ]
        for guard, seen in merged(parts):
            out.append((guard, outcome(seen, seen["ops"], named)))
    out = _later(walk, layer, out) + refusals(m, layer.raised, m.space.true)
    if layer.abandoned is not None and not layer.abandoned.is_false:
        out.append((layer.abandoned, Outcome()))
    out = doubted(m, layer.doubt, stands_for_all(m, layer.apart, out))
    return out + _refused_early(walk, m.space.true)


def _cells(walk: Walk, layer: Layer, work: list[Edge], guard: Guard) -> list[Guard]:
    """An end's guard, cut where the engine chooses among functions by what the scenario decides."""
    if not walk.by_function:
        return [guard]
    return Conditions(walk.m, walk.static_variables(layer), layer.live).cells(work, guard)


def _later(walk: Walk, layer: Layer, ends: list[tuple[Guard, Outcome]]) -> list[tuple[Guard, Outcome]]:
    """Ends of the build, and what loading or a forward raises on every path that was read.

    How far tensors are modelled decides whether that is true, so it is told as a condition; only what a
    library's contract says is certain.
    """
    m, out = walk.m, ends
    certain = [(g, e) for g, e in layer.later if CERTAIN in e.attrs]
    out = turned_down(out, refusals(m, _where_it_goes_on(walk, layer, certain), layer.live))
    for at, (guard, end) in enumerate(_as_read(walk, layer, ends)):
        site = end.refusal.site if end.refusal else None
        raises = walk.m.space.atom(
            f"later {at}", Opaque("loading or running the layer raises, as read", None, site)
        )
        out = [*((g if (g & guard).is_false else g & ~raises, o) for g, o in out), (guard & raises, end)]
    return out


def _as_read(walk: Walk, layer: Layer, ends: list[tuple[Guard, Outcome]]) -> list[tuple[Guard, Outcome]]:
    """What is raised on all paths alike; of ends that are cut by function, on all paths to one of them."""
    m = walk.m
    raised = [(g, e) for g, e in layer.later if CERTAIN not in e.attrs]
    if not walk.by_function:
        return refusals(m, [(g, e) for g, e in raised if layer.live.implies(g)], layer.live)
    caught = reduce(or_, (g for g, _ in raised), m.space.false)
    return refusals(m, raised, reduce(or_, (g for g, _ in ends if g.implies(caught)), m.space.false))


def _where_it_goes_on(walk: Walk, layer: Layer, certain: list[Raised]) -> list[Raised]:
    """Exceptions, each also on the paths that are not read to their end: it may be the one met there."""
    unread = walk.m.space.false
    for guard, exc in layer.later:
        unread = unread if CERTAIN in exc.attrs else unread | guard
    return [(_widened(layer, guard, unread, exc), exc) for guard, exc in certain]


def _widened(layer: Layer, guard: Guard, unread: Guard, exc: Instance) -> Guard:
    """Where an exception is met, if what was not read comes to it as well."""
    met_by_all = ON_PATH not in exc.attrs and layer.live.implies(guard | unread)
    return guard | unread if met_by_all else guard


def _refused_early(walk: Walk, under: Guard) -> list[tuple[Guard, Outcome]]:
    """Refusals of the configuration; a flag that the release does not know says which it does."""
    ends = refusals(walk.m, walk.raised, under)
    if walk.knows_method():
        return ends
    unknown = Not(Member("quantization", walk.methods()))
    return [
        (g, replace(o, refusal=replace(o.refusal, guard=unknown) if o.refusal else None)) for g, o in ends
    ]


def _work(walk: Walk, layer: Layer) -> list[Edge]:
    """Calls of operators by a forward."""
    edges = walk.m.record.edges[layer.edges[0] : layer.edges[1]]
    return [e for e in edges if e.phase == "forward" and is_work(e)]


def _dtypes(walk: Walk, layer: Layer, guard: Guard) -> tuple[str, ...] | None:
    """What a forward of these paths makes; None where it was not followed to its end."""
    if "forward" in layer.cut or not walk.used:
        return None
    made = walk.m.record.allocated[layer.allocated[0] : layer.allocated[1]]
    held = [a.dtype for a in made if a.phase == "forward" and not a.guard.disjoint(guard)]
    return tuple(dict.fromkeys(dtype_name(atom) for value in held for _, atom in alternatives(walk.m, value)))


def _warnings(walk: Walk, layer: Layer) -> tuple[Warned, ...]:
    """What the engine logs while it builds and loads the layer, each line once."""
    lines = walk.m.record.lines[layer.lines[0] : layer.lines[1]]
    found: dict[tuple[str, str, Site | None], Guard] = {}
    for line in lines:
        if line.phase != "forward":
            key = (line.text, line.function, line.site)
            found[key] = found.get(key, walk.m.space.false) | line.guard
    return tuple(
        Warned(text=text, function=function, site=site, guard=walk.m.space.predicate(guard))
        for (text, function, site), guard in found.items()
    )


def _guarded(walk: Walk, ends: list[tuple[Guard, Outcome]]) -> tuple[Outcome, ...]:
    space = walk.m.space
    return tuple(replace(end, guard=space.predicate(guard)) for guard, end in ends)


ROLES = (HopKind.CONFIG_CLASS, HopKind.LAYER_METHOD, HopKind.SCHEME)


def _marks(
    ends: list[tuple[Guard, Outcome]], candidates: list[ClassValue], choosers: frozenset[str]
) -> Marks:
    roles = {c.symbol: HopKind.KERNEL_CLASS for c in candidates}
    for _, end in ends:
        held = (end.config, end.method, end.scheme)
        roles |= {symbol: kind for symbol, kind in zip(held, ROLES, strict=True) if symbol}
        roles |= {k.symbol: HopKind.KERNEL_CLASS for k in end.kernels}
    return Marks(roles, choosers)


# --- hops


def _head(walk: Walk, marks: Marks, under: Guard) -> list[Hop]:
    """From the flag to the config object."""
    out = [
        Hop(kind=HopKind.FLAG, symbol="--quantization", site=walk.flag_site, why=Why.READS),
        Hop(
            kind=HopKind.FIELD,
            symbol=f"{walk.arguments}.quantization",
            site=walk.field_site,
            why=Why.READS,
            depth=1,
        ),
    ]
    for step in walk.links:
        out.append(
            Hop(
                kind=HopKind.FUNCTION,
                symbol=step.callee,
                site=step.site,
                why=Why.CALLS,
                depth=2,
                note=walk.note(step.callee) if step.site else "not found in this release",
            )
        )
        out += _config_hops(walk, step.callee, marks, under)
    return out + _config_hops(walk, ".get_quantization_config", marks, under)


def _config_hops(walk: Walk, entry: str, marks: Marks, under: Guard) -> list[Hop]:
    """What an entry function of the configuration does that leads to the config class."""
    m, phase = walk.m, entry.rpartition(".")[2]
    edges = [e for e in m.record.edges if e.phase == phase and e.callee != entry]
    wanted = {e.number for e in edges if _leads_to_config(walk, e, marks, phase)}
    conditions = Conditions(m, [v.name for v in m.space.order.values()], under)
    return list(hops(m, kept(edges, wanted), marks, conditions, depth=3))


def _leads_to_config(walk: Walk, edge: Edge, marks: Marks, phase: str) -> bool:
    callee = edge.callee
    if phase == walk.verifying:
        return callee == walk.rewriter or callee.endswith(".verify_quantization")
    owner, _, name = callee.rpartition(".")
    return marks.roles.get(callee) is HopKind.CONFIG_CLASS or (name == "from_config" and bool(owner))


def _body(walk: Walk, layer: Layer, marks: Marks) -> list[Hop]:
    """From the layer to what its forward calls."""
    m = walk.m
    edges = m.record.edges[layer.edges[0] : layer.edges[1]]
    conditions = Conditions(m, walk.static_variables(layer), layer.live)
    out: list[Hop] = []
    for phase, leads in (
        ("create_weights", lambda e: e.callee in marks.roles or e.callee in marks.choosers),
        ("process_weights_after_loading", is_work),
        ("forward", is_work),
    ):
        part = [e for e in edges if e.phase == phase]
        wanted = {e.number for e in part if leads(e)}
        out += hops(m, kept(part, wanted), marks, conditions, depth=1)
    return out
