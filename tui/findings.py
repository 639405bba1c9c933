"""What the rules found: the gravest first, each with what it rests on; Enter goes to the hop."""

from __future__ import annotations

from collections import Counter

from ..report.finding import CALM
from ..report.model import Level
from ..report.names import counted
from .lines import Line
from .report_screen import ReportScreen


class FindingsScreen(ReportScreen):
    """The findings of the report, and what could not be read."""

    title_of = "Findings"
    empty = "No rule found anything amiss, and nothing is open."

    def again(self) -> None:
        super().again()
        counts = Counter(f.level for f in self.explorer.report.findings if f.verdict not in CALM)
        told = (counted(counts[level], level) for level in Level if counts[level])
        self.rows.border_subtitle = ", ".join(told)

    def lines(self) -> list[Line]:
        report = self.explorer.report
        order = list(Level)
        found = sorted(report.findings, key=lambda f: (f.verdict in CALM, order.index(f.level), f.rule))
        gaps = [Line(0, gap) for gap in report.coverage.unsupported]
        return [*(Line(0, finding) for finding in found), *gaps]
