"""Who reads a name, as a table."""

from __future__ import annotations

from collections.abc import Iterator

from ..model import Pin
from ..names import counted, short
from ..readers import Reader, Readers
from .links import Links
from .pieces import Piece, row, table_head
from .words import code, prose

TITLES = ("reader", "does", "where", "built where")
HOLDS = {True: "holds", False: "does not hold", None: "open"}


def verdict(told: Readers) -> str:
    """`**3 readers of `VLLM_USE_DEEP_GEMM`**, 1 on the way of the question`."""
    outside = told.outside()
    reached = sum(reader.reached is True for reader in outside)
    hangs = {True: "; the answer hangs on it", False: "; the answer does not hang on it", None: ""}[
        told.decides
    ]
    count = counted(len(outside), "reader")
    asked = any(reader.reached is not None for reader in outside)
    on_way = f", {reached} on the way of the question" if asked else ""
    return f"**{count} of {code(told.name)}**{on_way}{hangs}"


def pieces(told: Readers, pins: tuple[Pin, ...]) -> Iterator[Piece]:
    """Where it is declared, and every reader."""
    links = Links(pins)
    rows = (
        row((prose(each.source), code(short(each.symbol)), links.site(each.site))) for each in told.defined
    )
    yield Piece("declarations", f"\n{table_head(('declared as', 'name', 'where'))}", tuple(rows))
    yield Piece("readers", f"\n{table_head(TITLES)}", tuple(_row(reader, links) for reader in told.readers))


def _row(reader: Reader, links: Links) -> str:
    behind = (f"{code(each.condition)} {HOLDS[each.holds]}" for each in reader.behind)
    mark = " (on the way)" if reader.reached else ""
    return row(
        (f"{code(short(reader.function))}{mark}", reader.role, links.site(reader.site), "<br>".join(behind))
    )
