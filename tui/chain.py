"""The chain from the flag to the kernel, with the panel in which the question is changed."""

from __future__ import annotations

from textual.app import ComposeResult

from ..report.predicate import Site
from .lines import Line, lines_of
from .report_screen import ReportScreen
from .what_if import WhatIf
from .words import said, site_of


class ChainScreen(ReportScreen):
    """Home."""

    title_of = "Chain"

    def compose(self) -> ComposeResult:
        yield from super().compose()
        yield WhatIf(self.explorer.session.fields, unicode=self.explorer.unicode)

    def lines(self) -> list[Line]:
        return lines_of(self.explorer.report)

    def why_empty(self) -> str:
        return "This report has no chain: nothing was asked, or nothing could be read."

    def again_title(self) -> None:
        super().again_title()
        self.query_one(WhatIf).show(self.explorer.asked)

    def again(self) -> None:
        super().again()
        report = self.explorer.report
        self.rows.border_title = "Overview" if report.matrix else "Diff" if report.drift else self.title_of

    def point_at(self, site: Site | None, subject: str) -> bool:
        """Choose the first line at a place, else the first that names the subject; whether there is one."""
        lines = self.rows.lines
        at = (n for n, line in enumerate(lines) if site is not None and site_of(line) == site)
        named = (n for n, line in enumerate(lines) if subject in said(line).text())
        number = next(at, next(named, None))
        if number is not None:
            self.rows.go_to(number)
        return number is not None

    def on_what_if_changed(self, message: WhatIf.Changed) -> None:
        self.explorer.ask(message.asked)
