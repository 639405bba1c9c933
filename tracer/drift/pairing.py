"""Chains of two answers that are about the same layer and checkpoint."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
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


def pairs(here: Report, there: Report) -> Iterator[Pair]:
    """Every two chains that have a layer and a checkpoint in common, in the order of the first answer."""
    found: dict[tuple[int, int], Pair] = {}
    one, other = _cells(here), _cells(there)
    for layer, premise in _both(one, other):
        premises = (premise,) if premise else ()
        for chain, like, names in _alike(_of(one, layer, premise), _of(other, layer, premise)):
            first = found.get((id(chain), id(like)), Pair(layer, names, (), chain, like))
            found[id(chain), id(like)] = first._replace(premises=(*first.premises, *premises))
    yield from found.values()


Cells = dict[tuple[str, str], list[Chain]]
"""The chains by the kind of layer and the checkpoint, which is empty where none is told apart."""


def _both(one: Cells, other: Cells) -> Iterator[tuple[str, str]]:
    """The layers and checkpoints of both; an answer that tells no checkpoints apart is about all."""
    for layer, premise in dict.fromkeys((*one, *other)):
        in_both = _of(one, layer, premise) and _of(other, layer, premise)
        told_apart = any(cell[0] == layer and cell[1] for cell in (*one, *other))
        if in_both and (premise or not told_apart):
            yield layer, premise


def _of(cells: Cells, layer: str, premise: str) -> list[Chain]:
    return cells.get((layer, premise)) or cells.get((layer, ""), [])


def alone(report: Report, met: Iterable[tuple[Chain, tuple[str, ...]]]) -> Iterator[str]:
    """The layers of a report that no pair is about, in words."""
    named: dict[int, set[str]] = {}
    for chain, names in met:
        named.setdefault(id(chain), set()).update(names)
    for chain in report.chains:
        left = [name for name in chain.layers if name not in named.get(id(chain), ())]
        if id(chain) not in named or (named[id(chain)] and left):
            yield ", ".join(left) or chain.layer


def premises_of(report: Report) -> dict[str, None]:
    """The checkpoints that an answer tells of, in its order."""
    return dict.fromkeys(premise for chain in report.chains for premise in chain.premises)


def layers_of(report: Report, layer: str) -> frozenset[str]:
    """The names of all layers of a kind that an answer tells apart."""
    return frozenset(name for chain in report.chains if chain.layer == layer for name in chain.layers)


def _cells(report: Report) -> Cells:
    found: Cells = {}
    for chain in report.chains:
        for premise in chain.premises or ("",):
            found.setdefault((chain.layer, premise), []).append(chain)
    return found


def _alike(here: Sequence[Chain], there: Sequence[Chain]) -> Iterator[tuple[Chain, Chain, tuple[str, ...]]]:
    """Chains about layers of one name, or about all; layers that have another name at the other pin go with
    those that are left there, for they are of the same kind.
    """
    found = [(chain, like, _common(chain.layers, like.layers)) for chain in here for like in there]
    met = [(chain, like) for chain, like, names in found if names is not None]
    for chain, like, names in found:
        if names is not None:
            yield chain, like, names
        elif not any(chain is one for one, _ in met) and not any(like is other for _, other in met):
            yield chain, like, chain.layers


def _common(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...] | None:
    """The layers of both; one that names none is about all."""
    if not one or not other:
        return one or other
    return tuple(name for name in one if name in other) or None
