"""Collects the changes of outcome of many questions, the same ones as one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from msgspec.structs import replace

from ...report.drift import Drifted, Fate, Only, Where
from ...report.model import Change, Coverage, Outcome, Report, Value
from ...report.predicate import Always
from ...report.standing import Standing, of_outcome
from ..scenario import CAPABILITIES
from ..supposed import read_together
from .because import because
from .ends import Became, became, ended
from .joint import plain
from .labels import labels
from .pairing import Pair, alone, layers_of, pairs, premises_of

FATES = tuple(Fate)
CHECKPOINT = "checkpoint"
REASONS = 3
"""Sentences about one change."""
NAMES = tuple(f"sm_{capability}" for capability in CAPABILITIES)


class Put(NamedTuple):
    """A question that was put to both pins, and their answers."""

    asked: Mapping[str, Value]
    devices: tuple[str, ...]
    here: Report
    there: Report
    capability: int | None = None
    """The one device that is meant, where the answers are about any."""


class Told:
    """Collects changes, the same ones of many questions as one."""

    def __init__(self) -> None:
        self.questions = self.alike = 0
        self.coverage = Coverage(modules_read=0, statements=0)
        self.only: dict[Only, None] = {}
        self.cut: dict[str, None] = {}
        self._devices: dict[str, None] = {}
        self._found: dict[tuple[object, ...], Collected] = {}

    def add(self, put: Put) -> None:
        paired = list(pairs(put.here, put.there))
        names = labels(put.here, put.there)
        found = [(one, pair) for pair in paired for one in became(pair.here, pair.there, put.capability)]
        for one, pair in found:
            told = _drifted(one)
            self._found.setdefault(_key(told), Collected(told)).add(put, one, pair, names)
        apart = [*_checkpoints(put), *_layers(put, paired)]
        self.only |= dict.fromkeys(apart)
        self._devices |= dict.fromkeys(put.devices)
        for report, name in zip((put.here, put.there), names, strict=True):
            self.coverage = read_together(self.coverage, report.coverage)
            if report.coverage.budgets:
                self.cut[name] = None
        self.questions += 1
        self.alike += not found and not apart and all(map(_settled, (put.here, put.there)))

    def devices(self) -> tuple[str, ...]:
        return tuple(sorted(self._devices, key=_age))

    def changes(self) -> tuple[Drifted, ...]:
        """What matters most first."""
        made = [collected.whole() for collected in self._found.values()]
        return tuple(sorted(made, key=_weight))


def _weight(change: Drifted) -> tuple[object, ...]:
    """What matters most first, then what is so whatever is unknown, then what most questions meet."""
    conditions = str(change.guard).count(" and ") + 1 if change.guard != Always() else 0
    return FATES.index(change.fate), not change.sure, conditions, -sum(len(w.devices) for w in change.where)


class Collected:
    """One change, with where it is met."""

    def __init__(self, change: Drifted) -> None:
        self._change = change
        self._because: dict[str, str] = {}
        """Sentences by what they begin with: the pin, and the kernel."""
        self._devices: dict[tuple[tuple[tuple[str, Value], ...], str], dict[str, None]] = {}
        """By question and layer; a layer without a name is all of them."""
        self._layers: dict[str, frozenset[str]] = {}

    def add(self, put: Put, one: Became, pair: Pair, names: tuple[str, str]) -> None:
        if len(self._because) < REASONS:
            for sentence in because(one, pair.here, pair.there, names):
                self._because.setdefault(" ".join(sentence.split()[:2]), sentence)
        self._layers[pair.layer] = self._layers.get(pair.layer, frozenset()) | layers_of(put.here, pair.layer)
        for checkpoint in pair.premises or (None,):
            asked = {**put.asked} if checkpoint is None else {**put.asked, CHECKPOINT: checkpoint}
            for name in pair.names or ("",):
                self._devices.setdefault((tuple(asked.items()), name), {}).update(dict.fromkeys(put.devices))

    def whole(self) -> Drifted:
        where: dict[tuple[object, ...], list[str]] = {}
        for (asked, layer), devices in self._devices.items():
            where.setdefault((asked, tuple(sorted(devices, key=_age))), []).append(layer)
        return replace(
            self._change,
            because=tuple(self._because.values())[:REASONS],
            where=tuple(
                Where(asked=dict(asked), devices=devices, layers=self._named(layers))  # type: ignore[call-overload, arg-type]
                for (asked, devices), layers in where.items()
            ),
        )

    def _named(self, layers: list[str]) -> tuple[str, ...]:
        """The layers, none where it is all that the model has of the kind."""
        everything = any(names and names <= set(layers) for names in self._layers.values())
        return () if everything or "" in layers else tuple(layers)


def _age(device: str) -> tuple[int, str]:
    """In the order in which devices are listed."""
    return (NAMES.index(device), "") if device in NAMES else (len(NAMES), device)


def _drifted(one: Became) -> Drifted:
    was, now = ended(one.was, one.fate), ended(one.now, one.fate)
    return Drifted(fate=one.fate, was=was, now=now, guard=one.guard, sure=one.sure)


def _key(change: Drifted) -> tuple[object, ...]:
    return change.fate, str(change.was), str(change.now), str(change.guard), change.sure


def _checkpoints(put: Put) -> Iterator[Only]:
    """Checkpoints that only one of the two takes with the flag; an answer without any is about all."""
    one, other = premises_of(put.here), premises_of(put.there)
    if one and other:
        flag = " ".join(f"--{name.replace('_', '-')} {value}" for name, value in put.asked.items())
        flag = flag or "checkpoint"
        yield from (Only(flag=flag, value=each, change=Change.GONE) for each in one if each not in other)
        yield from (Only(flag=flag, value=each, change=Change.NEW) for each in other if each not in one)


def _layers(put: Put, paired: list[Pair]) -> Iterator[Only]:
    """Layers that only one of the two tells of, where the checkpoint is one of both."""
    for change, report, other, met in (
        (Change.GONE, put.here, put.there, [(pair.here, pair.names) for pair in paired]),
        (Change.NEW, put.there, put.here, [(pair.there, pair.names) for pair in paired]),
    ):
        known = premises_of(other)
        shared = (c for c in report.chains if not known or not c.premises or known.keys() & set(c.premises))
        for name in dict.fromkeys(alone(replace(report, chains=tuple(shared)), met)):
            yield Only(flag="layers", value=name, change=change)


def _settled(report: Report) -> bool:
    """Whether every end was come to, under conditions that mean the same at another pin."""
    ends = [outcome for chain in report.chains for outcome in chain.outcomes]
    followed = all(chain.outcomes for chain in report.chains) and not any(map(_is_open, ends))
    return followed and plain(outcome.guard for outcome in ends)


def _is_open(outcome: Outcome) -> bool:
    return of_outcome(outcome) is Standing.OPEN
