"""QT103: the asked value is on none of the lists that this pin looks it up in."""

from __future__ import annotations

from collections.abc import Iterator

from ..report.model import Finding, Refusal, Report, Verdict
from ..report.predicate import Member
from ..report.registry import lookup
from .examples import ACCEPTED, refused, report, unknown
from .refusals import asked_value, unknown_value

RULE = lookup("QT103")


def check(report: Report) -> Iterator[Finding]:
    """One finding for each list that the value is missed on, however many chains end there."""
    missed: dict[Member, Refusal] = {}
    for chain in report.chains:
        for outcome in chain.outcomes if chain.refused() else ():
            known = unknown_value(outcome, report.question)
            if known is not None and outcome.refusal is not None:
                missed.setdefault(known, outcome.refusal)
    for known, refusal in missed.items():
        yield _finding(report, known, refusal)


def _finding(report: Report, known: Member, refusal: Refusal) -> Finding:
    value = asked_value(known, report.question)
    pin = report.pins[0] if report.pins else report.question.engine
    return RULE.finding(
        Verdict.FAIL,
        known.name,
        f"{known.name} {value} is unknown to {pin}: {refusal}",
        expected=", ".join(map(str, known.values)),
        seen=str(value),
        site=refusal.site,
    )


FIRES = (report(unknown("fp9", "fp8", "awq"), asked={"quantization": "fp9"}),)
SILENT = (
    report(ACCEPTED),
    # Refused, and the list in the condition does hold the value.
    report(unknown("fp8", "fp8", "awq")),
    report(refused("Unknown quantization method: fp8.")),
    report(),
)
