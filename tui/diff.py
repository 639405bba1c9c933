"""Two pins: what became of each hop, the same lines and keys as the chain's."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType

from ..report.aligned import aligned
from ..report.model import Report
from .lines import Line, Versus
from .report_screen import ReportScreen


class DiffScreen(ReportScreen):
    """The report at hand against the answer of another pin."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "app.pop_screen", "Back")]
    title_of = "Diff"

    def __init__(self, other: Report) -> None:
        super().__init__()
        self._other = other

    def why_empty(self) -> str:
        return "Neither pin has a chain to compare."

    def lines(self) -> list[Line]:
        here, there = self.explorer.report, self._other
        pins = str(here.pins[0]), str(there.pins[0])
        out: list[Line] = []
        for each in aligned(here, there):
            out.append(Line(0, Versus(*pins, each), each.here or each.there))
            out += (Line(1, end) for end in each.ends)
            out += (Line(1 + pair.hop.depth, pair) for pair in each.pairs)
        return out
