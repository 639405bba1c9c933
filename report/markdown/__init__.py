"""The Markdown voice: a report as a comment on a pull request, the verdict first, the chains folded away."""

from __future__ import annotations

from collections.abc import Iterator

from ..model import Report
from .chain import details, outcomes
from .drift import pieces as drift
from .findings import findings
from .launches import pieces as launches
from .links import Links
from .matrix import matrix
from .operators import operators
from .pieces import Piece
from .readers import pieces as readers
from .room import fitted
from .top import foot, question, top
from .tuned import tuned

LIMIT = 60_000
"""Characters of the whole; GitHub takes 65,536."""


def render(report: Report, limit: int = LIMIT) -> str:
    """The report in at most `limit` characters; what had no room is told at the foot."""
    return fitted(top(report), tuple(_pieces(report)), foot(report), limit)


def _pieces(report: Report) -> Iterator[Piece]:
    """What stands between top and foot, what matters most first: the end is what gives way."""
    links = Links(report.pins)
    yield question(report)
    if report.matrix is not None:
        yield matrix(report.matrix)
    if report.drift is not None:
        yield from drift(report.drift, report.pins)
    if report.readers is not None:
        yield from readers(report.readers, report.pins)
    if report.launches is not None:
        yield from launches(report.launches)
    yield from findings(report.apart(), links)
    for chain in report.chains:
        yield outcomes(chain, links)
    yield from operators(report.operators, links)
    yield from tuned(report.tuned, links)
    for chain in report.chains:
        yield from details(chain, links)
