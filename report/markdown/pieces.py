"""What a document is made of: pieces whose rows can be left out from the end, tables and folds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from .words import prose, summary

NAME = 60
"""Characters of a piece's name."""


class Piece(NamedTuple):
    """A part of the document that may give way; head and tail stand or fall together."""

    name: str
    """What it is called where it is left out: `the chain of linear`."""
    head: str
    rows: tuple[str, ...]
    """Lines, each ending in a newline and each good without those behind it."""
    tail: str = ""

    def called(self) -> str:
        """The name, short and safe to show."""
        return prose(self.name, NAME)

    def text(self, rows: int | None = None) -> str:
        """The piece with its first `rows` rows; with all where no number is given."""
        return f"{self.head}{''.join(self.rows[:rows])}{self.tail}"


def row(cells: Iterable[str]) -> str:
    """A table's row; the cells are safe already."""
    return f"| {' | '.join(cells)} |\n"


def table_head(titles: Iterable[str]) -> str:
    """A table's first two lines."""
    titles = tuple(titles)
    return row(titles) + row("---" for _ in titles)


def folded(name: str, more: str, head: str, rows: Iterable[str], tail: str = "") -> Piece:
    """A piece that is opened by a click on its name, which like `more` may be any text."""
    opening = f"\n<details><summary>{summary(f'{name}{more}')}</summary>\n\n"
    return Piece(name, opening + head, tuple(rows), f"{tail}\n</details>\n")
