"""QT102: the value of `--quantization` that runs is not the one that was typed."""

from __future__ import annotations

from collections.abc import Iterator

from ..report.model import Finding, Report, Verdict, Why
from ..report.predicate import Site
from ..report.registry import lookup
from .examples import ACCEPTED, report

RULE = lookup("QT102")


def check(report: Report) -> Iterator[Finding]:
    """One finding when the flag was given and came to another value."""
    asked = report.question.asked.get("quantization")
    resolved = report.question.resolved.get("quantization")
    if asked is None or resolved is None or asked == resolved:
        return
    yield RULE.finding(
        Verdict.FAIL,
        "--quantization",
        f"--quantization {asked} is rewritten to {resolved} before it is used.",
        expected=str(asked),
        seen=str(resolved),
        site=_site(report),
    )


def _site(report: Report) -> Site | None:
    """Where the chain first says that something overrides what was given."""
    hops = (hop for chain in report.chains for hop in chain.hops)
    return next((hop.site for hop in hops if hop.why is Why.OVERRIDES), None)


FIRES = (report(ACCEPTED, asked={"quantization": "gptq"}, resolved={"quantization": "auto_gptq"}),)
SILENT = (
    report(ACCEPTED, asked={"quantization": "fp8"}, resolved={"quantization": "fp8"}),
    # Not asked: the checkpoint decides, nothing that was typed is rewritten.
    report(ACCEPTED, asked={}, resolved={"quantization": "compressed-tensors"}),
    # Not resolved: the engine refused before, or the value hangs on something unknown.
    report(ACCEPTED, asked={"quantization": "gptq"}, resolved={}),
)
