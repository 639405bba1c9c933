"""A line to type into, at the foot of the screen; Escape leaves it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.screen import ModalScreen
from textual.suggester import SuggestFromList
from textual.widgets import Input, Label


class Prompt(ModalScreen[str | None]):
    """Asks for a text; gives None where it was left."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Leave")]
    DEFAULT_CSS = """
    Prompt { align: left bottom; background: $background 0%; }
    Prompt > Horizontal { height: 1; background: $panel; }
    Prompt Label { padding: 0 1; text-style: bold; }
    Prompt Input { border: none; height: 1; width: 1fr; background: $panel; }
    """

    def __init__(self, label: str, value: str = "", hint: str = "", suggestions: Iterable[str] = ()) -> None:
        super().__init__()
        self._label, self._value, self._hint = label, value, hint
        self._suggestions = tuple(suggestions)

    def compose(self) -> ComposeResult:
        suggester = SuggestFromList(self._suggestions) if self._suggestions else None
        with Horizontal():
            yield Label(self._label)
            yield Input(self._value, placeholder=self._hint, suggester=suggester)

    def on_input_submitted(self, message: Input.Submitted) -> None:
        self.dismiss(message.value.strip())

    def action_leave(self) -> None:
        self.dismiss(None)
