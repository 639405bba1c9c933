"""`qtrace diff` over the grid against what three releases themselves answered, both ways.

No change that the recordings deny may be told as certain, and each that they have must be listed.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import pytest
from msgspec.structs import replace
from oracle_outcomes import FILE, REFUSED, RELEASES, STANDARDS, method
from packaging.version import Version

from qtrace.report.drift import Drift, Drifted, Ended, Fate, Where
from qtrace.report.names import short
from qtrace.report.predicate import AllOf, Always, AnyOf, Member, Never, Not, Predicate
from qtrace.report.standing import Standing
from qtrace.tracer.answers import FromSnapshot
from qtrace.tracer.drift.compare import many
from qtrace.tracer.drift.grid import only, questions
from qtrace.tracer.scenario import Scenario
from qtrace.tracer.snapshot.bundled import bundled
from qtrace.tracer.snapshot.file import Snapshot
from qtrace.tracer.standard import standards

RECORDED = json.loads(gzip.decompress(FILE.read_bytes()))
WORDS = {standard.name: standard.words for standard in standards()}
BOTH_WAYS = [*pairwise(RELEASES), *(pair[::-1] for pair in pairwise(RELEASES))]
MOCKED = {"bitsandbytes": True, "gguf": True}
"""What the recording puts a mock in place of; of `bare`, nothing else is there."""
HALF = ("awq", "gptq")
"""Flags that are asked with float16: 0.20.0 takes nothing else, and the recording passes that check by."""
PLAIN = "not quantized"


def _bring() -> Any:
    raise AssertionError("a question of the grid is not in the snapshot")


@cache
def drift(here: str, there: str, layer: str) -> Drift:
    """What the command tells of CUDA devices and one kind of layer."""
    one, other = (
        FromSnapshot(Snapshot(bundled("vllm")[Version(version)]), _bring, print) for version in (here, there)
    )

    def wanted(asked: Scenario) -> bool:
        return asked.platform == "cuda" and asked.layer == layer and asked.rows is None

    puts = questions(one, other, wanted, lambda number: None)
    found = many(puts, only(one, other), (one.pin, other.pin), {}).drift
    assert found is not None
    return found


class Cell(NamedTuple):
    """What was recorded of one question at both pins, and the changes that are told of it."""

    name: str
    was: list[str]
    now: list[str]
    told: list[tuple[Drifted, bool | None]]
    """Each with whether its condition holds, None where that is not known."""

    def changed(self) -> bool:
        return self.was != self.now

    def denied(self) -> list[Drifted]:
        """Changes that are certain, and that the recordings do not have."""
        sure = (
            change for change, holds in self.told if holds and change.sure and change.fate is not Fate.OPEN
        )
        return [change for change in sure if (names(change.was), names(change.now)) != (self.was, self.now)]

    def listed(self) -> bool:
        return any((names(change.was), names(change.now)) == (self.was, self.now) for change, _ in self.told)


def names(end: Ended) -> list[str]:
    return REFUSED if end.standing is Standing.REFUSED else sorted(map(short, end.reaches))


def holds(guard: Predicate, packages: Mapping[str, bool]) -> bool | None:
    """Kleene's three values, with these packages there and no others."""
    match guard:
        case Always() | Never():
            return isinstance(guard, Always)
        case Member(name=name, values=values) if name.startswith("package "):
            return packages.get(name.removeprefix("package "), False) in values
        case Not(item=item):
            found = holds(item, packages)
            return None if found is None else not found
        case AllOf(items=items) | AnyOf(items=items):
            found_by = {holds(item, packages) for item in items}
            decisive = isinstance(guard, AnyOf)
            return decisive if decisive in found_by else None if None in found_by else not decisive
        case _:
            return None


def told(drift: Drift, asked: Mapping[str, Any], device: str, packages: Mapping[str, bool]) -> Iterator[Any]:
    """The changes of outcome of one question, but those that these packages rule out."""
    for change in drift.changes:
        if change.fate is not Fate.WAY and any(_about(where, asked, device) for where in change.where):
            found = holds(change.guard, packages)
            if found is not False:
                yield change, found


def _about(where: Where, asked: Mapping[str, Any], device: str) -> bool:
    return device in where.devices and dict(where.asked) == asked


def linear(here: str, there: str) -> Iterator[Cell]:
    """The cells of linear layers: `bare` by flag and checkpoint, `wheel` by the checkpoint alone."""
    found = drift(here, there, "linear")
    for profile, by_capability in RECORDED[here]["linear"].items():
        for capability, cells in by_capability.items():
            for label in cells:
                other = RECORDED[there]["linear"][profile][capability]
                asked = _asked(profile, label)
                if asked is not None and label in other:
                    was = _gated(here, label, int(capability), asked, cells[label])
                    now = _gated(there, label, int(capability), asked, other[label])
                    changes = list(told(found, asked, f"sm_{capability}", MOCKED))
                    yield Cell(f"{profile} sm_{capability} {label}", was, now, changes)


def _asked(profile: str, label: str) -> dict[str, Any] | None:
    """The question of the grid that a cell is about; None where there is none."""
    flag, checkpoint = method(label), WORDS[STANDARDS[label]]
    if (
        "desc_act" in label or flag == "bitsandbytes"
    ):  # 0.33.0 has no such flag, or takes it with no such checkpoint
        flag = ""
    if profile == "wheel":
        named = flag in HALF or flag == "" or flag in ("awq_marlin", "gptq_marlin", "mxfp4", "gpt_oss_mxfp4")
        return None if named else {"checkpoint": checkpoint, "packages": "wheel"}
    asked = {"quantization": flag, "checkpoint": checkpoint, "dtype": "float16"}
    return {name: value for name, value in asked.items() if value and (name != "dtype" or flag in HALF)}


