"""Public bug reports about the KV cache and memory: right on the releases they name, silent on the others."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from qtrace.report.model import Finding
from qtrace.rules import judge
from qtrace.tracer.answer import report, walked
from qtrace.tracer.library import Library
from qtrace.tracer.scenario import Scenario
from qtrace.tracer.sources import open_source

CASES = json.loads((Path(__file__).parent.parent / "data" / "cases" / "kv.json").read_text())
HERE = "0.33.0"
SLOW = ("53", "37 without FP8 in hardware")
QUICK = [case["id"] for case in CASES if case["id"] not in SLOW]
"""What is asked of the release at hand in every run; all of the others come with the long tests."""


def findings(library: Library, case: dict[str, Any]) -> list[Finding]:
    """What the case's own rule says; no other rule may be graver than it."""
    given = dict(case["scenario"])
    tensors = {name: {"dtype": "F32", "shape": []} for name in given.pop("tensors", ())}
    scenario = Scenario(model=case["config"], tensors=tensors, cuda=13000, **{"profile": "wheel", **given})
    asked = {"kv_cache_dtype": given["kv_cache_dtype"]} if "kv_cache_dtype" in given else {}
    return [f for f in judge(report(walked(library, scenario), asked)) if f.name == case["rule"]]


@cache
def release(sdist: Path) -> Library:
    return Library(open_source(sdist))


def check(library: Library, case: dict[str, Any], version: str) -> None:
    found = findings(library, case)
    expected = case["expect"][version]
    assert [str(f.level) for f in found] == ([] if expected is None else [expected]), found


@pytest.mark.parametrize("name", QUICK)
def test_the_release_at_hand(library: Library, name: str) -> None:
    case = next(case for case in CASES if case["id"] == name)
    check(library, case, HERE)


ELSEWHERE = [(case["id"], version) for case in CASES for version in case["expect"]]


@pytest.mark.full
@pytest.mark.parametrize(("name", "version"), ELSEWHERE)
def test_every_release(vllm_sdist: Path, name: str, version: str) -> None:
    sdist = vllm_sdist.parent / f"vllm-{version}.tar.gz"
    if not sdist.exists():
        pytest.fail(f"no source at {sdist}: run `.ci/sdist vllm {version}`", pytrace=False)
    check(release(sdist), next(case for case in CASES if case["id"] == name), version)
