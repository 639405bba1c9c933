"""The two lines at the top: what was read and asked, and how it stands."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from rich.text import Text
from textual.app import RenderResult
from textual.widget import Widget

from ..report.finding import CALM
from ..report.names import counted, one_line
from ..report.question import Value
from ..report.standing import of_report
from ..report.text.chain import MARKS
from .beside import in_ascii

if TYPE_CHECKING:
    from ..report.model import Report
    from .app import Explorer


class Title(Widget):
    """Pin, question, standing, number of findings; what does not fit is cut."""

    DEFAULT_CSS = """
    Title { height: 2; background: $panel; color: $foreground; padding: 0 1; }
    """

    def __init__(self, app: Explorer, report: Callable[[], Report], here: str) -> None:
        super().__init__()
        self._explorer, self._report, self._here = app, report, here

    def render(self) -> RenderResult:
        lines = [self._question(), self._answer()]
        for line in lines:
            line.truncate(self.content_size.width, overflow="ellipsis")
        text = Text("\n", no_wrap=True).join(lines)
        return text if self._explorer.unicode else in_ascii(text)

    def _question(self) -> Text:
        report = self._report()
        pins = ", ".join(map(str, report.pins)) or report.question.engine
        asked = "  ".join(f"{name} {_told(value)}" for name, value in report.question.asked.items())
        if not asked and report.matrix:
            asked = "every method, by device"
        return Text.assemble((f"qtrace  {one_line(pins)}", "bold"), f"   {one_line(asked)}")

    def _answer(self) -> Text:
        report = self._report()
        out = Text(self._here, "bold")
        if report.chains:
            standing = of_report(report)
            out.append(f"   {MARKS[standing][0]} {standing}")
        if report.matrix is None:
            amiss = sum(finding.verdict not in CALM for finding in report.findings)
            out.append(f"   {counted(amiss, 'finding')}")
        if self._explorer.busy:
            out.append("   asking …")
        if report.question.unknown:
            out.append(f"   unknown: {one_line(', '.join(report.question.unknown))}")
        return out


def _told(value: Value) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
