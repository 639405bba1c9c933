"""Where two chains end: which ends became which, and when."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from ...report.drift import Ended, Fate
from ...report.model import Chain, Outcome
from ...report.names import short
from ...report.predicate import Opaque, Predicate, Scalar
from ...report.standing import Standing, of_outcome
from ..guards import Guard, GuardBudget
from .joint import Joint, Side

CAPABILITY = "capability"
TOO_MANY = Opaque("a condition that hangs on too many unknowns")


class Became(NamedTuple):
    """One end of the first chain and what it became."""

    fate: Fate
    was: Outcome
    now: Outcome
    guard: Predicate
    sure: bool


class Changed(NamedTuple):
    """A change with its condition, before a device is given."""

    fate: Fate
    was: Outcome
    now: Outcome
    joint: Joint
    when: Guard
    then: Guard
    both: Guard

    def joined(self, other: Changed) -> Changed:
        """Either of two changes that are told alike."""
        return self._replace(
            when=self.when | other.when, then=self.then | other.then, both=self.both | other.both
        )

    def on(self, capability: int | None) -> Became | None:
        """The change on a device; None where it is none there."""
        given = {} if capability is None else {CAPABILITY: capability}
        both = self.joint.space.assign(self.both, given)
        if both.is_false:
            return None
        return Became(self.fate, self.was, self.now, self.joint.words(both), self._sure(both, given))

    def _sure(self, both: Guard, given: Mapping[str, Scalar]) -> bool:
        """Whether the condition can hold: both ask for it, or one alone does, who knows it to be possible."""
        if self.joint.shared(both):
            return True
        when, then = (self.joint.space.assign(guard, given) for guard in (self.when, self.then))
        return when.implies(then) or then.implies(when)


def became(here: Chain, there: Chain, capability: int | None = None) -> Iterator[Became]:
    """What became of each end, under conditions that exclude each other; ends that stayed are left out.

    With a capability, on that device alone.
    """
    try:
        found = [each.on(capability) for each in _changed(here.outcomes, there.outcomes)]
    except GuardBudget:
        was, now = next(_unlike(here.outcomes, there.outcomes))
        found = [Became(Fate.OPEN, was, now, TOO_MANY, False)]
    return (each for each in found if each is not None)


@lru_cache(1024)
def _changed(here: tuple[Outcome, ...], there: tuple[Outcome, ...]) -> tuple[Changed, ...]:
    """Of many layers and devices the ends are the same: they are compared once."""
    if next(_unlike(here, there), None) is None or _told(here) == _told(there):
        return ()
    joint = Joint((outcome.guard for outcome in here), (outcome.guard for outcome in there))
    ends_there = _ends(joint, there, Side.THERE)
    changed = (
        Changed(fate, was, now, joint, when, then, when & then & joint.possible)
        for was, when in _ends(joint, here, Side.HERE)
        for now, then in ends_there
        if (fate := fate_of(was, now)) is not None
    )
    return tuple(_merged(each for each in changed if not each.both.is_false))


def _merged(changes: Iterable[Changed]) -> Iterator[Changed]:
    """Changes that are told in the same words as one, whatever operators lead there."""
    found: dict[tuple[object, ...], Changed] = {}
    for each in changes:
        key = (each.fate, *(_words(end, each.fate) for end in (each.was, each.now)))
        first = found.get(key)
        found[key] = each if first is None else first.joined(each)
    yield from found.values()


def _words(outcome: Outcome, fate: Fate) -> tuple[object, ...]:
    return _key(outcome) if fate is Fate.WAY else (*_reached(outcome), str(outcome.refusal))


def _told(outcomes: Iterable[Outcome]) -> frozenset[tuple[object, ...]]:
    """The ends with their conditions as they read: where all are the same, nothing changed."""
    return frozenset((*_key(outcome), str(outcome.guard)) for outcome in outcomes)


def _unlike(here: Iterable[Outcome], there: tuple[Outcome, ...]) -> Iterator[tuple[Outcome, Outcome]]:
    return ((was, now) for was in here for now in there if fate_of(was, now))


def _ends(joint: Joint, outcomes: Iterable[Outcome], side: Side) -> list[tuple[Outcome, Guard]]:
    """Each end once, with all that leads to it."""
    found: dict[tuple[object, ...], tuple[Outcome, Guard]] = {}
    for outcome in outcomes:
        guard = joint.guard(outcome.guard, side)
        first, before = found.get(_key(outcome), (outcome, joint.space.false))
        found[_key(outcome)] = first, before | guard
    return list(found.values())


def _key(outcome: Outcome) -> tuple[object, ...]:
    return (*_reached(outcome), *_way(outcome), str(outcome.refusal))


def fate_of(was: Outcome, now: Outcome) -> Fate | None:
    """What the change amounts to; None where nothing did."""
    before, after = of_outcome(was), of_outcome(now)
    if Standing.OPEN in (before, after):
        return None if before is after else Fate.OPEN
    if before is not after:
        return Fate.REFUSED if after is Standing.REFUSED else Fate.ACCEPTED
    if before is Standing.REFUSED:
        return None
    if _reached(was) != _reached(now):
        return Fate.OTHER
    return None if _way(was) == _way(now) else Fate.WAY


@lru_cache(4096)
def _reached(outcome: Outcome) -> tuple[object, ...]:
    """What a user would call another outcome: the kernels, else the layer method, and the cache's dtype.

    Classes go by their own names: one that moved to another module is the same.
    """
    held = tuple(short(kernel.symbol) for kernel in outcome.kernels)
    named = tuple(short(symbol) for symbol in (outcome.method, outcome.scheme) if symbol)
    cache = outcome.cache and (outcome.cache.dtype, outcome.cache.token_bytes)
    return of_outcome(outcome), held or named, cache


@lru_cache(4096)
def _way(outcome: Outcome) -> tuple[object, ...]:
    """The same kernel may be reached by other classes, run other operators and hold other tensors."""
    steps = tuple(map(short, outcome.steps()))
    return (
        steps,
        frozenset(outcome.ops),
        frozenset(map(str, outcome.parameters)),
        outcome.dtypes,
        _cache(outcome),
    )


def _cache(outcome: Outcome) -> tuple[object, ...]:
    """All of a cache that a number or a byte hangs on."""
    cache = outcome.cache
    if cache is None:
        return ()
    named = (cache.format, cache.mode, cache.layout, cache.order, cache.shape, cache.block_size)
    return *named, tuple(map(str, cache.scales))


def ended(outcome: Outcome, fate: Fate) -> Ended:
    """An end as it is told of a change."""
    kernels = tuple(kernel.symbol for kernel in outcome.kernels)
    named = tuple(symbol for symbol in (outcome.method, outcome.scheme) if symbol)
    whole = fate in (Fate.WAY, Fate.OPEN)
    cache = outcome.cache
    return Ended(
        standing=of_outcome(outcome),
        reaches=outcome.steps() if whole else kernels or named,
        cache=f"{cache.format} as {cache.dtype}" if cache else None,
        refusal=outcome.refusal,
    )
