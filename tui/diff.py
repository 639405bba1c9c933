"""Two pins: what changed, the same lines and keys as the chain's."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType

from ..report.model import Report
from .lines import Line, lines_of
from .report_screen import ReportScreen


class DiffScreen(ReportScreen):
    """The report at hand against the answer of another pin."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "app.pop_screen", "Back")]
    title_of = "Diff"

    def __init__(self, drift: Report) -> None:
        super().__init__()
        self._drift = drift

    @property
    def report(self) -> Report:
        return self._drift

    def why_empty(self) -> str:
        return "Neither pin has a chain to compare."

    def lines(self) -> list[Line]:
        return lines_of(self._drift)
