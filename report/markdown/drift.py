"""What changed between two pins: a table of outcomes, what only one of them knows, and the hops folded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ..drift import Compared, Drift, Drifted, Ended, Fate, Only, Step
from ..model import Change, Pin
from ..names import short
from ..outcome import NOWHERE
from ..predicate import Always
from .links import Links
from .pieces import Piece, folded, row, table_head
from .words import code, prose

TITLES = ("where", "was", "now", "when, because")
FEW = 4
"""Questions that are named in a row; the others are counted."""
ENGINES = 200
"""Characters of an engine's own words."""


def verdict(drift: Drift) -> str:
    """`**6 refused now, 10 another kernel**; 861 of 2,612 questions end alike`."""
    if drift.unchanged():
        return "**nothing changed**"
    counts = Counter(change.fate for change in drift.changes)
    told = ", ".join(f"{counts[fate]:,} {fate}" for fate in Fate if counts[fate])
    alike = f"; {drift.alike:,} of {drift.questions:,} questions end alike" if drift.questions > 1 else ""
    return f"**{told or 'no outcome changed'}**{alike}"


def pieces(drift: Drift, pins: tuple[Pin, ...]) -> Iterator[Piece]:
    """Outcomes first."""
    if drift.differs:
        yield Piece("questions", "\n", tuple(f"- asked otherwise: {prose(each)}\n" for each in drift.differs))
    for fate in Fate:
        changes = [change for change in drift.changes if change.fate is fate]
        if changes:
            yield _table(drift, fate, changes)
    if drift.only:
        yield Piece(
            "what one knows", f"\n{table_head(('flag', 'value', 'known'))}", tuple(map(_only, drift.only))
        )
    for compared in drift.chains:
        yield from _hops(compared, pins)
    if drift.cut:
        yield Piece("bounds", "\n", (f"{prose(drift.unfinished())}\n",))


def _table(drift: Drift, fate: Fate, changes: list[Drifted]) -> Piece:
    head = f"\n{table_head(TITLES)}"
    rows = tuple(row(_cells(drift, change)) for change in changes)
    if fate in (Fate.REFUSED, Fate.ACCEPTED, Fate.OTHER):
        return Piece(fate, f"\n**{fate}**\n{head}", rows)
    return folded(fate, f": {len(changes):,}", head, rows)


def _cells(drift: Drift, change: Drifted) -> Iterator[str]:
    named = [
        prose(" ".join(filter(None, (drift.spans(where.devices), *where.words())))) for where in change.where
    ]
    more = [f"and {len(named) - FEW:,} more"] if len(named) > FEW else []
    yield "<br>".join((*named[:FEW], *more))
    yield _end(change.was)
    yield _end(change.now)
    told = [f"when {code(str(change.guard))}"] if change.guard != Always() else []
    told += [] if change.sure else ["open: only one of the two asks what decides"]
    yield "<br>".join((*told, *(prose(each, ENGINES) for each in change.because)))


def _end(end: Ended) -> str:
    if end.refusal is not None:
        return f"refused: {prose(str(end.refusal), ENGINES)}"
    reached = " → ".join(code(short(symbol)) for symbol in end.reaches) or NOWHERE
    return f"{reached}, cache {code(end.cache)}" if end.cache else reached


def _only(only: Only) -> str:
    return row((code(only.flag), prose(only.value), "no more" if only.change is Change.GONE else "now"))


def _hops(compared: Compared, pins: tuple[Pin, ...]) -> Iterator[Piece]:
    counts = Counter(step.change for step in compared.steps)
    told = ", ".join(f"{counts[change]:,} {change}" for change in Change if counts[change])
    if compared.steps:
        of = ", ".join(compared.layers or (compared.layer,))
        rows = tuple(row(_step(step, pins)) for step in compared.steps)
        yield folded(
            f"hops of {of}" if of else "hops", f": {told}", table_head(("hop", "", "was", "now")), rows
        )


def _step(step: Step, pins: tuple[Pin, ...]) -> Iterator[str]:
    yield f"{'· ' * min(max(step.depth, 0), 40)}{code(short(step.symbol))}"
    yield step.change
    yield Links(pins[:1]).site(step.was)
    yield Links(pins[1:]).site(step.now)
