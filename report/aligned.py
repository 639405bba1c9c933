"""Two answers to one question side by side: hops aligned by symbol, ends that differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from enum import StrEnum
from typing import NamedTuple

from .model import Chain, Hop, Report


class Became(StrEnum):
    """What became of a hop or an end, seen from the first answer."""

    SAME = "same"
    MOVED = "moved"
    """At another place in the source, and nothing else."""
    CHANGED = "changed"
    """Under another condition, or reached in another way."""
    GONE = "gone"
    NEW = "new"


class Pair(NamedTuple):
    """A hop here and there; None where there is none."""

    became: Became
    here: Hop | None
    there: Hop | None

    @property
    def hop(self) -> Hop:
        """The one that is there, the first answer's if both are."""
        hop = self.here or self.there
        assert hop is not None, "a pair of nothing"
        return hop


class Ends(NamedTuple):
    """An end that only one of two chains has."""

    became: Became
    text: str


class Aligned(NamedTuple):
    """Two chains about the same layers and checkpoints; None where only one answer has such."""

    here: Chain | None
    there: Chain | None

    @property
    def ends(self) -> Iterator[Ends]:
        """The ends that are gone or new, what is gone first."""
        here, there = _ends(self.here), _ends(self.there)
        yield from (Ends(Became.GONE, text) for text in here if text not in there)
        yield from (Ends(Became.NEW, text) for text in there if text not in here)

    @property
    def pairs(self) -> Iterator[Pair]:
        """Every hop of either, in order."""
        one = self.here.hops if self.here else ()
        other = self.there.hops if self.there else ()
        matcher = SequenceMatcher(None, [h.symbol for h in one], [h.symbol for h in other], autojunk=False)
        for _, start, stop, from_, to in matcher.get_opcodes():
            if _ == "equal":
                yield from map(_pair, one[start:stop], other[from_:to])
            else:
                yield from (Pair(Became.GONE, hop, None) for hop in one[start:stop])
                yield from (Pair(Became.NEW, None, hop) for hop in other[from_:to])


def _ends(chain: Chain | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(str, chain.outcomes))) if chain else ()


def _pair(here: Hop, there: Hop) -> Pair:
    if (here.guard, here.why, here.kind) != (there.guard, there.why, there.kind):
        return Pair(Became.CHANGED, here, there)
    return Pair(Became.SAME if here.site == there.site else Became.MOVED, here, there)


def aligned(one: Report, other: Report) -> Iterator[Aligned]:
    """The chains of both, each with its like: of the same layers, with the most premises in common."""
    left = list(other.chains)
    for chain in one.chains:
        like = max((c for c in left if c.layer == chain.layer), key=lambda c: _common(chain, c), default=None)
        if like is not None:
            left.remove(like)
        yield Aligned(chain, like)
    yield from (Aligned(None, chain) for chain in left)


def _common(one: Chain, other: Chain) -> tuple[int, int]:
    return _shared(one.layers, other.layers), _shared(one.premises, other.premises)


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    return len(set(one) & set(other))
