"""QT106: the method does not take the dtype; or float16 is forced on a checkpoint that states bfloat16."""

from __future__ import annotations

from collections.abc import Iterator

from ..report.model import Confidence, Finding, Level, Report, Verdict
from ..report.registry import lookup
from .causes import Cause, causes
from .examples import ACCEPTED, CHECKPOINT, QUANTIZATION, refused, relieved, report

RULE = lookup("QT106")


def check(report: Report) -> Iterator[Finding]:
    """A refused dtype, or one that the checkpoint's activations may overflow."""
    for cause in causes(report, RULE.id):
        yield _refused(report, cause)
    if _forced(report):
        yield _narrower(_takes_wider(report))


def _refused(report: Report, cause: Cause) -> Finding:
    has = report.question.resolved.get("dtype", "the checkpoint's dtype")
    takes = cause.relief.values[0] if cause.relief else None
    method = report.question.resolved.get("quantization")
    return RULE.finding(
        Verdict.FAIL,
        cause.subject(),
        f"{method} does not take activations in {has}; it takes {takes}: {cause.first}",
        expected=str(takes),
        seen=str(has),
        site=cause.first.site,
    )


BFLOAT16 = 80
"""The compute capability from which devices have bfloat16: PTX ISA, `mma` with bf16."""


def _forced(report: Report) -> bool:
    """Whether float16 was asked for and is taken where the quantized checkpoint states bfloat16, which the
    device has.
    """
    own, question = report.checkpoint, report.question
    capability = question.resolved.get("capability")
    if isinstance(capability, int) and capability < BFLOAT16:
        return False
    taken = any(outcome.refusal is None for chain in report.chains for outcome in chain.outcomes)
    forced = question.asked.get("dtype") == question.resolved.get("dtype") == "float16"
    return taken and forced and own is not None and own.method is not None and own.dtype == "bfloat16"


def _takes_wider(report: Report) -> bool:
    """Whether the same question is accepted with bfloat16."""
    reliefs = (relief for chain in report.chains for relief in chain.reliefs)
    return any(relief.name == "dtype" and "bfloat16" in relief.values for relief in reliefs)


def _narrower(advised: bool) -> Finding:
    """A warning where bfloat16 can be had; else a note, since the advice would end in a refusal."""
    watch = "watch the output for one token repeated: that is what an overflow looks like."
    return RULE.finding(
        Verdict.FAIL,
        "--dtype",
        "The checkpoint states bfloat16 and runs in float16: activations above 65504 become infinite.",
        expected="bfloat16",
        seen="float16",
        confidence=Confidence.LIKELY,
        level=Level.WARNING if advised else Level.NOTE,
        fix=f"Leave --dtype out, or {watch}" if advised else watch.capitalize(),
    )


_HALF = {"quantization": "gptq", "dtype": "float16"}
_FLOAT16 = (relieved("dtype", "float16"),)
FIRES = (
    report(refused("bfloat16 is not supported.", within=QUANTIZATION), reliefs=_FLOAT16),
    report(ACCEPTED, asked=_HALF, checkpoint=CHECKPOINT, reliefs=(relieved("dtype", "bfloat16"),)),
    report(ACCEPTED, asked=_HALF, checkpoint=CHECKPOINT),
)
SILENT = (
    report(ACCEPTED),
    # float16 was not asked for: the device has nothing better.
    report(ACCEPTED, asked={}, resolved=_HALF, checkpoint=CHECKPOINT),
    report(ACCEPTED, asked=_HALF, resolved={**_HALF, "capability": 75}, checkpoint=CHECKPOINT),
    # The platform refuses the dtype, quantized or not.
    report(refused("no bfloat16."), reliefs=_FLOAT16),
    report(refused("no.", within=QUANTIZATION), asked=_HALF, checkpoint=CHECKPOINT),
)
