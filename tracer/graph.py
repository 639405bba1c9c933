"""The decision graph of a walk: symbols, and why one leads to another, for reach, paths and comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

import networkx as nx
from msgspec import Struct

from ..report.predicate import Predicate, Site
from .choices import registry_of

if TYPE_CHECKING:
    from .engines.walk import Walk
    from .guards import Guard


class Arrow(Struct, frozen=True, order=True):
    """One edge: how `source` leads to `target`, and where the engine says so."""

    source: str
    target: str
    why: str
    """calls, constructs, dispatches, leaves, launches, links (read from text) or candidate (of a choice)."""
    site: Site | None = None


def arrows(walk: Walk) -> dict[Arrow, Guard]:
    """Every arrow of the walk with the guard under which it is followed."""
    m = walk.m
    out: dict[Arrow, Guard] = {}
    for step in walk.links:
        if step.site is not None:
            out[Arrow(step.caller, step.callee, "links", step.site)] = m.space.true
    for edge in m.record.edges:
        arrow = Arrow(edge.caller, edge.callee, edge.why, edge.site)
        out[arrow] = out.get(arrow, m.space.false) | edge.guard
    for selection in m.record.selections:
        for cls in selection.candidates:
            arrow = Arrow(selection.function, cls.symbol, "candidate", selection.site)
            tried = [a.kept for a in selection.attempts if a.cls is cls]
            out[arrow] = out.get(arrow, m.space.false)
            for guard in tried:
                out[arrow] = out[arrow] | guard
    return out


def graph(walk: Walk) -> nx.MultiDiGraph:
    """The walk as a graph; an edge's data are `why`, `site` and `guard` (in the report's language)."""
    out = nx.MultiDiGraph()
    for arrow, guard in arrows(walk).items():
        predicate: Predicate = walk.m.space.predicate(guard)
        out.add_edge(arrow.source, arrow.target, why=arrow.why, site=arrow.site, guard=predicate)
    return out


def registries(walk: Walk) -> dict[str, tuple[str, ...]]:
    """The tables that the walk chose from, with their candidates in order."""
    found = {}
    for selection in walk.m.record.selections:
        name = registry_of(walk.m, selection.candidates)
        if name is not None:
            found[name] = tuple(c.symbol for c in selection.candidates)
    return found
