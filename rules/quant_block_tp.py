"""QT110: the ranks' share of a layer is no multiple of the blocks or tiles of its weights."""

from __future__ import annotations

from collections.abc import Iterator

from ..report.model import Finding, Report, Verdict
from ..report.registry import lookup
from .causes import Cause, causes
from .examples import ACCEPTED, SCHEME, refused, relieved, report

RULE = lookup("QT110")


def check(report: Report) -> Iterator[Finding]:
    """One finding for the layers that share a refusal, with the largest size below that fits."""
    for cause in causes(report, RULE.id):
        yield _finding(report, cause)


def _finding(report: Report, cause: Cause) -> Finding:
    asked = report.question.asked.get("tp")
    fits = cause.relief.values[0] if cause.relief else None
    return RULE.finding(
        Verdict.FAIL,
        cause.subject(),
        f"The weights cannot be split over {asked} ranks; {fits} is the largest divisor of it that is "
        f"accepted: {cause.first}",
        expected=f"tensor parallel size {fits}",
        seen=f"tensor parallel size {asked}",
        site=cause.first.site,
    )


_TP = {"tp": 16}
_EIGHT = (relieved("tp", 8),)
FIRES = (report(refused("192 % 128", within=SCHEME), layers=("down_proj",), asked=_TP, reliefs=_EIGHT),)
SILENT = (
    report(ACCEPTED, asked=_TP),
    # The heads cannot be shared, quantized or not.
    report(refused("32 heads over 3 ranks."), asked=_TP, reliefs=_EIGHT),
    report(refused("192 % 128", within=SCHEME), layers=("down_proj",), asked=_TP),
)
