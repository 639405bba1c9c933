"""The table of ends: a row for each value of the flag, or one for each checkpoint with its ends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ..matrix import End, Matrix, Row
from ..names import counted
from ..outcome import NOWHERE
from ..standing import Standing
from .pieces import Piece, row, table_head
from .words import code, prose

MARKS = {Standing.ACCEPTED: "yes", Standing.REFUSED: "no", Standing.OPEN: "?"}


def matrix(matrix: Matrix) -> Piece:
    """The table; `?` is what something unknown decides."""
    if matrix.merged:
        head = table_head((code("--quantization"), *matrix.columns, "reaches"))
        rows = (row((code(each.flag), *_marks(each), _reached(each))) for each in matrix.rows)
    else:
        head = table_head((code("--quantization"), "checkpoint", "ends"))
        rows = (
            row((code(each.flag), prose("; or ".join(each.premises)), "<br>".join(_ends(matrix, each))))
            for each in matrix.rows
        )
    return Piece("table", f"\n{head}", tuple(rows))


def verdict(matrix: Matrix) -> str:
    """`**30 values of --quantization** on 12 devices: 250 accepted, 60 refused, 50 open`."""
    counts = Counter(standing for each in matrix.rows for standing in each.standings())
    flags = counted(len({each.flag for each in matrix.rows}), "value")
    told = ", ".join(f"{counts[standing]} {standing}" for standing in Standing if counts[standing])
    return f"**{flags} of {code('--quantization')}** on {counted(len(matrix.columns), 'device')}: {told}"


def _marks(each: Row) -> Iterator[str]:
    return (MARKS[standing] for standing in each.standings())


def _reached(each: Row) -> str:
    return ", ".join(map(code, each.accepted()))


def _ends(matrix: Matrix, each: Row) -> Iterator[str]:
    for span, ends in matrix.runs(each):
        yield f"{prose(span)}: {' or '.join(map(_end, ends)) or NOWHERE}"


def _end(end: End) -> str:
    if end.standing is Standing.REFUSED:
        return f"refused ({code(end.symbol)})"
    return code(end.symbol) if end.symbol else NOWHERE
