"""Modes of the KV cache that are one value."""

from __future__ import annotations

import pytest
from packaging.version import Version

from qtrace.report.predicate import Site
from qtrace.tracer.answers import FromSource
from qtrace.tracer.merged import merged
from qtrace.tracer.snapshot.bundled import bundled
from qtrace.tracer.snapshot.file import Snapshot
from qtrace.tracer.sources import Held, Source


def test_two_modes_of_a_release_are_one(vllm_source: Source) -> None:
    (found,) = merged(vllm_source)
    assert found.enum == "vllm.v1.kv_cache_interface.KVQuantMode"
    assert (found.members, found.value) == (("OCTAVE_K3V4", "CUSTOM"), "12")
    assert found.site == Site("vllm/v1/kv_cache_interface.py", 69)
    assert FromSource(vllm_source).merged == (found,)


@pytest.mark.parametrize(
    ("text", "members"),
    [
        ("class KVMode(IntEnum):\n    A = 1\n    B = 2\n    C = 1\n", [("A", "C")]),
        ("class CacheMode(enum.Enum):\n    A = B = 'x'\n", [("A", "B")]),
        ("class KVMode(IntEnum):\n    A = 1\n    B = 2\n", []),
        ("class Kind(IntEnum):\n    A = 1\n    B = 1\n", []),
        ("class KVMode(IntEnum:\n    A = 1\n", []),
    ],
)
def test_only_names_of_one_value_are_told(text: str, members: list[tuple[str, ...]]) -> None:
    files = {"vllm/__init__.py": b"", "vllm/modes.py": text.encode()}
    assert [found.members for found in merged(Source("vllm", Held(files)))] == members


@pytest.mark.parametrize(("version", "count"), [("0.33.0", 1), ("0.26.0", 0), ("0.20.0", 0)])
def test_a_snapshot_holds_them(version: str, count: int) -> None:
    snapshot = Snapshot(bundled("vllm")[Version(version)])
    assert len(snapshot.header.merged) == count
