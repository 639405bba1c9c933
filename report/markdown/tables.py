"""Tables of a chain, a fold each: choices, shape gates, parameters, caches, the same hops at other pins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from ..model import Candidate, CandidateState, Choice, Elsewhere, Fit, Outcome, Parameter
from ..names import binary_size, counted, short
from ..predicate import Always
from ..told import cache_rows
from .links import Links
from .pieces import Piece, folded, row, table_head
from .words import code, prose

T = TypeVar("T")


def choices(choices: Sequence[Choice], of: str, links: Links) -> Iterator[Piece]:
    """Every candidate in the order asked, with what became of it and why."""
    for choice in choices:
        origin = f" from {code(choice.registry)}" if choice.registry else ""
        place = links.site(choice.site)
        where = f"in {code(short(choice.function))}{origin}{f', {place}' if place else ''}\n\n"
        head = where + table_head(("candidate", "became", "reason", "where"))
        rows = (_candidate(candidate, links) for candidate in choice.candidates)
        more = f": {choice.name}, {counted(len(choice.candidates), 'candidate')}"
        yield folded(f"choice of {of}", more, head, rows)


def _candidate(candidate: Candidate, links: Links) -> str:
    state = candidate.state.replace("_", " ")
    taken = f"**{state}**" if candidate.state is CandidateState.TAKEN else state
    when = f" when {code(str(candidate.guard))}" if candidate.state is CandidateState.POSSIBLE else ""
    reason = prose(candidate.reason or "")
    return row((code(short(candidate.symbol)), f"{taken}{when}", reason, links.site(candidate.site)))


def gates(gates: Sequence[Fit], of: str, links: Links) -> Iterator[Piece]:
    """Sizes that leave a remainder, are rounded up or are not known; the even ones are counted."""
    if not gates:
        return
    telling = [gate for gate in gates if gate.left() != 0]
    even = len(gates) - len(telling)
    tail = f"\n{counted(even, 'size')} more, even\n" if even and telling else ""
    head = table_head(("layer", "size", "asked by", "when", "where")) if telling else "all even\n"
    rows = (_gate(gate, links) for gate in telling)
    yield folded(f"shape gates of {of}", f": {counted(len(gates), 'size')}", head, rows, tail)


def _gate(gate: Fit, links: Links) -> str:
    left = gate.left()
    told = str(gate) if gate.padded is not None or left is None else f"{gate} = {left}"
    when = code(str(gate.guard)) if gate.guard != Always() else ""
    return row((code(gate.layer), code(told), code(short(gate.function)), when, links.site(gate.site)))


def parameters(outcomes: Sequence[Outcome], of: str) -> Iterator[Piece]:
    """One table for all outcomes that give the layer the same parameters."""
    for parameters, numbers in _shared((outcome.parameters or None) for outcome in outcomes):
        head = table_head(("parameter", "dtype", "shape", "bytes"))
        more = f"{_which(numbers, outcomes)}: {counted(len(parameters), 'tensor')}"
        yield folded(f"parameters of {of}", more, head, map(_parameter, parameters))


def _parameter(parameter: Parameter) -> str:
    size = parameter.size()
    shape = code(f"[{', '.join(map(str, parameter.shape))}]")
    return row(
        (code(parameter.name), code(parameter.dtype), shape, "" if size is None else binary_size(size))
    )


def caches(outcomes: Sequence[Outcome], of: str) -> Iterator[Piece]:
    """One table for all outcomes that keep keys and values in the same cache."""
    for cache, numbers in _shared(outcome.cache for outcome in outcomes):
        rows = (row((prose(label), prose(text))) for label, text in cache_rows(cache))
        yield folded(f"cache of {of}", _which(numbers, outcomes), table_head(("cache", "")), rows)


def elsewhere(hops: Sequence[Elsewhere], of: str, links: Links) -> Iterator[Piece]:
    """What became of hops at other pins."""
    if not hops:
        return
    head = table_head(("pin", "hop", "became", "where"))
    rows = (
        row(
            (
                prose(hop.version),
                code(short(hop.symbol)),
                str(hop.change),
                links.elsewhere(hop.site, hop.version),
            )
        )
        for hop in hops
    )
    yield folded(f"other pins of {of}", f": {counted(len(hops), 'hop')}", head, rows)


def _shared(things: Iterable[T | None]) -> Iterator[tuple[T, list[int]]]:
    """Each thing with the numbers, from 1, of the outcomes that have it."""
    numbers: dict[T, list[int]] = {}
    for number, thing in enumerate(things, 1):
        if thing is not None:
            numbers.setdefault(thing, []).append(number)
    yield from numbers.items()


def _which(numbers: Sequence[int], outcomes: Sequence[Outcome]) -> str:
    return f", outcome {', '.join(map(str, numbers))}" if len(outcomes) > 1 else ""
