"""The terminal interface: one report in memory, screens that show it, and one way to ask for another."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from textual.app import App
from textual.binding import Binding, BindingType
from textual.command import CommandPalette
from textual.message import Message
from textual.screen import ModalScreen, Screen

from ..report.errors import QtraceError
from ..report.model import Coverage, Finding, Question, Report
from ..report.predicate import Site
from . import ascii, outside
from .actions import bindings
from .chain import ChainScreen
from .diff import DiffScreen
from .findings import FindingsScreen
from .help import Help
from .lines import Line, Run
from .messages import Answered, Broke, Compared, Heard, Refused
from .palette import Everything
from .prompt import Prompt
from .report_screen import ReportScreen
from .session import Session
from .what_if import WhatIf

NOTHING = Report(
    tool="",
    question=Question(engine="", asked={}, resolved={}),
    pins=(),
    chains=(),
    coverage=Coverage(modules_read=0, statements=0),
)
"""What is shown where there is no report."""
SAVED = "this report came from a file, so nobody can be asked: start `qtrace tui` with a question"


class Explorer(App[None]):
    """Explore a report, and ask for others."""

    TITLE = "qtrace"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("app")]
    MODES: ClassVar[dict[str, str | Callable[[], Screen[Any]]]] = {
        "chain": ChainScreen,
        "findings": FindingsScreen,
    }
    DEFAULT_MODE = "chain"
    COMMANDS = {Everything}  # noqa: RUF012 - textual's own way

    def __init__(
        self,
        session: Session,
        report: Report = NOTHING,
        asked: Mapping[str, str] | None = None,
        *,
        problem: str | None = None,
        unicode: bool = True,
    ) -> None:
        super().__init__()
        self.session, self.report, self.unicode = session, report, unicode
        self.CSS = "" if unicode else ascii.CSS  # type: ignore[misc]  # read from the instance
        self.problem = problem
        """Why there is no report."""
        self.asked = dict(asked or {})
        """The question that `report` answers."""
        self.sought = ""
        self.busy = False
        self.fault: Exception | None = None
        """What is wrong with qtrace itself, once something is."""
        self._number = 0
        self._one = threading.Lock()
        self._copies: tempfile.TemporaryDirectory[str] | None = None

    def get_key_display(self, binding: Binding) -> str:
        """In ASCII, where the terminal shows nothing else."""
        return (
            super().get_key_display(binding)
            if self.unicode
            else ascii.KEYS.get(binding.key, super().get_key_display(binding))
        )

    # --- asking

    def ask(self, asked: Mapping[str, str]) -> None:
        """Ask another question; only the last one that was asked is shown."""
        self._beside(lambda number: Answered(number, self.session.ask(asked), asked))

    def _beside(self, work: Callable[[int], Message]) -> None:
        """Ask in a thread that nobody waits for when the user leaves."""
        self._number += 1
        self._busy(True)
        threading.Thread(target=self._work, args=(self._number, work), daemon=True).start()

    def _work(self, number: int, work: Callable[[int], Message]) -> None:
        with self._one:  # whoever answers is one, and what was asked meanwhile is all that counts
            if number != self._number:
                return
            try:
                self.post_message(work(number))
            except QtraceError as error:
                self.post_message(Refused(number, str(error)))
            except Exception as error:  # told by whoever started the app, with its traceback
                self.post_message(Broke(error))

    def _busy(self, busy: bool) -> None:
        self.busy = busy
        for screen in self._screens():
            screen.again_title()

    def _screens(self) -> Iterator[ReportScreen]:
        """Those that can be seen, the hidden ones below a prompt among them."""
        yield from (screen for screen in self.screen_stack if isinstance(screen, ReportScreen))

    def on_answered(self, message: Answered) -> None:
        if message.number == self._number:
            self.report, self.asked, self.busy = message.report, dict(message.asked), False
            for screen in self._screens():
                screen.again()

    def on_compared(self, message: Compared) -> None:
        if message.number == self._number:
            self._busy(False)
            self.push_screen(DiffScreen(message.report))

    def on_refused(self, message: Refused) -> None:
        if message.number == self._number:
            self._busy(False)
            self.notify(message.why, severity="error", timeout=8, markup=False)

    def on_broke(self, message: Broke) -> None:
        self.fault = message.error
        self.exit()

    def on_heard(self, message: Heard) -> None:
        self.notify(message.words, timeout=5, markup=False)

    def hear(self, words: str) -> None:
        """Show what is said by whoever answers, on any thread."""
        self.post_message(Heard(words))

    # --- what can be done

    def action_chain(self) -> None:
        self._to("chain")

    def action_findings(self) -> None:
        self._to("findings")

    def _to(self, mode: str) -> None:
        while len(self.screen_stack) > 1:
            self.pop_screen()
        if self.current_mode != mode:
            self.switch_mode(mode)

    def action_what_if(self) -> None:
        if not self.session.fields:
            self.notify(SAVED, markup=False)
            return
        self._to("chain")
        self.call_after_refresh(self._what_if)

    def _what_if(self) -> None:
        if isinstance(self.screen, ChainScreen):
            panel = self.screen.query_one(WhatIf)
            panel.add_class("-shown")
            self.screen.add_class("-asking")
            panel.focus()

    def action_diff(self) -> None:
        def pinned(pin: str | None) -> None:
            if pin:
                asked = dict(self.asked)
                self._beside(lambda number: Compared(number, self.session.at(pin, asked)))

        if not self.session.fields:
            self.notify(
                SAVED,
                markup=False,
            )
            return
        if self.report.matrix is not None:
            self.notify("choose a method and a device first: Enter on a device", markup=False)
            return
        self.push_screen(Prompt("diff with", hint="a version, a commit or a folder"), pinned)

    def action_export(self) -> None:
        def named(name: str | None) -> None:
            if not name:
                return
            try:
                self.notify(f"wrote {outside.export(self.session, self.report, name)}", markup=False)
            except QtraceError as error:
                self.notify(str(error), severity="error", timeout=8, markup=False)

        if self.problem is not None:
            self.notify("there is no report to write", markup=False)
            return
        self.push_screen(Prompt("write to", hint="report.json, report.md or report.txt"), named)

    def action_command_palette(self) -> None:
        """The palette; its own words end in a sign that is not in ASCII."""
        if not any(isinstance(screen, ModalScreen) for screen in self.screen_stack):
            self.push_screen(CommandPalette(placeholder="find an action", id="--command-palette"))

    def action_theme(self) -> None:
        self.theme = "textual-light" if self.current_theme.dark else "textual-dark"

    def action_help(self) -> None:
        self.push_screen(Help())

    def enter(self, line: Line) -> bool:
        """Go where a line leads; whether it leads anywhere."""
        if isinstance(line.about, Run):
            self.ask({**self.asked, "quantization": line.about.row.flag, "device": line.about.device})
            return True
        if isinstance(line.about, Finding):
            self._to("chain")
            self.call_after_refresh(self._point_at, line.about)
            return True
        return False

    def _point_at(self, finding: Finding) -> None:
        """Choose the line of the chain that a finding is about: by its place, else by its subject."""
        screen = self.screen
        if isinstance(screen, ChainScreen) and not screen.point_at(finding.site, finding.subject):
            self.notify("no line of the chain is at the finding's place", timeout=3, markup=False)

    def edit(self, site: Site | None) -> None:
        """Open a place in the user's editor."""
        why = self._hindered(site)
        if why is not None:
            self.notify(why, severity="warning", timeout=5, markup=False)

    def _hindered(self, site: Site | None) -> str | None:
        editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
        if site is None:
            return "this line has no place in the source"
        if not editor:
            return "no editor is set: export EDITOR=vi, or press y to copy the place"
        text = self.session.text(site.path)
        if text is None:
            return self.session.missing()
        if self._copies is None:
            self._copies = tempfile.TemporaryDirectory(prefix="qtrace-")
        return outside.edit(self, Path(self._copies.name), site, text, editor)

    def on_unmount(self) -> None:
        if self._copies is not None:
            self._copies.cleanup()
