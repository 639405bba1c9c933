"""Tuned configurations: a table of the files that layers look for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..predicate import Always
from ..tuned import Tuned
from .links import Links
from .pieces import Piece, row, table_head
from .words import code, prose

HEAD = ("tuned configuration", "layer", "shipped", "opened by", "when, unless")


def tuned(found: Sequence[Tuned], links: Links) -> Iterator[Piece]:
    """The table; nothing where no file is looked for."""
    if found:
        rows = tuple(_row(one, links) for one in found)
        yield Piece("tuned configurations", f"\n{table_head(HEAD)}", rows)


def _row(one: Tuned, links: Links) -> str:
    told = [f"when {code(str(one.guard))}"] if one.guard != Always() else []
    told += [f"unless {code(test)}" for test in one.unless]
    return row((code(one.wanted), prose(one.layer), _shipped(one), links.site(one.site), "; ".join(told)))


def _shipped(one: Tuned) -> str:
    if one.shipped is not None:
        return "yes"
    if one.spelt is not None:
        return f"no, but {code(one.spelt)}"
    return f"no; nearest {code(one.nearest[0].rpartition('/')[2])}" if one.nearest else "no"
