"""Collects what became of hops over many questions."""

from __future__ import annotations

from functools import lru_cache

from msgspec.structs import replace

from ...report.drift import Step
from ...report.model import Change, Hop, Report
from .pairing import pairs
from .steps import steps
from .told import Put

CHANGES = (Change.GONE, Change.NEW, Change.CHANGED, Change.MOVED)


class Hops:
    """Collects what became of hops over many questions."""

    def __init__(self) -> None:
        self._found: dict[Step, None] = {}
        self._last: tuple[Report, Report] | None = None
        self._here: set[str] = set()
        self._there: set[str] = set()

    def add(self, put: Put) -> None:
        if self._last is not None and self._last[0] is put.here and self._last[1] is put.there:
            return  # the same answers on another device
        self._last = put.here, put.there
        for pair in pairs(put.here, put.there):
            self._here |= {hop.symbol for hop in pair.here.hops}
            self._there |= {hop.symbol for hop in pair.there.hops}
            self._found |= dict.fromkeys(_changed(pair.here.hops, pair.there.hops))

    def steps(self) -> tuple[Step, ...]:
        """Each once: gone where no chain of the second pin has it, new where none of the first does."""
        kept = (step for step in self._found if self._counts(step))
        return tuple(sorted(kept, key=lambda step: (CHANGES.index(step.change), step.symbol)))

    def _counts(self, step: Step) -> bool:
        if step.change is Change.GONE:
            return step.symbol not in self._there
        return step.change is not Change.NEW or step.symbol not in self._here

    def same(self) -> int:
        """Symbols that both have, at the same place."""
        return len((self._here & self._there) - {step.symbol for step in self._found})


@lru_cache(1024)
def _changed(here: tuple[Hop, ...], there: tuple[Hop, ...]) -> tuple[Step, ...]:
    """Without the depth, which differs from layer to layer."""
    return tuple(replace(step, depth=0) for step in steps(here, there) if step.change is not Change.SAME)
