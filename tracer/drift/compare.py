"""Two answers to one question, and many such: the report of what changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ... import __version__
from ...report.drift import Compared, Drift, Only
from ...report.model import Change, Pin, Question, Report, Value
from ..supposed import read_together
from .hops import Hops
from .pairing import pairs
from .steps import steps
from .told import Put, Told


def one(here: Report, there: Report, differs: Iterable[str] = ()) -> Report:
    """One question, with every hop; `differs` says in what the second was asked otherwise."""
    told = Told()
    told.add(Put({}, (), here, there))
    chains = tuple(
        Compared(
            layer=pair.layer,
            layers=pair.names,
            premises=pair.premises,
            steps=tuple(steps(pair.here.hops, pair.there.hops)),
        )
        for pair in pairs(here, there)
    )
    drift = Drift(
        questions=1,
        alike=told.alike,
        changes=told.changes(),
        chains=chains,
        same=sum(step.change is Change.SAME for chain in chains for step in chain.steps),
        only=tuple(told.only),
        cut=tuple(told.cut),
        differs=(asked_otherwise := tuple(differs)),
        identical=_identical(here.pins[:1], there.pins[:1]) and not asked_otherwise,
    )
    return Report(
        tool=__version__,
        question=_both(here.question, there.question),
        pins=(*here.pins[:1], *there.pins[:1]) if here.pins and there.pins else (),
        chains=(),
        drift=drift,
        coverage=read_together(here.coverage, there.coverage),
    )


def _identical(here: tuple[Pin, ...], there: tuple[Pin, ...]) -> bool:
    """Whether two pins are of the same files."""
    hashes = [[(pin.python_hash, pin.native_hash) for pin in pins] for pins in (here, there)]
    return bool(here) and hashes[0] == hashes[1]


def _both(here: Question, there: Question) -> Question:
    """What the two questions have in common, and what either leaves unknown or assumes."""
    return Question(
        engine=here.engine,
        asked=_common(here.asked, there.asked),
        resolved=_common(here.resolved, there.resolved),
        unknown=tuple(sorted({*here.unknown, *there.unknown})),
        assumed=tuple(dict.fromkeys((*here.assumed, *there.assumed))),
    )


def _common(one: Mapping[str, Value], other: Mapping[str, Value]) -> dict[str, Value]:
    return {name: value for name, value in one.items() if name in other and other[name] == value}


def many(
    questions: Iterable[Put], only: Iterable[Only], pins: tuple[Pin, Pin], asked: Mapping[str, Value]
) -> Report:
    """Many questions; of the hops, those that became another."""
    told, hops = Told(), Hops()
    for put in questions:
        told.add(put)
        hops.add(put)
    drift = Drift(
        questions=told.questions,
        devices=told.devices(),
        alike=told.alike,
        changes=told.changes(),
        chains=(Compared(layer="", steps=hops.steps()),),
        same=hops.same(),
        only=(*only, *told.only),
        cut=tuple(told.cut),
        identical=_identical(pins[:1], pins[1:]),
    )
    return Report(
        tool=__version__,
        question=Question(engine=pins[0].engine, asked=dict(asked), resolved={}),
        pins=pins,
        chains=(),
        drift=drift,
        coverage=told.coverage,
    )
