"""What stands beside the lines: the source around the chosen one's place, and below it the labelled facts.

One widget of known size: showing another line draws it again and lays out nothing.
"""

from __future__ import annotations

import textwrap
from functools import lru_cache

from rich.style import Style
from rich.syntax import Syntax
from rich.text import Text
from textual.app import RenderResult
from textual.content import Content
from textual.widget import Widget

from ..report.names import one_line
from ..report.predicate import Site
from ..report.text.page import ASCII
from .facts import Fact, facts_of
from .lines import Line
from .session import Session
from .words import site_of

LANGUAGES = {"py": "python", "cu": "cuda", "cuh": "cuda", "h": "cpp", "hpp": "cpp", "cpp": "cpp"}
LABEL = 12
"""Columns of the labels."""
LEAST = 5
"""Rows that the source has at least, where there is any."""


@lru_cache(maxsize=64)
def split(text: str) -> tuple[str, ...]:
    return tuple(line.rstrip("\r").expandtabs(4) for line in text.split("\n"))


class Beside(Widget):
    """Source and facts; says how to get the source where it is not at hand."""

    DEFAULT_CSS = """
    Beside { padding: 0 1; overflow: hidden; border: round $primary; }
    """

    def __init__(self, session: Session, *, unicode: bool = True) -> None:
        super().__init__(id="beside")
        self._session, self._unicode = session, unicode
        self._site: Site | None = None
        self._lines: tuple[str, ...] = ()
        self._facts: list[Fact] = []

    def show(self, line: Line | None) -> None:
        """Show another line's."""
        site = self._site = None if line is None else site_of(line)
        text = None if site is None else self._session.text(site.path)
        self._lines = () if text is None else split(text)
        self._facts = [] if line is None else facts_of(line)
        self._entitle()
        self.refresh()

    def on_resize(self) -> None:
        self._entitle()

    def _entitle(self) -> None:
        """The place, whose end matters most; as it is, without markup."""
        title, room = one_line(str(self._site or "")), max(8, self.size.width - 6)
        if len(title) > room:
            sign = "…" if self._unicode else "..."
            title = sign + title[len(title) - room + len(sign) :]
        self.border_title = Content(title)

    def render(self) -> RenderResult:
        width, height = self.content_size
        facts = [line for fact in self._facts for line in self._fact(fact, width)]
        if self._site is None:
            above: list[Text] = []
        elif not self._lines:
            above = [Text(line, "dim") for line in self._missing(width)]
        else:
            above = self._excerpt(self._site, max(LEAST, height - len(facts) - 1))
            for line in above:
                line.truncate(width, overflow="ellipsis")
        rule = [Text(("─" if self._unicode else "-") * width, "dim")] if above and facts else []
        out = Text("\n", no_wrap=True, overflow="crop").join([*above, *rule, *facts])
        return out if self._unicode else in_ascii(out)

    def _fact(self, fact: Fact, width: int) -> list[Text]:
        label, text = fact
        rows = textwrap.wrap(text, max(8, width - LABEL), break_on_hyphens=False) or [""]
        labels = [label, *[""] * (len(rows) - 1)]
        return [
            Text.assemble((f"{first:<{LABEL}}", "dim"), row) for first, row in zip(labels, rows, strict=True)
        ]

    def _missing(self, width: int) -> list[str]:
        lines = self._session.missing().splitlines()
        return [part for line in lines for part in textwrap.wrap(line, max(8, width))]

    def _excerpt(self, site: Site, height: int) -> list[Text]:
        first = max(1, min(site.line - height // 3, len(self._lines) - height + 1))
        last = min(len(self._lines), first + height - 1)
        digits = len(str(last))
        theme = "ansi_dark" if self.app.current_theme.dark else "ansi_light"
        language = LANGUAGES.get(site.path.rpartition(".")[2], "text")
        syntax = Syntax("", language, theme=theme, background_color="default")
        shown = syntax.highlight("\n".join(self._lines[first - 1 : last])).split("\n", allow_blank=True)
        out = []
        for number, code in enumerate(shown[: last - first + 1], first):
            here = number == site.line
            mark = "▶" if here else " "
            if here:
                code.stylize(Style(bold=True, reverse=True))
            out.append(Text.assemble((f"{number:>{digits}} {mark} ", "bold" if here else "dim"), code))
        return out


def in_ascii(text: Text) -> Text:
    """A text that any terminal shows; without its colours, for they are counted in characters."""
    plain = text.plain.translate(ASCII | {ord("▶"): ">"})
    return Text(plain.encode("ascii", "backslashreplace").decode(), no_wrap=True, overflow="crop")
