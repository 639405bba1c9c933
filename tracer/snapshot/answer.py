"""Answers from a snapshot: on the grid the same bytes as from the source, off it an open one."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from ...report.model import Chain, Coverage, Outcome, Question, Report, Value
from ...report.predicate import Opaque
from ..scenario import RESOLVED, Scenario, device_facts
from ..supposed import under_all
from .file import Record, Snapshot, on_device_of


def told(snapshot: Snapshot, scenario: Scenario, asked: Mapping[str, Value]) -> Report:
    """The report of one question, open where the snapshot holds no answer to it: nothing is guessed."""
    found = recorded(snapshot, scenario, asked)
    return _asked(snapshot, scenario, _open(snapshot, scenario), asked) if found is None else found


def _open(snapshot: Snapshot, scenario: Scenario) -> Report:
    """What is said of a question off the grid."""
    why = f"the source of {snapshot.pin.engine} {snapshot.pin.version}, which the snapshot does not stand for"
    chain = Chain(layer=scenario.layer, hops=(), outcomes=(Outcome(guard=Opaque(why)),))
    return Report(
        tool=snapshot.header.tool,
        question=Question(engine=snapshot.pin.engine, asked={}, resolved={}),
        pins=(),
        chains=(chain,),
        coverage=Coverage(modules_read=0, statements=0),
    )


def recorded(snapshot: Snapshot, scenario: Scenario, asked: Mapping[str, Value]) -> Report | None:
    """The report of one question; None where the snapshot holds no answer to it."""
    found = snapshot.record(scenario)
    if found is None:
        return None
    report = _whole(snapshot, scenario, found)
    return None if report is None else _asked(snapshot, scenario, report, asked)


def _whole(snapshot: Snapshot, scenario: Scenario, found: Record) -> Report | None:
    if not found.parts:
        return found.report
    known = []
    for premise, key in found.parts:
        part = snapshot.named(key)
        there = None if part is None else on_device_of(scenario, part.scenario)
        if part is not None and there is not None and there != part.scenario:
            part = snapshot.record(there)
        if part is None:
            return None
        known.append((premise, part.report))
    return under_all(scenario, found.report, known)


def _asked(snapshot: Snapshot, scenario: Scenario, report: Report, asked: Mapping[str, Value]) -> Report:
    known = {**report.question.resolved, **device_facts(scenario)}
    resolved = {name: known[name] for name in RESOLVED if name in known}
    question = replace(report.question, asked=dict(asked), resolved=resolved)
    return replace(report, tool=snapshot.header.tool, pins=(snapshot.pin,), question=question)
