"""The chain of `--kv-cache-dtype` as facts: from the flag to the attention backend and its cache."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from ..report.model import (
    Cache,
    Candidate,
    CandidateState,
    Chain,
    Choice,
    Hop,
    HopKind,
    Kernel,
    Outcome,
    Parameter,
    Why,
)
from ..report.predicate import Always, Never, Opaque
from .caches import cache_fact
from .engines.vllm_attention import BUILDING, FIELD, FLAG, RESOLVER, Attention
from .engines.vllm_backends import ASKED, Answer
from .engines.vllm_names import one_for_all
from .evaluate.values import ClassValue, Instance, Value
from .hops import Conditions, Marks, hops, is_work, kept, ops
from .outcomes import Parts, class_name, doubted, merged, parameters, refusals, split, turned_down

if TYPE_CHECKING:
    from .engines.walk import Walk
    from .evaluate.machine import Machine
    from .guards import Guard

HELD = (("attn_backend", HopKind.KERNEL_CLASS), ("impl", HopKind.KERNEL_CLASS))
"""Attributes of the attention layer that name what computes it."""


def attention_chain(walk: Walk, found: Attention) -> Chain:
    """The chain of one attention layer."""
    m = walk.m
    m.live = found.live
    ends = _ends(walk, found)
    roles = {k.symbol: HopKind.KERNEL_CLASS for _, end in ends for k in end.kernels}
    roles |= {end.method: HopKind.LAYER_METHOD for _, end in ends if end.method}
    asked = found.asked
    return Chain(
        layer="attention",
        layers=("attn",),
        hops=(*_head(walk, found), *_body(walk, found, Marks(roles, frozenset()))),
        choices=tuple(dict.fromkeys(_choice(m, asked.by, answers) for answers in asked.rounds)),
        outcomes=tuple(replace(end, guard=m.space.predicate(guard)) for guard, end in ends),
    )


def _ends(walk: Walk, found: Attention) -> list[tuple[Guard, Outcome]]:
    m = walk.m
    out = refusals(m, [*walk.raised, *found.raised], m.space.true)
    if found.missing is not None:
        return [*out, (found.live & m.space.atom(found.missing, Opaque(found.missing)), Outcome())]
    if not found.live.is_false:
        named = tuple(dict.fromkeys(parameters(m, found.parameters)))
        parts: Parts = [(found.live, {})]
        for name in ("quant_method", *(name for name, _ in HELD)):
            parts = split(m, parts, name, partial(_read, found, name), _name)
        parts = [
            (under, {**seen, "ops": ops(m.record.edges[slice(*found.edges)], under), "cache": cache})
            for guard, seen in parts
            for under, cache in _cached(walk, found, guard)
        ]
        own = [(guard, _outcome(seen, named)) for guard, seen in merged(parts)]
        own = turned_down(own, refusals(m, found.later, found.live))
        out += doubted(m, one_for_all(walk.scenario, found.name), own)
        m.live = found.live
    if found.abandoned is not None and not found.abandoned.is_false:
        out.append((found.abandoned, Outcome()))
    return out


def _cached(walk: Walk, found: Attention, guard: Guard) -> list[tuple[Guard, Cache | None]]:
    """The caches of the paths of `guard`; None where nothing is known of one."""
    out: list[tuple[Guard, Cache | None]] = []
    left = guard
    for under, made in found.caches:
        part = guard & under
        if not part.is_false:
            out.append((part, cache_fact(walk.m, found, made, part)))
            left = left & ~under
    return out if left.is_false else [*out, (left, None)]


def _outcome(seen: dict[str, Any], named: tuple[Parameter, ...]) -> Outcome:
    kernels = tuple(Kernel(attribute=n, symbol=seen[n]) for n, _ in HELD if seen[n])
    return Outcome(
        method=seen["quant_method"],
        kernels=kernels,
        ops=seen["ops"],
        parameters=named,
        cache=seen["cache"],
    )


def _read(found: Attention, name: str) -> Value:
    return found.value.attrs.get(name) if isinstance(found.value, Instance) else None


def _name(atom: Value) -> str | None:
    return atom.symbol if isinstance(atom, ClassValue) else class_name(atom)


def _head(walk: Walk, found: Attention) -> list[Hop]:
    """From the flag to the dtype that the cache config holds."""
    note = None
    if isinstance(found.resolved, str) and found.resolved != (walk.scenario.kv_cache_dtype or "auto"):
        note = f"resolved: {walk.scenario.kv_cache_dtype or 'auto'} -> {found.resolved}"
    return [
        Hop(kind=HopKind.FLAG, symbol=FLAG, site=found.flag_site, why=Why.READS),
        Hop(
            kind=HopKind.FIELD,
            symbol=f"{walk.arguments}.{FIELD}",
            site=found.field_site,
            why=Why.READS,
            depth=1,
        ),
        Hop(
            kind=HopKind.FUNCTION,
            symbol=RESOLVER,
            site=found.resolver_site,
            why=Why.CALLS,
            depth=2,
            note=note,
        ),
    ]


def _body(walk: Walk, found: Attention, marks: Marks) -> list[Hop]:
    """From the layer to its backend, then what a forward calls to write the cache and to read it."""
    m = walk.m
    conditions = Conditions(m, found.variables, found.live)
    edges = m.record.edges[found.edges[0] : found.edges[1]]
    built = [e for e in edges if e.phase in BUILDING]
    run = [e for e in edges if e.phase == "forward"]
    asks = {e.number for e in built if e.callee.endswith(f".{ASKED}")}
    wanted = {e.number for e in built if e.callee in marks.roles} | asks
    out = list(hops(m, kept(built, wanted), marks, conditions, depth=1))
    work = {e.number for e in run if is_work(e)}
    return out + list(hops(m, kept(run, work), marks, conditions, depth=1))


# --- the choice


def _choice(m: Machine, asker: str, asked: list[Answer]) -> Choice:
    """The backends in the order of their priority: of those that fit, the first is taken."""
    order = sorted(asked, key=lambda answer: answer.priority)
    names = dict.fromkeys(answer.backend for answer in order)
    whole = _union(m, asked)
    candidates = tuple(_candidate(m, asked, name, whole) for name in names)
    return Choice(name="attention backend", function=asker, candidates=candidates)


def _candidate(m: Machine, asked: list[Answer], name: str, whole: Guard) -> Candidate:
    mine = [answer for answer in asked if answer.backend == name]
    fits, taken = _union(m, (a for a in mine if not a.reasons)), m.space.false
    for answer in mine:
        if not answer.reasons:
            before = _union(m, (a for a in asked if not a.reasons and a.priority < answer.priority))
            taken = taken | (answer.guard & ~before)
    reason = " / ".join(dict.fromkeys(text for answer in mine for text in answer.reasons)) or None
    if taken.is_false:
        state = CandidateState.REJECTED if fits.is_false else CandidateState.NOT_REACHED
        return Candidate(symbol=name, state=state, reason=reason, guard=Never())
    guard = m.space.predicate(m.space.simplify(taken, whole))
    state = CandidateState.TAKEN if guard == Always() else CandidateState.POSSIBLE
    return Candidate(symbol=name, state=state, reason=reason, guard=guard)


def _union(m: Machine, answers: Iterable[Answer]) -> Guard:
    out = m.space.false
    for answer in answers:
        out = out | answer.guard
    return out