def _gated(
    version: str, label: str, capability: int, asked: Mapping[str, Any], recorded: list[str]
) -> list[str]:
    """What the engine's checks of device and dtype, which the recording passed by, leave of an end."""
    gate = RECORDED[version]["gates"].get(method(label))
    if gate is None:
        return recorded
    least, dtypes = gate
    dtype = asked.get("dtype") or ("float16" if capability < 80 else "bfloat16")
    taken = dtypes is None or f"torch.{dtype}" in dtypes
    return recorded if capability >= least and taken else REFUSED


def caches(here: str, there: str) -> Iterator[Cell]:
    """The cells of KV caches: which backend is chosen; what refuses later is beyond the recording."""
    found = drift(here, there, "attention")
    for capability, cells in RECORDED[here]["kv"].items():
        for dtype, was in cells.items():
            now = RECORDED[there]["kv"][capability].get(dtype)
            if now is not None and REFUSED not in (was, now):
                asked = {"kv_cache_dtype": dtype, "layer": "attention", "checkpoint": PLAIN}
                changes = told(found, asked, f"sm_{capability}", MOCKED)
                backends = [
                    (change, holds)
                    for change, holds in changes
                    if Standing.REFUSED not in (change.was.standing, change.now.standing)
                ]
                yield Cell(
                    f"sm_{capability} {dtype}",
                    was,
                    now,
                    [(_backend(change), holds) for change, holds in backends],
                )


def _backend(change: Drifted) -> Drifted:
    """The change of the backend alone, without the class that it brings."""
    return replace(change, was=_of_backend(change.was), now=_of_backend(change.now))


def _of_backend(end: Ended) -> Ended:
    return replace(end, reaches=tuple(symbol for symbol in end.reaches if short(symbol).endswith("Backend")))


@pytest.mark.parametrize("cells", [linear, caches])
@pytest.mark.parametrize(("here", "there"), BOTH_WAYS)
def test_what_is_told_is_what_the_recordings_have(here: str, there: str, cells: Any) -> None:
    found = list(cells(here, there))
    denied = [(cell.name, cell.was, cell.now, _told(cell.denied())) for cell in found if cell.denied()]
    missed = [cell for cell in found if cell.changed() and not cell.listed()]
    print(f"{here} to {there}: {_figures(found)}")
    assert any(cell.changed() for cell in found) and not denied
    assert not [(cell.name, cell.was, cell.now, _told(c for c, _ in cell.told)) for cell in missed]


def _told(changes: Iterable[Drifted]) -> list[tuple[list[str], list[str]]]:
    return [(names(change.was), names(change.now)) for change in changes]


def _figures(cells: Iterable[Cell]) -> dict[str, int]:
    return dict(Counter("changed" if cell.changed() else "open" if cell.told else "same" for cell in cells))


DRIFTS = [
    ("0.20.0", "0.26.0", ["GPTQLinearMethod"], ["MacheteLinearKernel"], {"quantization": "gptq"}, "sm_90"),
    ("0.20.0", "0.26.0", ["GPTQLinearMethod"], ["MarlinLinearKernel"], {"quantization": "gptq"}, "sm_80"),
    ("0.20.0", "0.26.0", ["AWQLinearMethod"], ["MarlinLinearKernel"], {"quantization": "awq"}, "sm_89"),
    ("0.20.0", "0.26.0", ["AWQLinearMethod"], ["MacheteLinearKernel"], {"quantization": "awq"}, "sm_90"),
    (
        "0.26.0",
        "0.33.0",
        ["TritonFp8BlockScaledMMKernel"],
        ["MarlinFP8ScaledMMLinearKernel"],
        {"quantization": "fp8"},
        "sm_89",
    ),
    (
        "0.26.0",
        "0.33.0",
        ["MacheteLinearKernel"],
        REFUSED,
        {"checkpoint": WORDS["gptq-w4-desc-act"]},
        "sm_90",
    ),
    ("0.26.0", "0.33.0", ["MarlinLinearKernel"], REFUSED, {"checkpoint": WORDS["gptq-w4-desc-act"]}, "sm_80"),
    (
        "0.26.0",
        "0.33.0",
        ["AllSparkLinearKernel"],
        ["MarlinLinearKernel"],
        {"checkpoint": WORDS["ct-w8a16"]},
        "sm_86",
    ),
    (
        "0.26.0",
        "0.33.0",
        ["BitsAndBytesLinearMethod"],
        REFUSED,
        {"checkpoint": WORDS["bitsandbytes-nf4"]},
        "sm_90",
    ),
]
"""What is known to have changed: releases, ends, what is asked, device."""


@pytest.mark.parametrize(("here", "there", "was", "now", "asked", "device"), DRIFTS)
def test_what_is_known_to_have_changed_is_listed(
    here: str, there: str, was: list[str], now: list[str], asked: dict[str, str], device: str
) -> None:
    found = [
        change
        for change in drift(here, there, "linear").changes
        if (names(change.was), names(change.now)) == (was, now)
        and any(device in where.devices and asked.items() <= where.asked.items() for where in change.where)
    ]
    assert found


def test_flags_that_went_and_came_are_told() -> None:
    gone = {(o.flag, o.value) for o in drift("0.20.0", "0.26.0", "linear").only if o.change == "gone"}
    assert {("--quantization", "gguf"), ("--quantization", "cpu_awq")} <= gone
    later = {(o.flag, o.value) for o in drift("0.26.0", "0.33.0", "linear").only if o.change == "gone"}
    assert ("--quantization", "bitsandbytes") in later
