"""A small engine with a native half, and the ops that its registrations define."""

from __future__ import annotations

from pathlib import Path

import pytest

from qtrace.tracer.native.ops import OpIndex
from qtrace.tracer.sources import Source, open_source

DATA = Path(__file__).parent.parent.parent / "data" / "native"


@pytest.fixture(scope="module")
def source() -> Source:
    return open_source(DATA)


@pytest.fixture(scope="module")
def index(source: Source) -> OpIndex:
    return OpIndex.read(source)
