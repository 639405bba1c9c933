"""Answers from a snapshot: on the grid the same bytes as from the source, off it none."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from ...report.model import Report, Value
from ..scenario import RESOLVED, Scenario, device_facts
from ..supposed import joined
from .file import Record, Snapshot


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
    parts = [(premise, snapshot.named(key)) for premise, key in found.parts]
    known = [(premise, part.report) for premise, part in parts if part is not None]
    return joined(scenario, known) if len(known) == len(parts) else None


def _asked(snapshot: Snapshot, scenario: Scenario, report: Report, asked: Mapping[str, Value]) -> Report:
    told = {**report.question.resolved, **device_facts(scenario)}
    resolved = {name: told[name] for name in RESOLVED if name in told}
    question = replace(report.question, asked=dict(asked), resolved=resolved)
    return replace(report, tool=snapshot.header.tool, pins=(snapshot.pin,), question=question)
