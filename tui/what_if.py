"""The panel in which the question is changed: a line a field, left and right go through what it may be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from rich.text import Text
from textual.app import RenderResult
from textual.binding import BindingType
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from .actions import bindings
from .prompt import Prompt
from .session import Field

UNKNOWN = "unknown"


class WhatIf(Widget, can_focus=True):
    """Fields of the question; hidden until it is asked for."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("what_if")]
    DEFAULT_CSS = """
    WhatIf { dock: bottom; height: auto; max-height: 60%; border: round $primary; padding: 0 1; display: none;
             offset-y: -1; background: $surface; }
    WhatIf.-shown { display: block; }
    WhatIf:focus { border: round $accent; }
    """
    cursor = reactive(0)

    class Changed(Message):
        """Another question is to be asked."""

        def __init__(self, asked: Mapping[str, str]) -> None:
            super().__init__()
            self.asked = asked

    def __init__(self, fields: tuple[Field, ...], *, unicode: bool = True) -> None:
        super().__init__()
        self._fields, self._unicode = fields, unicode
        self.asked: dict[str, str] = {}
        self.border_title = "What if"

    def show(self, asked: Mapping[str, str]) -> None:
        """Show the question that was answered."""
        self.asked = dict(asked)
        self.refresh()

    def render(self) -> RenderResult:
        width = max((len(field.label) for field in self._fields), default=0)
        before, after = ("◂ ", " ▸") if self._unicode else ("< ", " >")
        out = Text(no_wrap=True, overflow="crop")
        for number, field in enumerate(self._fields):
            chosen = number == self.cursor
            value = self.asked.get(field.name)
            out.append(f"{'>' if chosen else ' '} {field.label:<{width}}  ", "bold" if chosen else "")
            out.append(f"{before}{value or UNKNOWN}{after}", "reverse" if chosen else "" if value else "dim")
            out.append(f"  {field.hint}" if chosen and field.hint else "", "dim")
            out.append("\n" if number < len(self._fields) - 1 else "")
        return out

    @property
    def field(self) -> Field:
        """The one that is chosen."""
        return self._fields[self.cursor]

    def _put(self, value: str | None) -> None:
        asked = {name: text for name, text in self.asked.items() if name != self.field.name}
        if value:
            asked[self.field.name] = value
        self.asked = asked
        self.refresh()
        self.post_message(self.Changed(asked))

    def _step(self, by: int) -> None:
        choices = (None, *self.field.choices)
        now = self.asked.get(self.field.name)
        at = choices.index(now) if now in choices else 0
        self._put(choices[(at + by) % len(choices)])

    # --- what can be done

    def action_field(self, by: int) -> None:
        self.cursor = (self.cursor + by) % len(self._fields)

    def action_value(self, by: int) -> None:
        self._step(by)

    def action_type(self) -> None:
        def typed(text: str | None) -> None:
            if text is not None:
                self._put(text)

        field = self.field
        self.app.push_screen(
            Prompt(field.label, self.asked.get(field.name, ""), field.hint, field.choices), typed
        )

    def action_unknown(self) -> None:
        self._put(None)

    def action_close(self) -> None:
        self.remove_class("-shown")
        self.screen.remove_class("-asking")
        self.screen.query_one("#rows").focus()
