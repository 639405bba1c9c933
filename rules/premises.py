"""Findings where no checkpoint was given: each is judged under what is supposed of one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from msgspec.structs import replace

from ..report.model import Finding, Report, Verdict
from ..report.standing import premises

Judge = Callable[[Report], Iterable[Finding]]


def under_each(report: Report, judge: Judge) -> Iterator[Finding]:
    """The findings of `judge`, once each; what is so under one premise only is open."""
    under = premises(report.chains)
    if not under:
        yield from judge(report)
        return
    found: dict[Finding, tuple[str, ...]] = {}
    for premise in under:
        for finding in dict.fromkeys(judge(_of(report, premise))):
            found[finding] = (*found.get(finding, ()), premise)
    for finding, holds in found.items():
        yield finding if holds == under else _open(finding, holds)


def _of(report: Report, premise: str) -> Report:
    return replace(report, chains=tuple(c for c in report.chains if premise in c.premises))


def _open(finding: Finding, holds: tuple[str, ...]) -> Finding:
    """The finding as one that hangs on the checkpoint."""
    verdict = Verdict.OPEN if finding.verdict is Verdict.FAIL else finding.verdict
    given = "; or ".join(holds)
    return replace(finding, verdict=verdict, message=f"If the checkpoint is {given}: {finding.message}")
