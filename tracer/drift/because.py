"""What the two sources say of a change: candidates that were asked, statements that raise, a rewrite."""

from __future__ import annotations

from collections.abc import Iterator

from ...report.drift import Fate
from ...report.model import Candidate, CandidateState, Chain, Choice, Hop, Outcome
from ...report.names import short
from .ends import Became

REWRITTEN = "rewritten: "
NOUNS = ("operators", "parameters", "dtypes of the forward", "cache")


def because(change: Became, here: Chain, there: Chain, versions: tuple[str, str]) -> tuple[str, ...]:
    """Sentences that the facts of both chains give, at most two."""
    was, now = versions
    told = dict.fromkeys(_otherwise(change) if change.fate is Fate.WAY else _refused(change, was, now))
    told |= dict.fromkeys(_asked(change, here, there, was, now))
    told |= dict.fromkeys(_rewritten(here, there, now))
    return tuple(told)[:2] or tuple(_parted(here, there, was, now))


def _refused(change: Became, was: str, now: str) -> Iterator[str]:
    for fate, version, refusal in (
        (Fate.REFUSED, now, change.now.refusal),
        (Fate.ACCEPTED, was, change.was.refusal),
    ):
        if change.fate is fate and refusal is not None and refusal.site is not None:
            yield f"{version} raises at {refusal.site}"


def _asked(change: Became, here: Chain, there: Chain, was: str, now: str) -> Iterator[str]:
    """What became of the old kernel at the second pin, and what the new one was at the first."""
    old, new = _kernels(change)
    gone = [name for name in old if name not in new]
    come = [name for name in new if name not in old]
    for name in gone[:1]:
        yield from _of(name, there, now, "not among its candidates any more", come)
    for name in come[:1]:
        yield from _of(name, here, was, "not among its candidates yet", gone)


def _kernels(change: Became) -> tuple[tuple[str, ...], tuple[str, ...]]:
    ends = (change.was, change.now)
    was, now = (tuple(short(kernel.symbol) for kernel in end.kernels) for end in ends)
    return was, now


def _of(name: str, chain: Chain, version: str, absent: str, instead: list[str]) -> Iterator[str]:
    """What one pin says of a kernel: why it was not taken, or that it is none of those that are asked."""
    found = _candidate(name, chain.choices)
    if found is not None:
        if found.reason or found.state is not CandidateState.POSSIBLE:
            yield f"{version}: {name} {_state(found)}"
        return
    asked = next((choice for choice in chain.choices for one in instead if _candidate(one, (choice,))), None)
    if asked is not None:
        yield f"{version}: {name} is {absent} ({asked.registry or short(asked.function)})"


def _candidate(name: str, choices: tuple[Choice, ...]) -> Candidate | None:
    return next((c for choice in choices for c in choice.candidates if short(c.symbol) == name), None)


def _state(candidate: Candidate) -> str:
    place = f" ({candidate.site})" if candidate.site else ""
    reason = f": {candidate.reason.rstrip('.')}" if candidate.reason else ""
    return f"{candidate.state.replace('_', ' ')}{reason}{place}"


def _rewritten(here: Chain, there: Chain, now: str) -> Iterator[str]:
    """A rewrite of the flag that the first pin does not make."""
    before = {hop.note for hop in here.hops}
    for hop in there.hops:
        if hop.note is not None and hop.note.startswith(REWRITTEN) and hop.note not in before:
            yield f"{now}: the flag is {hop.note} ({hop.site})"


def _otherwise(change: Became) -> Iterator[str]:
    """What one of the two ends has and the other has not."""
    for noun, was, now in zip(NOUNS, _held(change.was), _held(change.now), strict=True):
        gone, new = [each for each in was if each not in now], [each for each in now if each not in was]
        if gone or new:
            yield f"{noun}: {', '.join((*(f'- {each}' for each in gone), *(f'+ {each}' for each in new)))}"


def _held(outcome: Outcome) -> tuple[tuple[str, ...], ...]:
    """What an end has of each noun."""
    cache = outcome.cache
    rows = (str(cache), f"block size {cache.block_size}", *map(str, cache.scales)) if cache else ()
    return outcome.ops, tuple(map(str, outcome.parameters)), outcome.dtypes or (), rows


def _parted(here: Chain, there: Chain, was: str, now: str) -> Iterator[str]:
    """The first step at which the two part."""
    for one, other in zip(here.hops, there.hops, strict=False):
        if one.symbol != other.symbol:
            yield f"{was} goes on to {_place(one)}, {now} to {_place(other)}"
            return


def _place(hop: Hop) -> str:
    return f"{short(hop.symbol)} ({hop.site})" if hop.site else short(hop.symbol)
