"""QT101: every outcome of a chain is an exception, so the engine refuses the scenario."""

from __future__ import annotations

from collections.abc import Iterator

from ..report.model import Finding, Report, Verdict
from ..report.predicate import Member, Not
from ..report.registry import lookup
from .causes import Cause, causes
from .examples import ACCEPTED, refused, relieved, report, unknown
from .refusals import unknown_value

RULE = lookup("QT101")


def check(report: Report) -> Iterator[Finding]:
    """One finding for each set of refusals that whole chains end in, naming the layers that share it.

    Silent where the value itself is unknown (QT103 says so), and where a rule knows more of the cause.
    """
    for cause in causes(report, RULE.id):
        outcomes = (outcome for chain in cause.chains for outcome in chain.outcomes)
        if not any(unknown_value(outcome, report.question) for outcome in outcomes):
            yield _finding(cause)


def _finding(cause: Cause) -> Finding:
    first = cause.first
    return RULE.finding(
        Verdict.FAIL,
        cause.subject(),
        f"The engine refuses this scenario: {first}",
        expected="a layer method",
        seen=first.exception,
        site=first.site,
        evidence=map(str, (*cause.refusals[1:], *([cause.relief] if cause.relief else []))),
    )


FIRES = (
    report(refused("fp8 no longer supports online quantization.")),
    report(
        refused("needs capability 89.", guard=Member("compute_capability", (75,))),
        refused("needs a checkpoint.", guard=Not(Member("compute_capability", (75,)))),
    ),
    # Another dtype would do, but it is the platform that refuses this one, quantized or not.
    report(refused("no bfloat16."), reliefs=(relieved("dtype", "float16"),)),
)
SILENT = (
    report(ACCEPTED),
    report(ACCEPTED, refused("needs capability 89.", guard=Member("compute_capability", (75,)))),
    report(unknown("fp9", "fp8", "awq"), asked={"quantization": "fp9"}),
    report(),
)
