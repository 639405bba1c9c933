"""A chain's hops as a Mermaid flowchart: who leads to whom, and how.

Labels hold letters, digits and a few harmless marks as they are; everything else is written by its number, so
that nothing in a symbol can end a label or be read as markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..model import Hop, HopKind, Sight
from ..names import one_line, short
from ..predicate import Always

MOST = 60
"""Nodes of a picture; a longer chain is drawn without its plain calls."""
LONGEST = 80
"""Characters of a label."""

CALLS = (HopKind.FUNCTION, HopKind.HOST_FUNCTION)
"""Kinds that a longer chain is drawn without."""

SHAPES = {
    HopKind.FLAG: ("([", "])"),
    HopKind.CUSTOM_OP: ("[[", "]]"),
    HopKind.TORCH_OP: ("[[", "]]"),
    HopKind.GLOBAL_KERNEL: ("{{", "}}"),
    HopKind.TRITON_KERNEL: ("{{", "}}"),
    HopKind.KERNEL_CLASS: ("(", ")"),
}
"""Kinds that are drawn otherwise than as a box."""
DASHED = (Sight.UNRESOLVED, Sight.CONTRADICTED, Sight.NOT_OBSERVED)


class Chart(NamedTuple):
    """A flowchart's text, and how many hops it does not show."""

    text: str
    left_out: int


class Step(NamedTuple):
    """A hop on the way down to another one, and its node; None where it is not drawn."""

    hop: Hop
    node: str | None


def flowchart(hops: Sequence[Hop]) -> Chart:
    """The picture; each hop hangs on the nearest one above it that is drawn."""
    drawn = _drawn(hops)
    lines = ["flowchart TD\n"]
    above: list[Step] = []
    for number, hop in enumerate(hops):
        above = [step for step in above if step.hop.depth < hop.depth]
        node = f"h{number}" if number in drawn else None
        if node:
            lines.extend(_lines(node, hop, above))
        above.append(Step(hop, node))
    return Chart("".join(lines), len(hops) - len(drawn))


def _drawn(hops: Sequence[Hop]) -> frozenset[int]:
    """The numbers of the hops that there is room for."""
    every = range(len(hops))
    if len(hops) > MOST:
        every_but_calls = [number for number in every if hops[number].kind not in CALLS]
        return frozenset(every_but_calls[:MOST])
    return frozenset(every)


def _lines(node: str, hop: Hop, above: Sequence[Step]) -> Iterator[str]:
    """A node and the edge that leads to it; a dashed border where it is in doubt."""
    left, right = SHAPES.get(hop.kind, ("[", "]"))
    yield f'    {node}{left}"{label(short(hop.symbol))}"{right}\n'
    at = max((place for place, step in enumerate(above) if step.node), default=None)
    if at is not None:
        yield _edge(above[at].node or "", [step.hop for step in above[at + 1 :]], hop, node)
    if hop.sight in DASHED:
        yield f"    style {node} stroke-dasharray: 4\n"


def _edge(above: str, between: Sequence[Hop], hop: Hop, node: str) -> str:
    """The edge, dotted where it or what it passes over needs a condition."""
    sure = all(each.guard == Always() for each in (*between, hop))
    through = f" through {len(between)} more" if between else ""
    return f"    {above} {'-->' if sure else '-.->'}|{hop.why.replace('_', ' ')}{through}| {node}\n"


def label(text: str) -> str:
    """`text` between a label's quotes, where Mermaid wants something to be."""
    text = one_line(text).strip() or "?"
    text = text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
    return re.sub(r"[^A-Za-z0-9_ .,/=+*-]", lambda found: f"#{ord(found[0])};", text)
