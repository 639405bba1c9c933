"""What the rules found: the gravest first, each with what it rests on; Enter goes to the hop."""

from __future__ import annotations

from collections import Counter

from ..report.finding import CALM
from ..report.model import Level
from ..report.names import counted
from ..report.standing import Standing, of_report
from .lines import Bound, Line
from .report_screen import ReportScreen


class FindingsScreen(ReportScreen):
    """The findings of the report, and what could not be read."""

    title_of = "Findings"

    def again(self) -> None:
        super().again()
        counts = Counter(f.level for f in self.explorer.report.findings if f.verdict not in CALM)
        told = (counted(counts[level], level) for level in Level if counts[level])
        self.rows.border_subtitle = ", ".join(told)

    def why_empty(self) -> str:
        report = self.explorer.report
        if report.matrix is not None:
            return (
                "No rule judges a table of questions: press Enter on a device for an answer that is judged."
            )
        if of_report(report) is Standing.OPEN:
            return "No rule found anything amiss. What is open, and what decides it, is in the chain."
        return "No rule found anything amiss."

    def lines(self) -> list[Line]:
        report = self.explorer.report
        order = list(Level)
        found = sorted(report.findings, key=lambda f: (f.verdict in CALM, order.index(f.level), f.rule))
        return [
            *(Line(0, finding) for finding in found),
            *(Line(0, Bound(words)) for words in report.coverage.budgets),
            *(Line(0, gap) for gap in report.coverage.unsupported),
        ]
