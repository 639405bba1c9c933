"""QT105: the method or its scheme asks for another compute capability than the device has."""

from __future__ import annotations

from collections.abc import Iterator

from ..report.model import Finding, Report, Verdict
from ..report.registry import lookup
from .causes import Cause, causes
from .examples import ACCEPTED, QUANTIZATION, SCHEME, refused, relieved, report

RULE = lookup("QT105")


def check(report: Report) -> Iterator[Finding]:
    """One finding for the layers that share a refusal, with the capabilities that would do."""
    for cause in causes(report, RULE.id):
        yield _finding(report, cause)


def _finding(report: Report, cause: Cause) -> Finding:
    has = report.question.resolved.get("capability")
    enough = ", ".join(map(str, cause.relief.values)) if cause.relief else ""
    who = "A scheme of the method" if any(chain.layers for chain in cause.chains) else "The method"
    return RULE.finding(
        Verdict.FAIL,
        cause.subject(),
        f"{who} does not run on compute capability {has}; it does on {enough}: {cause.first}",
        expected=enough,
        seen=str(has),
        site=cause.first.site,
    )


_NEWER = (relieved("capability", 75, 80),)
FIRES = (
    report(refused("needs capability 75.", within=QUANTIZATION), reliefs=_NEWER),
    report(refused("needs capability 75.", within=SCHEME), layers=("qkv_proj",), reliefs=_NEWER),
)
SILENT = (
    report(ACCEPTED),
    # Refused by the platform, quantized or not.
    report(refused("bfloat16 needs capability 80."), reliefs=_NEWER),
    # Another device would not help.
    report(refused("needs capability 75.", within=QUANTIZATION)),
)
