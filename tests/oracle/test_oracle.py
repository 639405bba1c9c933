"""qtrace against what the engine's own selection code answered under a faked platform."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from oracle_cells import SECTIONS, Cell, cells, load, table

from qtrace.tracer.library import Library
from qtrace.tracer.sources import open_source

DATA = Path(__file__).parent.parent / "data" / "oracle"
WANTED = 0.99
"""Share of the counted cells that have to be decided and equal, or shown to be wrong in the recording."""
FIRST = ("methods", "registries", "override", "linear")
LAYERS = ("moe", "moe_method", "kv")
SECTIONS_OF = {"trimmed": FIRST, "layers": LAYERS}
TRIMMED = {
    ("trimmed", "bare", "75"): 93,
    ("trimmed", "wheel", "90"): 91,
    ("trimmed", "wheel", "120"): 91,
    ("layers", "bare", "80"): 94,
    ("layers", "bare", "100"): 94,
    ("layers", "wheel", "90"): 93,
}
"""Counted cells of each part of a recording: its name, the packages, the capability."""
LATER = (("trimmed", "bare", "75"), ("trimmed", "wheel", "120"), ("layers", "bare", "80"))
"""Parts that wait for the long run: what they ask, the other parts ask of other devices."""
HUMMING = {
    "compressed-tensors[MXFP4 W4A16]",
    "compressed-tensors[MXFP4 W4A4]",
    "online:mxfp4",
    "quark[w_mxfp4 a_mxfp4]",
}
OPEN = {("trimmed", "wheel", "90"): HUMMING}
"""Cells that are open: whether a class of the humming package raises, the source does not say."""
WHOLE = {"0.20.0": 2303, "0.26.0": 2415, "0.33.0": 2597}
"""Counted cells of each recording."""


def _none_wrong(found: list[Cell]) -> None:
    """No cell is wrong, and what is open says what decides it."""
    print()
    print(table(found))
    wrong = [
        (c.profile, c.capability, c.section, c.label, c.expected, c.got) for c in found if c.state == "wrong"
    ]
    assert not wrong
    for cell in found:
        if cell.state == "open":
            assert " when " in cell.got, f"{cell} is open without the condition that would decide it"


@pytest.mark.parametrize(
    "part", [pytest.param(p, marks=[pytest.mark.full] * (p in LATER), id="-".join(p)) for p in TRIMMED]
)
def test_trimmed_recording_is_answered(library: Library, part: tuple[str, str, str]) -> None:
    name, profile, capability = part
    recorded = load(DATA / f"vllm-0.33.0-{name}.json.gz")[profile][capability]
    found = list(cells(library, {profile: {capability: recorded}}, SECTIONS_OF[name]))
    assert len(found) == TRIMMED[part]
    _none_wrong(found)
    assert {cell.label for cell in found if cell.state == "open"} == OPEN.get(part, set())


@pytest.mark.full
@pytest.mark.parametrize("version", WHOLE)
def test_whole_recording_is_answered(vllm_sdist: Path, version: str) -> None:
    folder = os.environ.get("QTRACE_DATA")
    if folder is None:
        pytest.skip("QTRACE_DATA does not name a folder with the whole recordings")
    source = vllm_sdist.parent / f"vllm-{version}.tar.gz"
    if not source.exists():
        pytest.fail(f"no source at {source}: run `.ci/sdist vllm {version}`", pytrace=False)
    recorded = load(Path(folder) / "oracle" / f"vllm-{version}.json.gz")
    found = list(cells(Library(open_source(source)), recorded, SECTIONS))
    assert len(found) == WHOLE[version]
    _none_wrong(found)
    assert sum(cell.state != "open" for cell in found) >= WANTED * len(found)
