"""Public bug reports about the KV cache and memory: right on the releases they name, silent on the others."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from cases import told
from msgspec.structs import replace

from qtrace.rules import judge
from qtrace.tracer.answer import answered
from qtrace.tracer.library import Library
from qtrace.tracer.scenario import Scenario
from qtrace.tracer.sources import open_source

CASES = json.loads((Path(__file__).parent.parent / "data" / "cases" / "kv.json").read_text())
HERE = "0.33.0"
SLOW = ("53", "37 without FP8 in hardware")
QUICK = [case["id"] for case in CASES if case["id"] not in SLOW]
"""What is asked of the release at hand in every run; all of the others come with the long tests."""


def findings(library: Library, case: dict[str, Any]) -> list[list[str]]:
    """Rule and level of all that is found of faults."""
    given = dict(case["scenario"])
    tensors = {name: {"dtype": "F32", "shape": []} for name in given.pop("tensors", ())}
    scenario = Scenario(model=case["config"], tensors=tensors, cuda=13000, **{"profile": "wheel", **given})
    asked = {"kv_cache_dtype": given["kv_cache_dtype"]} if "kv_cache_dtype" in given else {}
    made = answered(library, scenario, asked)
    return told(replace(made, findings=judge(made)))


@cache
def release(sdist: Path) -> Library:
    return Library(open_source(sdist))


def check(library: Library, case: dict[str, Any], version: str) -> None:
    assert findings(library, case) == case["expect"][version]


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
