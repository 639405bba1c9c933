"""QT901: more than one outcome stays possible, or the one there is hangs on a condition."""

from __future__ import annotations

from collections.abc import Iterator

from ..report.conditions import deciders
from ..report.model import Chain, Finding, Report, Verdict
from ..report.names import counted
from ..report.predicate import AllOf, Compare, Member, Not
from ..report.registry import lookup
from .examples import ACCEPTED, refused, report

RULE = lookup("QT901")


def check(report: Report) -> Iterator[Finding]:
    """One finding for each undecided chain, with what would decide it."""
    for chain in report.chains:
        if chain.outcomes and not chain.decided():
            yield _finding(chain)


def _finding(chain: Chain) -> Finding:
    names = deciders(*(outcome.guard for outcome in chain.outcomes))
    refusals = sum(outcome.refusal is not None for outcome in chain.outcomes)
    return RULE.finding(
        Verdict.OPEN,
        chain.layer,
        f"The outcome is open: {counted(len(chain.outcomes), 'possible outcome')}"
        + (f", {counted(refusals, 'refusal')} among them" if refusals else "")
        + (f"; decided by {', '.join(names)}" if names else ""),
        evidence=map(str, chain.outcomes),
    )


_OLD = Member("compute_capability", (75,))
FIRES = (
    report(ACCEPTED, refused("needs capability 80.", guard=_OLD)),
    report(refused("needs K.", guard=AllOf((Not(_OLD), Compare("K % 128", "==", "0"))))),
)
SILENT = (
    report(ACCEPTED),
    report(refused("needs capability 80.")),
    report(),
)
