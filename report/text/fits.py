"""Shape gates on the page: a row a size, with what it leaves or what it is rounded up to."""

from __future__ import annotations

from ..fit import Fit
from ..names import counted, short
from ..predicate import Always
from .page import Page, Tone

SHORT = 40
"""Characters of a condition that still go on a gate's line."""


def fits(page: Page, gates: tuple[Fit, ...]) -> None:
    """The gates of a chain's layers; the layer is named where there are several."""
    if not gates:
        return
    page.blank()
    page.line(("  shape gates", Tone.HEAD))
    several = len({gate.layer for gate in gates}) > 1
    shown = [gate for gate in gates if gate.left() != 0] if several else gates
    for gate in shown:
        _gate(page, gate, f"{gate.layer}." if several else "")
    if len(shown) < len(gates):
        rest = len(gates) - len(shown)
        text = f"{rest} more, even" if shown else f"{counted(rest, 'size')}, all even"
        page.wrap(text, "    ✓ ", first_tone=Tone.GOOD)


def _gate(page: Page, gate: Fit, prefix: str) -> None:
    mark, tone = _mark(gate)
    page.line(
        (f"    {mark} {prefix}{gate.dimension} {_told(gate)}", tone),
        (f"  {short(gate.function)}{_when(gate)}", Tone.DIM),
        right=(page.site(gate.site, page.width // 2), Tone.DIM),
    )


def _when(gate: Fit) -> str:
    """The condition under which it is asked, where that is short."""
    if gate.guard == Always():
        return ""
    text = str(gate.guard)
    return f" when {text}" if len(text) <= SHORT else " under a condition"


def _mark(gate: Fit) -> tuple[str, Tone]:
    left = gate.left()
    if left is None:
        return "?", Tone.DOUBT
    if left == 0:
        return "✓", Tone.GOOD
    return ("→" if gate.padded is not None else "✗"), Tone.DOUBT


def _told(gate: Fit) -> str:
    """`4096 % 128 = 0`, or `2880 → 2944, a multiple of 128 (+2.2 %)`."""
    if gate.padded is None:
        left = gate.left()
        return f"{gate.size} % {gate.multiple}" + ("" if left is None else f" = {left}")
    growth = gate.growth()
    more = f" (+{100 * growth:.1f} %)" if growth else ""
    return f"{gate.size} → {gate.padded}, a multiple of {gate.multiple}{more}"
