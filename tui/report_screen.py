"""A screen with lines at the left, and at the right the source of the chosen one with its facts."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.screen import Screen
from textual.widgets import Footer, Static

from .actions import bindings
from .beside import Beside
from .lines import Line
from .prompt import Prompt
from .rows import Rows
from .title import Title
from .words import site_of

if TYPE_CHECKING:
    from ..report.model import Report
    from ..report.predicate import Site
    from .app import Explorer

NARROW = 110
"""Columns below which the source stands under the lines."""


class ReportScreen(Screen[None]):
    """Lines, source, facts; `lines` of a subclass says which."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("report")]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (NARROW, "-wide")]  # noqa: RUF012 - textual's own way
    CSS_PATH = "report.tcss"
    title_of = "Chain"
    shown: Report | None = None
    """The report that is on the screen."""

    @property
    def explorer(self) -> Explorer:
        """The app, as what it is."""
        app: Explorer = self.app  # type: ignore[assignment]  # textual's type is of any app
        return app

    @property
    def report(self) -> Report:
        """What it is about."""
        return self.explorer.report

    def lines(self) -> list[Line]:
        """What is shown."""
        raise NotImplementedError

    def why_empty(self) -> str:
        """What is said where there is nothing to show."""
        raise NotImplementedError

    def compose(self) -> ComposeResult:
        app = self.explorer
        yield Title(app, lambda: self.report, self.title_of)
        with Horizontal(id="middle"):
            yield Rows(unicode=app.unicode, id="rows")
            yield Beside(app.session, unicode=app.unicode)
        yield Static(id="empty", markup=False)
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self.again()
        self.rows.focus()

    def again(self) -> None:
        """Show the report as it is now."""
        self.shown = self.explorer.report
        self.again_title()
        lines = self.lines()
        self.set_class(not lines, "-empty")
        if not lines:
            self.query_one("#empty", Static).update(self.explorer.problem or self.why_empty())
        self.rows.border_title = self.title_of
        self.rows.show(lines)

    def again_title(self) -> None:
        """Say again what the report is, and whether another one is asked for."""
        self.query_one(Title).refresh()

    def on_screen_resume(self) -> None:
        if not self.is_mounted:
            return
        if self.shown is not self.explorer.report:
            self.again()
        self.again_title()

    @property
    def rows(self) -> Rows:
        return self.query_one(Rows)

    def on_rows_chosen(self, message: Rows.Chosen) -> None:
        self.query_one(Beside).show(message.line)

    @property
    def place(self) -> Site | None:
        """Where the source of the chosen line is."""
        return None if self.rows.line is None else site_of(self.rows.line)

    # --- what can be done

    def action_down(self, by: int) -> None:
        self.rows.move(by or self.rows.page())

    def action_up(self, by: int) -> None:
        self.rows.move(-(by or self.rows.page()))

    def action_top(self) -> None:
        self.rows.move(-len(self.rows.seen))

    def action_bottom(self) -> None:
        self.rows.move(len(self.rows.seen))

    def action_enter(self) -> None:
        if self.rows.line is not None and not self.explorer.enter(self.rows.line):
            self.rows.fold()

    def action_unfold(self) -> None:
        self.rows.fold(False)

    def action_fold(self) -> None:
        self.rows.fold(True)

    def action_fold_all(self) -> None:
        self.rows.fold_all()

    def action_hide_untaken(self) -> None:
        self.rows.hide_untaken()
        state = "left out" if self.rows.hides_untaken else "shown"
        self.notify(f"what was not taken is {state}", timeout=2, markup=False)

    def action_split(self) -> None:
        self.toggle_class("-alone")

    def action_copy(self) -> None:
        site = self.place
        if site is not None:
            self.app.copy_to_clipboard(str(site))
        told = f"copied {site}" if site else "this line has no place in the source"
        self.notify(told, timeout=2, markup=False)

    def action_editor(self) -> None:
        self.explorer.edit(self.place)

    def action_find(self) -> None:
        def found(text: str | None) -> None:
            if text:
                self.explorer.sought = text
                self.action_find_next()

        self.app.push_screen(Prompt("find", self.explorer.sought), found)

    def action_find_next(self) -> None:
        self._find(1)

    def action_find_previous(self) -> None:
        self._find(-1)

    def _find(self, step: int) -> None:
        sought = self.explorer.sought
        if not sought:
            self.action_find()
        elif not self.rows.find(sought, step):
            self.notify(f"nothing has {sought!r}", timeout=3, markup=False)
