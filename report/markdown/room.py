"""Fitting a document into so many characters: what has no room is counted and named."""

from __future__ import annotations

from collections.abc import Sequence

from ..names import counted
from .pieces import Piece

NOTE = 1500
"""Characters kept for the line that says what was left out."""
NAMED = 3
"""Pieces that this line names."""


def fitted(top: str, pieces: Sequence[Piece], foot: str, limit: int) -> str:
    """The document in at most `limit` characters, as far as top and foot themselves leave room."""
    whole = "".join((top, *(piece.text() for piece in pieces), foot))
    if len(whole) <= limit:
        return whole
    room = limit - len(top) - len(foot) - NOTE
    shown: list[str] = []
    cut: list[str] = []
    for piece in pieces:
        text = _as_much_as_fits(piece, room)
        shown.append(text)
        room -= len(text)
        if len(text) < len(piece.text()):
            cut.append(piece.called())
    left = len(whole) - len(top) - len(foot) - sum(map(len, shown))
    return "".join((top, *shown, _note(cut, left), foot))


def _as_much_as_fits(piece: Piece, room: int) -> str:
    """The piece with as many rows as fit; nothing where not even one does."""
    room -= len(piece.head) + len(piece.tail)
    fits = 0
    while fits < len(piece.rows) and room >= len(piece.rows[fits]):
        room -= len(piece.rows[fits])
        fits += 1
    return piece.text(fits) if fits or (not piece.rows and room >= 0) else ""


def _note(cut: Sequence[str], characters: int) -> str:
    named = ", ".join(cut[:NAMED]) + (
        f" and {counted(len(cut) - NAMED, 'part')} more" if len(cut) > NAMED else ""
    )
    told = f"{named}; {characters:,} characters. The JSON has all."
    return f"\n**Left out** for want of room, whole or in part: {told}\n"
