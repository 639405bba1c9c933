"""Chains of layers of a built model as facts: experts, embeddings and the head."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ..report.model import Chain, Choice, Hop, HopKind, Kernel, Outcome
from ..report.predicate import Opaque
from .choices import choices
from .engines.vllm_asked import stands_for
from .engines.vllm_model import Model, Module
from .engines.vllm_picks import SELECT
from .evaluate.unions import alternatives
from .evaluate.values import ClassValue, Instance, Value
from .fits import fits
from .hops import Conditions, Marks, hops, kept
from .outcomes import Parts, class_name, doubted, merged, parameters, refusals, split, stands_for_all

if TYPE_CHECKING:
    from .engines.walk import Walk
    from .evaluate.fits import Fit
    from .guards import Guard

Ends = list[tuple["Guard", Outcome]]


def built_chains(walk: Walk, model: Model | None, kind: str) -> tuple[Chain, ...]:
    """One chain for the layers of a kind that agree; one that says so where there are none."""
    if model is None or not model.modules.get(kind):
        return (Chain(layer=kind, hops=(), outcomes=_none(walk, model, kind)),)
    groups: dict[tuple[str, ...], list[Module]] = {}
    for module in model.modules[kind]:
        groups.setdefault(_alike(module), []).append(module)
    return tuple(_chain(walk, model, kind, modules) for modules in groups.values())


def _alike(module: Module) -> tuple[str, ...]:
    """What layers share that are told together: class and parameters."""
    return (module.value.cls.symbol, *(f"{n} {d} {s}" for n, d, s in module.parameters))


def _none(walk: Walk, model: Model | None, kind: str) -> tuple[Outcome, ...]:
    """Refusals of the configuration or of building the model, or that it has no such layer."""
    space = walk.m.space
    raised = [] if model is None else model.raised
    unlike = None if model is None else model.blocks.unlike
    ends = refusals(walk.m, walk.raised, space.true)
    ends += doubted(walk.m, unlike, refusals(walk.m, raised, space.true))
    if not ends:
        why = "the release knows the architecture" if model is None else f"the model has {kind}"
        ends = [(space.atom(why, Opaque(why)), Outcome())]
    return tuple(replace(end, guard=space.predicate(guard)) for guard, end in ends)


def _chain(walk: Walk, model: Model, kind: str, modules: list[Module]) -> Chain:
    m, first = walk.m, modules[0]
    own = stands_for_all(m, stands_for(walk, first.name), _ends(walk, first))
    own = doubted(m, model.blocks.unlike, own)
    ends = refusals(m, [*walk.raised, *model.raised], m.space.true) + own
    if model.abandoned is not None and not model.abandoned.is_false:
        ends.append((model.abandoned, Outcome()))
    roles = {end.method: HopKind.LAYER_METHOD for _, end in ends if end.method}
    roles |= {k.symbol: HopKind.KERNEL_CLASS for _, end in ends for k in end.kernels}
    found = _choices(walk, model, roles)
    return Chain(
        layer=kind,
        layers=tuple(module.name for module in modules),
        hops=tuple(_hops(walk, model, Marks(roles, frozenset(c.function for c in found)))),
        choices=found,
        outcomes=tuple(replace(end, guard=m.space.predicate(guard)) for guard, end in ends),
        fits=fits(m, kind, _asked(walk, model, first), first.guard),
    )


def _asked(walk: Walk, model: Model, module: Module) -> Iterator[Fit]:
    """Shape gates that a module's own construction comes to."""
    record, owners = walk.m.record, {base.symbol for base in module.value.cls.mro}
    by_number = {edge.number: edge for edge in record.edges[model.edges[0] : model.edges[1]]}
    for fit in record.fits[model.fits[0] : model.fits[1]]:
        at = fit.edge
        while at in by_number:
            edge = by_number[at]
            if edge.callee in owners or edge.callee.removesuffix(".__init__") in owners:
                yield fit
                break
            at = edge.parent


def _ends(walk: Walk, module: Module) -> Ends:
    m = walk.m
    m.live = module.guard
    named = parameters(m, module.parameters)
    parts: Parts = [(module.guard, {})]
    parts = split(m, parts, "config", lambda: walk.quant_config, class_name)
    out: Ends = []
    for guard, seen in parts:
        m.live = guard
        for under, method in alternatives(m, module.value.attrs["quant_method"]):
            for part, kernels in _named(walk, module, method, under):
                end = Outcome(config=seen["config"], method=class_name(method), kernels=kernels)
                out.append((part, replace(end, parameters=named)))
    m.live = module.guard
    return [(guard, seen["end"]) for guard, seen in merged([(g, {"end": e}) for g, e in out])]


def _named(walk: Walk, module: Module, method: Value, guard: Guard) -> list[tuple[Guard, tuple[Kernel, ...]]]:
    """Backends and classes of experts that a method holds, and which of several a forward takes."""
    m = walk.m
    own = method.attrs if isinstance(method, Instance) else {}
    held = {name: value for name, value in own.items() if "backend" in name or name.endswith("_cls")}
    held |= {f"{name}.{SELECT}": value for name, value in module.picks.items() if name in held}
    parts: Parts = [(guard, {})]
    for name in held:
        parts = split(m, parts, name, partial(held.get, name), _shown)
    return [
        (part, tuple(Kernel(attribute=f"quant_method.{n}", symbol=seen[n]) for n in held if seen[n]))
        for part, seen in merged(parts)
    ]


def _shown(atom: Value) -> str | None:
    if isinstance(atom, Instance) and "name" in atom.attrs:
        return f"{atom.cls.symbol}.{atom.attrs['name']}"
    if isinstance(atom, Instance) and isinstance(atom.cls, ClassValue):
        return atom.cls.symbol
    return atom.symbol if isinstance(atom, ClassValue) else None


def _choices(walk: Walk, model: Model, roles: Iterable[str]) -> tuple[Choice, ...]:
    """The rounds in which one of these classes was among the candidates; rounds of one function are one."""
    wanted = set(roles)
    selections = walk.m.record.selections[model.selections[0] : model.selections[1]]
    functions = {s.function for s in selections if any(c.symbol in wanted for c in s.candidates)}
    out: dict[str, Choice] = {}
    for choice in choices(walk.m, [s for s in selections if s.function in functions]):
        before = out.get(choice.function)
        more = () if before is None else before.candidates
        joined = tuple(dict.fromkeys((*more, *choice.candidates)))
        out[choice.function] = replace(before or choice, candidates=joined)
    return tuple(out.values())


def _hops(walk: Walk, model: Model, marks: Marks) -> Iterable[Hop]:
    edges = walk.m.record.edges[model.edges[0] : model.edges[1]]
    wanted = {e.number for e in edges if e.callee in marks.roles or e.callee in marks.choosers}
    conditions = Conditions(walk.m, model.variables, model.live)
    return hops(walk.m, kept(edges, wanted), marks, conditions, depth=1)
