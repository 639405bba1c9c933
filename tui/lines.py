"""A report as lines of a tree, in the order in which they stand: facts only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import NamedTuple

from ..report.cache import Cache
from ..report.matrix import End, Row
from ..report.model import (
    Candidate,
    CandidateState,
    Chain,
    Choice,
    Compared,
    Drift,
    Drifted,
    Elsewhere,
    Finding,
    Fit,
    Hop,
    Only,
    Outcome,
    Parameter,
    Report,
    Step,
    Unsupported,
    Warned,
    Where,
)


class Untaken(NamedTuple):
    """Candidates that the engine did not come to, in a row."""

    candidates: tuple[Candidate, ...]


class Group(NamedTuple):
    """What belongs together below a chain."""

    name: str
    size: int


class Bound(NamedTuple):
    """A bound that the evaluation reached: what is behind it is not known."""

    words: str


class Run(NamedTuple):
    """Neighbouring devices on which a flag has the same ends."""

    row: Row
    devices: str
    """`sm_75-87`."""
    device: str
    """The first of them."""
    ends: tuple[End, ...]


class Met(NamedTuple):
    """Questions for which an outcome changed."""

    devices: str
    """`sm_75-87`."""
    where: Where


About = (
    Chain | Outcome | Hop | Choice | Candidate | Untaken | Group | Parameter | Cache | Fit | Warned
    | Elsewhere | Row | Run | Bound | Finding | Unsupported | Drifted | Met | Only | Compared | Step
)  # fmt: skip


class Line(NamedTuple):
    """One line: how deep it stands, what it is about, and the chain that it is part of."""

    depth: int
    about: About
    chain: Chain | None = None


def lines_of(report: Report) -> list[Line]:
    """Every line of a report; what is folded away is for whoever shows them."""
    out = [*_matrix(report), *(_drift(report.drift) if report.drift is not None else ())]
    below = {operator.symbol: operator.told() for operator in report.operators}
    for chain in report.chains:
        out += (Line(depth, about, chain) for depth, about in _chain(chain, below))
    return out


def _matrix(report: Report) -> Iterator[Line]:
    if report.matrix is None:
        return
    for row in report.matrix.rows:
        yield Line(0, row)
        at = 0
        for devices, ends in report.matrix.runs(row):
            yield Line(1, Run(row, devices, report.matrix.columns[at], ends))
            at += sum(1 for _ in _same(row.cells[at:], ends))


def _drift(drift: Drift) -> Iterator[Line]:
    """Outcomes first, then what only one pin knows, then the hops."""
    for change in drift.changes:
        yield Line(0, change)
        yield from (Line(1, Met(drift.spans(where.devices), where)) for where in change.where)
    yield from (Line(0, only) for only in drift.only)
    for compared in drift.chains:
        yield Line(0, compared)
        yield from (Line(1 + step.depth, step) for step in compared.steps)


def _same(cells: Iterable[tuple[End, ...]], ends: tuple[End, ...]) -> Iterator[tuple[End, ...]]:
    for cell in cells:
        if cell != ends:
            return
        yield cell


def _chain(chain: Chain, below: Mapping[str, tuple[Hop, ...]]) -> Iterator[tuple[int, About]]:
    yield 0, chain
    for outcome in chain.outcomes:
        yield 1, outcome
    yield from _way(chain, dict(below))
    for name, parts in (
        ("parameters", _once(p for outcome in chain.outcomes for p in outcome.parameters)),
        ("cache", _once(o.cache for o in chain.outcomes if o.cache is not None)),
        ("shape gates", chain.fits),
        ("warnings in the log", chain.warnings),
        ("at other pins", chain.elsewhere),
    ):
        if parts:
            yield 1, Group(name, len(parts))
            yield from ((2, part) for part in parts)


def _once(parts: Iterable[About]) -> tuple[About, ...]:
    return tuple(dict.fromkeys(parts))


def _way(chain: Chain, below: dict[str, tuple[Hop, ...]]) -> Iterator[tuple[int, About]]:
    """The hops, each choice below the hop into the function that makes it, and below the first hop to an end
    what is launched there.
    """
    waiting = list(chain.choices)
    for hop in chain.hops:
        yield 1 + hop.depth, hop
        yield from ((1 + hop.depth + each.depth, each) for each in below.pop(hop.symbol, ()))
        for choice in [c for c in waiting if c.function == hop.symbol]:
            waiting.remove(choice)
            yield from _choice(choice, 2 + hop.depth)
    for choice in waiting:
        yield from _choice(choice, 1)


def _choice(choice: Choice, depth: int) -> Iterator[tuple[int, About]]:
    """Every candidate that was asked; the others in one line."""
    yield depth, choice
    for reached, some in groupby(choice.candidates, lambda c: c.state is not CandidateState.NOT_REACHED):
        candidates = tuple(some)
        if reached or len(candidates) == 1:
            yield from ((depth + 1, candidate) for candidate in candidates)
        else:
            yield depth + 1, Untaken(candidates)
            yield from ((depth + 2, candidate) for candidate in candidates)


def untaken(line: Line) -> bool:
    """Whether a line is about what was not taken."""
    about = line.about
    if isinstance(about, Candidate):
        return about.state in (CandidateState.REJECTED, CandidateState.NOT_REACHED)
    return isinstance(about, Untaken)


def at_first(line: Line) -> bool:
    """Whether what is below a line is folded away when a report is opened."""
    return isinstance(line.about, Untaken | Group | Row | Drifted)
