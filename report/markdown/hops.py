"""The hops of a chain: a flowchart to see the way, and a table that has each with its line and condition."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..model import Hop, Sight
from ..names import counted, short
from ..predicate import Always
from .flowchart import flowchart
from .links import Links
from .pieces import Piece, folded, row, table_head
from .words import code, prose

TITLES = ("hop", "how", "where", "when, note")


def hops(hops: Sequence[Hop], of: str, links: Links) -> Iterator[Piece]:
    """One fold: the picture, then a row a hop, as deep in as the hop is below the first."""
    if not hops:
        return
    chart = flowchart(hops)
    left = f"\n{counted(chart.left_out, 'hop')} left out of the picture.\n" if chart.left_out else ""
    head = f"```mermaid\n{chart.text}```\n{left}\n{table_head(TITLES)}"
    rows = (_row(hop, links) for hop in hops)
    yield folded(f"chain of {of}", f": {counted(len(hops), 'hop')}", head, rows)


def _row(hop: Hop, links: Links) -> str:
    seen = "" if hop.sight is Sight.SOURCE else f", **{hop.sight.replace('_', ' ').lower()}**"
    conditions = [f"when {code(str(hop.guard))}"] if hop.guard != Always() else []
    conditions += [prose(hop.note)] if hop.note else []
    name = f"{'· ' * min(max(hop.depth, 0), 40)}{code(short(hop.symbol))}"
    return row((name, f"{hop.why.replace('_', ' ')}{seen}", links.site(hop.site), "; ".join(conditions)))
