"""Chains of two answers that are about the same layer and checkpoint."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ...report.model import Chain, Report


class Pair(NamedTuple):
    """Two chains, and what both are about."""

    layer: str
    names: tuple[str, ...]
    """Layers by name; empty where neither chain names any."""
    premises: tuple[str, ...]
    """Checkpoints, where none was given."""
    here: Chain
    there: Chain


Cell = tuple[str, str]
"""The kind of layer and the checkpoint; empty where one was given."""


def pairs(here: Report, there: Report) -> Iterator[Pair]:
    """Every two chains that have a layer and a checkpoint in common, in the order of the first answer."""
    found: dict[tuple[int, int], Pair] = {}
    one, other = _cells(here), _cells(there)
    for cell, chains in one.items():
        for chain in chains:
            for like in other.get(cell, ()):
                names = _common(chain.layers, like.layers)
                if names is not None:
                    _add(found, Pair(cell[0], names, (cell[1],) if cell[1] else (), chain, like))
    yield from found.values()


def premises_of(report: Report) -> dict[str, None]:
    """The checkpoints that an answer tells of, in its order."""
    return dict.fromkeys(premise for chain in report.chains for premise in chain.premises)


def layers_of(report: Report, layer: str) -> frozenset[str]:
    """The names of all layers of a kind that an answer tells apart."""
    return frozenset(name for chain in report.chains if chain.layer == layer for name in chain.layers)


def _cells(report: Report) -> dict[Cell, list[Chain]]:
    found: dict[Cell, list[Chain]] = {}
    for chain in report.chains:
        for premise in chain.premises or ("",):
            found.setdefault((chain.layer, premise), []).append(chain)
    return found


def _common(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...] | None:
    """The layers of both; one that names none is about all."""
    if not one or not other:
        return one or other
    return tuple(name for name in one if name in other) or None


def _add(found: dict[tuple[int, int], Pair], pair: Pair) -> None:
    """A pair of the same chains under another checkpoint is one with the first."""
    key = id(pair.here), id(pair.there)
    first = found.get(key)
    found[key] = pair if first is None else first._replace(premises=(*first.premises, *pair.premises))
