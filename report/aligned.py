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
        for tag, start, stop, from_, to in matcher.get_opcodes():
            if tag == "equal":
                yield from map(_pair, one[start:stop], other[from_:to])
            else:
                yield from (Pair(Became.GONE, hop, None) for hop in one[start:stop])
                yield from (Pair(Became.NEW, None, hop) for hop in other[from_:to])


def _ends(chain: Chain | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(str, chain.outcomes))) if chain else ()


def _pair(here: Hop, there: Hop) -> Pair:
    one, other = (str(here.guard), here.why, here.kind), (str(there.guard), there.why, there.kind)
    if one != other:
        return Pair(Became.CHANGED, here, there)
    return Pair(Became.SAME if here.site == there.site else Became.MOVED, here, there)


def aligned(one: Report, other: Report) -> Iterator[Aligned]:
    """The chains of both, each with its like: about the same layers and checkpoints, as far as one is. Where
    one pin tells of layers apart and the other together, the one chain there stands beside several here.
    """
    met: set[int] = set()
    for chain in one.chains:
        likes = [(_common(chain, c), -at) for at, c in enumerate(other.chains) if _alike(chain, c)]
        at = -max(likes)[1] if likes else None
        if at is not None:
            met.add(at)
        yield Aligned(chain, None if at is None else other.chains[at])
    yield from (Aligned(None, chain) for at, chain in enumerate(other.chains) if at not in met)


def _alike(one: Chain, other: Chain) -> bool:
    """Whether two chains may be about the same; where no layers or checkpoints are named, all are meant."""
    parts = ((one.layers, other.layers), (one.premises, other.premises))
    return one.layer == other.layer and all(_shared(a, b) or not a or not b for a, b in parts)


def _common(one: Chain, other: Chain) -> tuple[int, int]:
    return _shared(one.premises, other.premises), _shared(one.layers, other.layers)


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    return len(set(one) & set(other))
