"""QT902: something on the way could not be evaluated, so its value was taken as unknown."""

from __future__ import annotations

from collections.abc import Iterator

from ..report.model import Coverage, Finding, Report, Unsupported, Verdict
from ..report.names import counted
from ..report.predicate import Site
from ..report.registry import lookup
from .examples import ACCEPTED, report

RULE = lookup("QT902")


def check(report: Report) -> Iterator[Finding]:
    """One finding for the whole report, with every construct and bound as evidence."""
    coverage = report.coverage
    if coverage.whole():
        return
    first = coverage.unsupported[0].site if coverage.unsupported else None
    yield RULE.finding(
        Verdict.OPEN,
        report.question.engine,
        f"Not evaluated: {counted(len(coverage.unsupported), 'construct')}, "
        f"{counted(len(coverage.budgets), 'exhausted bound')}.",
        site=first,
        evidence=(*map(str, coverage.unsupported), *coverage.budgets),
    )


_MATCH = Unsupported(kind="Match", site=Site("vllm/config/model.py", 7), count=2)
FIRES = (
    report(ACCEPTED, coverage=Coverage(modules_read=1, statements=9, unsupported=(_MATCH,))),
    report(ACCEPTED, coverage=Coverage(modules_read=1, statements=9, budgets=("2 s spent",))),
)
SILENT = (report(ACCEPTED, coverage=Coverage(modules_read=1, statements=9)),)
