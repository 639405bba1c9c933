"""Holds the records of a snapshot against the source that they were taken from."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from ...report.codec import encode
from ..answer import answered
from ..library import Library
from ..merged import merged
from ..native.build import Build
from ..native.fetched import fetched
from ..scenario import Scenario
from ..sources import Source
from .answer import told
from .build import known, native
from .file import Snapshot


def differing_facts(snapshot: Snapshot, library: Library) -> Iterator[str]:
    """What is said of the whole release, and the source says otherwise."""
    header, source = snapshot.header, library.source
    facts = {
        "what the release's flags take": (header.knows, known(library)),
        "the modes of its cache that are one": (header.merged, merged(source)),
        "what its build takes from elsewhere": (header.fetched, fetched(source)),
    }
    yield from (what for what, (held, says) in facts.items() if held != says)


def differing_operators(snapshot: Snapshot, source: Source) -> Iterator[tuple[Build, str]]:
    """The operators and kernels, of each build, of which the source says something else."""
    held = dict(snapshot.header.native)
    for build, found in native(source, snapshot.header.knows).items() if held else ():
        recorded = snapshot.operators(build)
        for operator in found:
            if recorded is None or recorded(operator.symbol) != operator:
                yield build, operator.symbol


def differing(snapshot: Snapshot, library: Library, every: int) -> Iterator[tuple[Scenario, bool]]:
    """Each `every`th question, and whether the source gives other bytes."""
    for record in islice(snapshot.records(), 0, None, every):
        recorded = encode(told(snapshot, record.scenario, {}))
        yield record.scenario, recorded != encode(answered(library, record.scenario, {}))
