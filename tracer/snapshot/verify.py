"""Holds the records of a snapshot against the source that they were taken from."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from ...report.codec import encode
from ..answer import answered
from ..library import Library
from ..scenario import Scenario
from .answer import told
from .file import Snapshot


def differing(snapshot: Snapshot, library: Library, every: int) -> Iterator[tuple[Scenario, bool]]:
    """Each `every`th question, and whether the source gives other bytes."""
    for record in islice(snapshot.records(), 0, None, every):
        recorded = encode(told(snapshot, record.scenario, {}))
        yield record.scenario, recorded != encode(answered(library, record.scenario, {}))
