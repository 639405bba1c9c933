"""qtrace against what the engine's own selection code answered under a faked platform."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from oracle_cells import Cell, cells, load, table

from qtrace.tracer.library import Library

TRIMMED = Path(__file__).parent.parent / "data" / "oracle" / "vllm-0.33.0-trimmed.json.gz"
WANTED = 0.95
FIRST = ("methods", "registries", "override", "linear")
"""Sections that are held to it."""


def _judge(found: list[Cell]) -> None:
    print()
    print(table(found))
    wrong = [
        (c.profile, c.capability, c.section, c.label, c.expected, c.got) for c in found if c.state == "wrong"
    ]
    assert not wrong
    equal = sum(c.state == "equal" for c in found)
    assert equal >= WANTED * len(found)
    for cell in found:
        if cell.state == "open":
            assert " when " in cell.got, f"{cell} is open without the condition that would decide it"


def test_trimmed_recording_is_answered(library: Library) -> None:
    found = list(cells(library, load(TRIMMED), FIRST))
    assert len(found) == 552
    _judge(found)


@pytest.mark.full
def test_whole_recording_is_answered(library: Library) -> None:
    folder = os.environ.get("QTRACE_DATA")
    if folder is None:
        pytest.skip("QTRACE_DATA does not name a folder with the whole recordings")
    recorded = load(Path(folder) / "oracle" / "vllm-0.33.0.json.gz")
    found = list(cells(library, recorded, FIRST))
    assert len(found) == 1288
    _judge(found)
