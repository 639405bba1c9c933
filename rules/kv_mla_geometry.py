"""QT305: a check refuses the sizes of the model's attention, in C++ or where the backends are asked."""

from __future__ import annotations

from collections.abc import Iterator

from ..report.model import Finding, Outcome, Refusal, Report, Verdict
from ..report.predicate import Site
from ..report.registry import lookup
from .caches import LAYER, NATIVE, SIZE, in_kernel
from .causes import Cause, causes
from .examples import ACCEPTED, refused, relieved, report

RULE = lookup("QT305")


def check(report: Report) -> Iterator[Finding]:
    """One finding for each attention chain that ends in such refusals alone."""
    for cause in causes(report, RULE.id):
        checks = [refusal for refusal in cause.refusals if in_kernel(refusal)]
        # What stands on a package comes first, what no package mends last.
        yield _finding(cause, checks[0] if checks else cause.refusals[-1], _said(cause, checks))


def _said(cause: Cause, checks: list[Refusal]) -> str:
    if checks:
        return f"A kernel refuses the sizes of the model's attention: {checks[0]}"
    sized = next(relief for relief in cause.reliefs if relief.name == SIZE)
    return f"No attention backend takes the sizes of the model's attention; it is {sized}"


def _finding(cause: Cause, refusal: Refusal, said: str) -> Finding:
    return RULE.finding(
        Verdict.FAIL,
        cause.subject(),
        said,
        expected="an attention layer with the model's sizes",
        seen=str(refusal),
        site=refusal.site,
        evidence=map(str, (*(r for r in cause.refusals if r != refusal), *cause.reliefs)),
    )


_KERNEL = Outcome(
    refusal=Refusal(
        exception="RuntimeError",
        message="pe_dim must be 64 for fp8_ds_mla",
        site=Site(f"{NATIVE}cache_kernels.cu", 827),
    )
)
_BACKENDS = refused("No valid attention backend found.")
_SIZED = (relieved(SIZE, 64),)
_FP8 = {"kv_cache_dtype": "fp8"}
FIRES = (
    report(_KERNEL, asked=_FP8, layer=LAYER, reliefs=_SIZED),
    # Another refusal may come first.
    report(refused("needs a package."), _KERNEL, asked=_FP8, layer=LAYER, reliefs=_SIZED),
    report(_BACKENDS, asked=_FP8, layer=LAYER, reliefs=_SIZED),
)
SILENT = (
    report(ACCEPTED, _KERNEL, asked=_FP8, layer=LAYER),
    # A check of C++ may be about anything.
    report(_KERNEL, asked=_FP8, layer=LAYER),
    report(_BACKENDS, asked=_FP8, layer=LAYER, reliefs=(relieved("kv_cache_dtype", "auto"),)),
    report(_BACKENDS, asked=_FP8, layer=LAYER),
)
