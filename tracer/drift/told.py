"""Collects the changes of outcome of many questions, the same ones as one."""

from __future__ import annotations

from collections.abc import Mapping
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
from .labels import labels
from .pairing import Pair, layers_of, pairs, premises_of

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
        found = [
            (one, pair)
            for pair in pairs(put.here, put.there)
            for one in became(pair.here, pair.there, put.capability)
        ]
        names = labels(put.here, put.there)
        for one, pair in found:
            told = _drifted(one)
            self._found.setdefault(_key(told), Collected(told)).add(put, one, pair, names)
        self._add_alone(put)
        self._devices |= dict.fromkeys(put.devices)
        for report, name in zip((put.here, put.there), names, strict=True):
            self.coverage = read_together(self.coverage, report.coverage)
            if report.coverage.budgets:
                self.cut[name] = None
        self.questions += 1
        self.alike += not found and not (_open(put.here) or _open(put.there))

    def _add_alone(self, put: Put) -> None:
        """Checkpoints that only one of the two takes with the flag."""
        one, other = premises_of(put.here), premises_of(put.there)
        if not one or not other:
            return  # one of them is about all
        flag = " ".join(f"--{name.replace('_', '-')} {value}" for name, value in put.asked.items())
        for premises, rest, change in ((one, other, Change.GONE), (other, one, Change.NEW)):
            for premise in premises:
                if premise not in rest:
                    self.only[Only(flag=flag, value=premise, change=change)] = None

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


def _open(report: Report) -> bool:
    return any(_is_open(outcome) for chain in report.chains for outcome in chain.outcomes)


def _is_open(outcome: Outcome) -> bool:
    return of_outcome(outcome) is Standing.OPEN
