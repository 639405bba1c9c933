"""QT104: `--quantization` names another method than the checkpoint, which is accepted without the flag."""

from __future__ import annotations

from collections.abc import Iterator

from ..report.model import Finding, Report, Verdict
from ..report.registry import lookup
from .causes import Cause, causes
from .examples import ACCEPTED, QUANTIZATION, refused, relieved, report, unknown
from .refusals import unknown_value

RULE = lookup("QT104")


def check(report: Report) -> Iterator[Finding]:
    """One finding for the flag, with what the checkpoint says and what the engine makes of it alone."""
    for cause in causes(report, RULE.id):
        yield _finding(report, cause)


def _finding(report: Report, cause: Cause) -> Finding:
    asked = report.question.asked.get("quantization")
    own = report.checkpoint.method if report.checkpoint else None
    alone = cause.relief.resolved if cause.relief else None
    says = f"the checkpoint's own config says {own}" if own else "the checkpoint names no method"
    unlisted = any(unknown_value(o, report.question) for chain in cause.chains for o in chain.outcomes)
    return RULE.finding(
        Verdict.FAIL,
        "--quantization",
        f"--quantization {asked} is refused: {says}"
        + (f", and this release has no method {asked}" if unlisted else "")
        + f". Without the flag it is accepted as {alone or 'not quantized'}.",
        expected=alone or own,
        seen=str(asked),
        site=cause.first.site,
        evidence=[str(cause.first)],
    )


_LEFT_OUT = relieved("quantization", None, resolved="fp8")
FIRES = (
    report(refused("(fp8) does not match (awq).", within=QUANTIZATION), reliefs=(_LEFT_OUT,)),
    # The name is unknown to the release too: that is another finding.
    report(unknown("gguf", "fp8", "awq"), asked={"quantization": "gguf"}, reliefs=(_LEFT_OUT,)),
)
SILENT = (
    report(ACCEPTED),
    report(refused("(fp8) does not match (awq).", within=QUANTIZATION)),
    # A layer is refused: the flag was taken, what it leads to does not fit.
    report(refused("no mxfp4 for linear layers."), layers=("o_proj",), reliefs=(_LEFT_OUT,)),
)
