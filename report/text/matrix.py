"""The table of ends: a line for each value of the flag, or all its ends device by device."""

from __future__ import annotations

from ..matrix import End, Matrix, Row
from ..outcome import NOWHERE
from ..standing import Standing
from .chain import MARKS
from .page import Page, Span, Tone

FLAG = "--quantization"
LEAST = 16
"""Columns that the names of what is reached take at least; on a narrower page they are left out."""


def matrix(page: Page, matrix: Matrix) -> None:
    """One line for each row where they are merged and the page is wide enough, else a line for each end."""
    page.blank()
    labels = [column.removeprefix("sm_") for column in matrix.columns]
    names = max(len(FLAG), *(len(row.flag) for row in matrix.rows)) + 1
    room = page.width - names - sum(len(label) + 1 for label in labels) - 2
    if matrix.merged and room >= 0:
        _lines(page, matrix, labels, names, room if room >= LEAST else 0)
    else:
        _by_device(page, matrix)
    page.blank()
    page.wrap("✓ accepted, ✗ refused, ? what is not known decides: the checkpoint, packages, or more")


def _lines(page: Page, matrix: Matrix, labels: list[str], names: int, room: int) -> None:
    """Each value of the flag on a line; what it reaches as far as there is room."""
    head = "".join(f" {label}" for label in labels)
    page.line((f"{FLAG:<{names}}{head}{'  reaches' if room else ''}", Tone.HEAD))
    for row in matrix.rows:
        marks: list[Span] = []
        for label, standing in zip(labels, row.standings(), strict=True):
            mark, tone = MARKS[standing]
            marks.append((f"{mark:>{len(label) + 1}}", tone))
        reached = page.name(", ".join(row.accepted()), room) if room else ""
        page.line((f"{row.flag:<{names}}", Tone.PLAIN), *marks, (f"  {reached}", Tone.DIM))


def _by_device(page: Page, matrix: Matrix) -> None:
    flag = ""
    for row in matrix.rows:
        if row.flag != flag:
            page.line((f"{row.flag}", Tone.HEAD))
        flag = row.flag
        if row.premises and not matrix.merged:
            page.wrap("; or ".join(row.premises), "  ", Tone.DOUBT)
        _ends(page, matrix, row)


def _ends(page: Page, matrix: Matrix, row: Row) -> None:
    runs = list(matrix.runs(row))
    width = max(len(span) for span, _ in runs)
    for span, ends in runs:
        found = {end.standing for end in ends}
        mark, tone = MARKS[found.pop() if len(found) == 1 else Standing.OPEN]
        page.wrap("; or ".join(map(_end, ends)) or NOWHERE, f"    {mark} {span:<{width}}  ", first_tone=tone)


def _end(end: End) -> str:
    if end.standing is Standing.REFUSED:
        return f"refused ({end.symbol})"
    return end.symbol or NOWHERE
