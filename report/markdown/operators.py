"""What the ends of chains launch: a table of all, and for each operator the way down."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..model import Hop
from ..names import counted, short
from ..operator import Operator
from ..predicate import Always
from .links import Links
from .pieces import Piece, folded, row, table_head
from .words import code, prose

ENDS = ("end", "launches", "code", "where")
WAY = ("hop", "how", "where", "when, note")


def operators(found: Sequence[Operator], links: Links) -> Iterator[Piece]:
    """The table, then a fold for each operator below which there is more than one hop."""
    if not found:
        return
    rows = tuple(_end(operator, links) for operator in found)
    yield Piece("what is launched", f"\n{table_head(ENDS)}", rows)
    for operator in found:
        way = operator.told()
        if len(way) > 1:
            more = f": {counted(len(way), 'hop')}"
            below = (_hop(hop, links) for hop in way)
            yield folded(f"what {short(operator.symbol)} launches", more, table_head(WAY), below)


def _end(operator: Operator, links: Links) -> str:
    ends = operator.ends()
    launched = ", ".join(code(end.symbol) for end in ends) or "nothing on the GPU"
    held = dict.fromkeys(
        str(end.image.compatibility) for end in ends if end.image and end.image.compatibility
    )
    return row((code(operator.symbol), launched, ", ".join(held), links.site(operator.site)))


def _hop(hop: Hop, links: Links) -> str:
    told = [f"when {code(str(hop.guard))}"] if hop.guard != Always() else []
    told += [f"code {prose(str(hop.image))}"] if hop.image else []
    told += [f"at {links.site(hop.defined)}"] if hop.defined else []
    told += [prose(hop.note)] if hop.note else []
    name = f"{'· ' * min(max(hop.depth - 1, 0), 40)}{code(hop.symbol)}"
    return row((name, hop.why.replace("_", " "), links.site(hop.site), "; ".join(told)))
