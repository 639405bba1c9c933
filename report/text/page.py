"""A page of lines that never outgrow their width: wrapping, shortening, glyphs and colour."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from enum import StrEnum

from ..names import counted, one_line
from ..predicate import Site


class Tone(StrEnum):
    """How a span is painted: an ANSI sequence; nothing is told by colour alone."""

    PLAIN = ""
    HEAD = "\x1b[1m"
    DIM = "\x1b[2m"
    GOOD = "\x1b[32m"
    BAD = "\x1b[31m"
    DOUBT = "\x1b[33m"


Span = tuple[str, Tone]

ASCII = str.maketrans(
    {"✓": "+", "✗": "x", "·": ".", "●": "*", "○": "o", "→": ">", "…": "~", "├": "+", "└": "+", "│": "|"}
)


def _tails(path: str) -> Iterator[str]:
    """The path without its first folder, without its first two, ... down to the file."""
    parts = path.split("/")
    for start in range(1, len(parts)):
        yield "…/" + "/".join(parts[start:])
    if len(parts) == 1:
        yield path


class Page:
    """Collects lines; every text that goes in is made safe to print and every line fits."""

    def __init__(self, width: int, *, color: bool, unicode: bool) -> None:
        self.width = width
        self._color = color
        self._unicode = unicode
        self._lines: list[str] = []
        self._paths = 0
        self._names = 0

    def safe(self, text: str) -> str:
        """`text` on one line, control characters as escapes, and in ASCII if the terminal wants that."""
        text = one_line(text)
        if self._unicode:
            return text
        return text.translate(ASCII).encode("ascii", "backslashreplace").decode()

    def blank(self) -> None:
        self._lines.append("")

    def line(self, *spans: Span, right: Span = ("", Tone.PLAIN)) -> None:
        """One line of `spans`, with `right` at the right edge; below them if there is no room beside."""
        spans = tuple((self.safe(text), tone) for text, tone in spans)
        right = (self.safe(right[0]), right[1])
        left = sum(len(text) for text, _ in spans)
        gap = self.width - left - len(right[0])
        if left > self.width:
            self._hang("".join(text for text, _ in spans))
        elif right[0] and gap < 2:
            self._put(spans)
        else:
            self._put((*spans, (" " * gap if right[0] else "", Tone.PLAIN), right))
            return
        if right[0]:
            self._right(right)

    def wrap(self, text: str, first: str = "", tone: Tone = Tone.PLAIN, first_tone: Tone = Tone.DIM) -> None:
        """`text` after the label `first`, over as many lines as it takes, each as far in as the first."""
        first = self.safe(first)
        indent = len(first) if len(first) <= self.width * 2 // 3 else 4
        if indent != len(first):
            for part in textwrap.wrap(first, self.width):
                self._put(((part, first_tone),))
            first = " " * indent
        body = textwrap.wrap(self.safe(text), self.width - indent, break_on_hyphens=False) or [""]
        for number, part in enumerate(body):
            self._put(((first if number == 0 else " " * indent, first_tone), (part, tone)))

    def name(self, text: str, room: int) -> str:
        """`text` in at most `room` columns: its middle gives way."""
        text = self.safe(text)
        if len(text) <= room:
            return text
        self._names += 1
        head = (room - 1) // 2
        return f"{text[:head]}…{text[len(text) - (room - 1 - head) :]}"

    def site(self, site: Site | None, room: int) -> str:
        """`path:line` in at most `room` columns: leading folders give way, the file and line stay."""
        text = self.safe(str(site)) if site else ""
        if len(text) <= room:
            return text
        self._paths += 1
        tails = _tails(text)
        return next((tail for tail in tails if len(tail) <= room), f"…{text[1 - room :]}")

    def place(self, site: Site | None, room: int) -> str:
        """`path:line` for the right edge: in `room` columns if file and line fit, else for its own line."""
        fits = site is None or any(len(tail) <= room for tail in _tails(str(site)))
        return self.site(site, room if fits else self.width // 2)

    def foot(self) -> None:
        """Says what was shortened."""
        cut = [counted(n, what) for n, what in ((self._paths, "path"), (self._names, "name")) if n]
        if cut:
            self.blank()
            self.wrap(f"shortened with …: {' and '.join(cut)}; --format json has them whole", tone=Tone.DIM)

    def text(self) -> str:
        return "".join(f"{line}\n" for line in self._lines)

    def _hang(self, text: str) -> None:
        """A line that is too long, its rest further in than its start."""
        lead = len(text) - len(text.lstrip())
        for part in textwrap.wrap(
            text, self.width, subsequent_indent=" " * (lead + 4), break_on_hyphens=False
        ):
            self._put(((part, Tone.PLAIN),))

    def _right(self, span: Span) -> None:
        for part in textwrap.wrap(span[0], self.width, break_on_hyphens=False):
            self._put(((" " * (self.width - len(part)), Tone.PLAIN), (part, span[1])))

    def _put(self, spans: tuple[Span, ...]) -> None:
        self._lines.append("".join(self._paint(spans)).rstrip())

    def _paint(self, spans: tuple[Span, ...]) -> Iterator[str]:
        for text, tone in spans:
            yield f"{tone}{text}\x1b[0m" if self._color and tone and text.strip() else text
