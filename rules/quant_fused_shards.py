"""QT107: the checkpoint ignores some of the modules that the engine joins into one layer."""

from __future__ import annotations

from collections.abc import Iterator

from ..report.model import Finding, Report, Verdict
from ..report.registry import lookup
from .causes import Cause, causes
from .examples import ACCEPTED, QUANTIZATION, refused, relieved, report

RULE = lookup("QT107")


def check(report: Report) -> Iterator[Finding]:
    """One finding for the layers that share a refusal, with the modules that would have to be ignored too."""
    for cause in causes(report, RULE.id):
        yield _finding(cause)


def _finding(cause: Cause) -> Finding:
    missing = ", ".join(map(str, cause.relief.values)) if cause.relief else ""
    return RULE.finding(
        Verdict.FAIL,
        cause.subject(),
        f"Parts of one layer are ignored and others quantized; it is accepted with {missing} ignored too: "
        f"{cause.first}",
        expected="all parts ignored, or none",
        seen=f"{missing} quantized",
        site=cause.first.site,
    )


_K = (relieved("ignored modules", "model.layers.0.self_attn.k_proj"),)
FIRES = (report(refused("some but not all.", within=QUANTIZATION), layers=("qkv_proj",), reliefs=_K),)
SILENT = (
    report(ACCEPTED),
    report(refused("some but not all.", within=QUANTIZATION), layers=("qkv_proj",)),
)
