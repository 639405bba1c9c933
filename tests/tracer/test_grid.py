"""The bundled snapshots against the sources that they were taken from: on the grid the same, off it open."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from qtrace.report.codec import encode
from qtrace.report.errors import SourceError
from qtrace.report.standing import Standing, of_report
from qtrace.tracer.answer import answered
from qtrace.tracer.answers import FromSnapshot, FromSource
from qtrace.tracer.devices import device
from qtrace.tracer.library import Library
from qtrace.tracer.scenario import Scenario
from qtrace.tracer.snapshot.build import known
from qtrace.tracer.snapshot.bundled import bundled
from qtrace.tracer.snapshot.file import Snapshot, key_of
from qtrace.tracer.snapshot.grid import groups
from qtrace.tracer.snapshot.verify import differing
from qtrace.tracer.sources import Source, open_source

CACHE = Path(__file__).parent.parent.parent / ".cache"
EVERY = int(os.environ.get("QTRACE_EVERY", "40"))
"""Which records are asked of the source again; 1 takes an hour of CPU time a release."""
RANDOM = 1000
PRODUCTS = ("h100", "h200", "a100", "l40s", "b200", "t4", "rtx 5090")
CHANGES: tuple[dict[str, Any], ...] = (
    {"tensor_parallel": 2},
    {"rows": 16},
    {"dtype": "float16"},
    {"capability": 87},
    {"profile": "bare"},
    {"packages": {"flashinfer": False}},
    {"environment": {"VLLM_TEST_FORCE_FP8_MARLIN": "1"}},
    {"kv_cache_dtype": "auto"},
    {"layer": "down_proj"},
    {"expert_parallel": True},
    {"quantization": "gptq"},
)

pytestmark = pytest.mark.full


@pytest.fixture(scope="module", params=[str(version) for version in bundled("vllm")])
def pair(request: pytest.FixtureRequest) -> tuple[Snapshot, Library]:
    """A snapshot and its source."""
    source: Source = open_source(CACHE / f"vllm-{request.param}.tar.gz")
    paths = {str(version): path for version, path in bundled("vllm").items()}
    return Snapshot(paths[request.param]), Library(source)


def test_it_holds_the_grid(pair: tuple[Snapshot, Library]) -> None:
    snapshot, library = pair
    assert snapshot.pin == library.source.pin()
    assert snapshot.header.knows == known(library)
    questions = [question for group in groups(snapshot.header.knows) for question in group]
    assert all(snapshot.named(key_of(question)) is not None for question in questions)


def test_its_records_are_what_the_source_says(pair: tuple[Snapshot, Library]) -> None:
    snapshot, library = pair
    found = list(differing(snapshot, library, EVERY))
    assert len(found) >= len(snapshot) // EVERY
    assert [scenario for scenario, differs in found if differs] == []


def test_a_thousand_random_questions_are_answered_alike_or_not_at_all(pair: tuple[Snapshot, Library]) -> None:
    snapshot, library = pair
    answers = FromSnapshot(snapshot, _nothing, lambda line: None)
    same = 0
    for question in _random(snapshot):
        report = answers.ask(question, {})
        if report.coverage.statements:
            same += 1
            assert encode(report) == encode(answered(library, question, {})), question
        else:
            assert of_report(report) is Standing.OPEN, question
    assert 20 < same < RANDOM // 2


def _nothing() -> FromSource:
    raise SourceError("no source here")


def _random(snapshot: Snapshot) -> Iterator[Scenario]:
    """Questions of the grid, each on some product, nine of ten with something changed."""
    random = Random(4)
    questions = [question for group in groups(snapshot.header.knows) for question in group]
    for _ in range(RANDOM):
        question = random.choice(questions)
        if question.platform == "cuda" and question.capability is not None:
            product = device(random.choice(PRODUCTS))
            question = replace(
                question,
                capability=product.capability,
                device_name=product.driver,
                compute_units=product.counted,
            )
        for change in random.sample(CHANGES, random.choice((0, 1, 1, 1, 1, 1, 1, 1, 2, 3))):
            question = replace(question, **change)
        yield question
