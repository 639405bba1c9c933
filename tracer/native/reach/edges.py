"""What a walk finds: edges down from a function, those to the same end made one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct, structs

from ....report.chain import HopKind
from ....report.predicate import Always, AnyOf, Never, Predicate, Site


class Edge(Struct, frozen=True):
    """One step down: what is reached, under what condition, and what lies below."""

    kind: HopKind
    symbol: str
    site: Site | None
    """Where it is defined; of what is outside, where it is called."""
    called: Site
    guard: Predicate = Always()
    below: tuple[Edge, ...] = ()
    handed: tuple[str, ...] = ()
    """Functions of the tree and truths among a kernel's template arguments."""
    note: str | None = None
    own: frozenset[str] = frozenset()
    """The names that stand for something else below than where it is called: parameters, locals."""


def merged(edges: Iterable[Edge]) -> Iterator[Edge]:
    """Edges to the same thing with the same below made one, its guard any of theirs."""
    kept: dict[object, list[Edge]] = {}
    for edge in edges:
        if not isinstance(edge.guard, Never):
            kept.setdefault((edge.kind, edge.symbol, edge.site, edge.below, edge.handed), []).append(edge)
    for same in kept.values():
        guards = list(dict.fromkeys(edge.guard for edge in same))
        first = same[0]
        guard = Always() if Always() in guards else guards[0] if len(guards) == 1 else AnyOf(tuple(guards))
        own = frozenset(name for edge in same for name in edge.own)
        note = first.note if all(edge.note == first.note for edge in same) else None
        yield structs.replace(first, guard=guard, own=own, note=note)


def terminals(edges: Iterable[Edge], path: tuple[Edge, ...] = ()) -> Iterator[tuple[Edge, tuple[Edge, ...]]]:
    """Each end of a walk, with the edges that lead to it."""
    for edge in edges:
        if edge.kind is HopKind.HOST_FUNCTION:
            yield from terminals(edge.below, (*path, edge))
        else:
            yield edge, path
