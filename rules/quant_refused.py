"""QT101: every outcome of a chain is an exception, so the engine refuses the scenario."""

from __future__ import annotations

from collections.abc import Iterator

from ..report.model import Chain, Finding, Question, Refusal, Report, Verdict
from ..report.predicate import Member, Not
from ..report.registry import lookup
from .caches import refused_by_backends, refused_by_guard
from .examples import ACCEPTED, refused, report, unknown
from .refusals import unknown_value

RULE = lookup("QT101")


def check(report: Report) -> Iterator[Finding]:
    """One finding for each set of refusals that whole chains end in, naming the layers that share it.

    Silent where a rule of its own says what is wrong: an unknown value (QT103), the dtype of a KV cache
    (QT302, QT303).
    """
    layers: dict[tuple[Refusal, ...], list[str]] = {}
    for chain in report.chains:
        if chain.refused() and not _told_elsewhere(chain, report.question):
            refusals = tuple(outcome.refusal for outcome in chain.outcomes if outcome.refusal)
            layers.setdefault(refusals, []).append(chain.layer)
    for refusals, names in layers.items():
        yield _finding(", ".join(names), refusals)


def _told_elsewhere(chain: Chain, question: Question) -> bool:
    if any(unknown_value(outcome, question) for outcome in chain.outcomes):
        return True
    return refused_by_guard(chain, question) or refused_by_backends(chain, question)


def _finding(subject: str, refusals: tuple[Refusal, ...]) -> Finding:
    first = refusals[0]
    return RULE.finding(
        Verdict.FAIL,
        subject,
        f"The engine refuses this scenario: {first}",
        expected="a layer method",
        seen=first.exception,
        site=first.site,
        evidence=map(str, refusals[1:]),
    )


FIRES = (
    report(refused("fp8 no longer supports online quantization.")),
    report(
        refused("needs capability 89.", guard=Member("compute_capability", (75,))),
        refused("needs a checkpoint.", guard=Not(Member("compute_capability", (75,)))),
    ),
)
SILENT = (
    report(ACCEPTED),
    report(ACCEPTED, refused("needs capability 89.", guard=Member("compute_capability", (75,)))),
    report(unknown("fp9", "fp8", "awq"), asked={"quantization": "fp9"}),
    report(),
)
