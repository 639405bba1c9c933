"""The hops of two chains side by side, aligned by symbol."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from ...report.drift import Step
from ...report.model import Change, Hop


def steps(here: Sequence[Hop], there: Sequence[Hop]) -> Iterator[Step]:
    """Every hop of either, in order."""
    matcher = SequenceMatcher(None, [h.symbol for h in here], [h.symbol for h in there], autojunk=False)
    for tag, start, stop, from_, to in matcher.get_opcodes():
        if tag == "equal":
            yield from map(_both, here[start:stop], there[from_:to])
        else:
            yield from (_gone(hop) for hop in here[start:stop])
            yield from (_new(hop) for hop in there[from_:to])


def _both(was: Hop, now: Hop) -> Step:
    return Step(
        change=_change(was, now),
        symbol=now.symbol,
        was=was.site,
        now=now.site,
        was_guard=was.guard,
        now_guard=now.guard,
        depth=now.depth,
    )


def _change(was: Hop, now: Hop) -> Change:
    if (str(was.guard), was.why, was.kind, was.note) != (str(now.guard), now.why, now.kind, now.note):
        return Change.CHANGED
    return Change.SAME if was.site == now.site else Change.MOVED


def _gone(hop: Hop) -> Step:
    return Step(change=Change.GONE, symbol=hop.symbol, was=hop.site, was_guard=hop.guard, depth=hop.depth)


def _new(hop: Hop) -> Step:
    return Step(change=Change.NEW, symbol=hop.symbol, now=hop.site, now_guard=hop.guard, depth=hop.depth)
