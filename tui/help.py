"""All keys, by what they are about."""

from __future__ import annotations

from typing import ClassVar

from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from .actions import ACTIONS, key_names

PLACES = {"app": "Everywhere", "report": "In the lines", "what_if": "In the what-if panel"}


class Help(ModalScreen[None]):
    """The table of actions; any of the keys that leave."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,question_mark,enter", "dismiss", "Back")]
    DEFAULT_CSS = """
    Help { align: center middle; }
    Help VerticalScroll { width: 90%; max-width: 84; height: 90%; border: round $primary; padding: 0 1;
                          background: $surface; }
    """

    def compose(self) -> ComposeResult:
        with VerticalScroll() as box:
            box.border_title = "Help: Escape leaves it"
            yield Static(table())


def table() -> Table:
    """Keys and what they do."""
    out = Table.grid(padding=(0, 2))
    out.add_column(no_wrap=True)
    out.add_column()
    for place, words in PLACES.items():
        out.add_row(Text(words, "bold"), "")
        for action in (a for a in ACTIONS if a.place == place):
            out.add_row(key_names(action), action.help)
        out.add_row("", "")
    return out
