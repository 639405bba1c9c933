"""What the ends of chains launch: a tree for each, from an operator's host function to kernels."""

from __future__ import annotations

from collections.abc import Sequence

from ..fetched import Code
from ..names import counted
from ..operator import Operator
from .hops import hops
from .page import Page, Tone


def operators(page: Page, found: Sequence[Operator], read: Sequence[Code]) -> None:
    """A section with a tree for each end; `read` are libraries whose source was given."""
    if not found:
        return
    page.blank()
    ends = counted(len(found), "end")
    page.line(("launches", Tone.HEAD), (f"  {ends} of the chains, and what is launched there", Tone.DIM))
    for code in read:
        tone = Tone.DIM if code.is_taken() else Tone.DOUBT
        page.wrap(code.compared(), "  reads  ", tone)
    for operator in found:
        _operator(page, operator)


def _operator(page: Page, operator: Operator) -> None:
    page.blank()
    name = page.name(operator.symbol, page.width // 2)
    page.line((f"  {name}", Tone.HEAD), right=(page.place(operator.site, page.width // 2 - 4), Tone.DIM))
    ends = operator.ends()
    told = ", ".join(end.symbol for end in ends) or "nothing on the GPU"
    page.wrap(told, "    launches  ", Tone.PLAIN)
    hops(page, operator.told())
    for sentence in operator.cut:
        page.wrap(sentence, "    cut  ", Tone.DOUBT)
