"""Snapshots: on the grid the bytes of the source, off it nothing; a file that is none is told in one line."""

from __future__ import annotations

import json
import lzma
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from shared import made_once

from qtrace import __version__
from qtrace.cli import main
from qtrace.commands import options
from qtrace.report.codec import encode
from qtrace.report.errors import SourceError
from qtrace.report.model import Report
from qtrace.tracer.answer import answered
from qtrace.tracer.devices import device
from qtrace.tracer.library import Library
from qtrace.tracer.readings import Print, Reading
from qtrace.tracer.scenario import PLATFORMS, Scenario
from qtrace.tracer.snapshot.answer import recorded, told
from qtrace.tracer.snapshot.build import build, known
from qtrace.tracer.snapshot.file import LARGEST, Known, Record, Snapshot, packed, save
from qtrace.tracer.snapshot.grid import groups
from qtrace.tracer.snapshot.verify import differing
from qtrace.tracer.standard import model_for, standards

ASKED = {"quantization": "fp8"}
FLAG = Scenario(whole=False, quantization="fp8", layer="o_proj", capability=90, profile="wheel", cuda=13000)
NVFP4 = next(standard.config for standard in standards() if standard.name == "ct-nvfp4")
GIVEN = Scenario(
    model={**model_for("linear").config, "quantization_config": NVFP4},
    capability=100,
    profile="wheel",
    cuda=13000,
)


@pytest.fixture(scope="module")
def snapshot(library: Library, tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    def make(path: Path) -> None:
        seen: list[tuple[int, int]] = []
        groups = [[FLAG], [GIVEN, GIVEN]]
        size = build(library.source, path, lambda *done: seen.append(done), only=groups)
        assert size == path.stat().st_size
        assert seen == [(1, 5), (2, 6)]

    return Snapshot(made_once(tmp_path_factory, "small.snapshot", make))


def test_every_record_is_what_the_source_says(library: Library, snapshot: Snapshot) -> None:
    assert snapshot.pin == library.source.pin()
    assert len(snapshot) == 6
    for record in snapshot.records():
        told = recorded(snapshot, record.scenario, ASKED)
        assert told is not None
        assert encode(told) == encode(answered(library, record.scenario, ASKED))


def test_a_product_has_the_answer_of_its_capability_where_its_name_is_not_asked(
    library: Library, snapshot: Snapshot
) -> None:
    h100 = device("h100-sxm")
    question = replace(FLAG, device_name=h100.driver, compute_units=h100.counted)
    assert h100.driver is not None
    told = recorded(snapshot, question, ASKED)
    assert told is not None
    assert encode(told) == encode(answered(library, question, ASKED))
    assert list(told.question.resolved) == list(answered(library, question, ASKED).question.resolved)


@pytest.mark.parametrize(
    "change",
    [
        {"capability": 89},
        {"dtype": "float16"},
        {"rows": 1},
        {"tensor_parallel": 2},
        {"environment": {"VLLM_TEST_FORCE_FP8_MARLIN": "1"}},
        {"packages": {"deep_gemm": False}},
        {"quantization": "awq"},
        {"unread": ("max_model_len",)},
    ],
)
def test_a_question_off_the_grid_has_no_answer(snapshot: Snapshot, change: dict[str, object]) -> None:
    question = replace(FLAG, **change)
    assert recorded(snapshot, question, ASKED) is None
    report = told(snapshot, question, ASKED)
    (chain,) = report.chains
    assert not chain.decided()
    assert "the source of vllm 0.33.0" in str(chain.outcomes[0].guard)
    assert report.question.asked == ASKED


def test_an_answer_that_hangs_on_the_device_is_its_alone(library: Library, tmp_path: Path) -> None:
    """A kernel that is configured by the device's name is no answer for another of the same capability."""
    path = tmp_path / "named.snapshot"
    block = next(standard.config for standard in standards() if standard.name == "fp8-block")
    model = {**model_for("linear").config, "quantization_config": block}
    question = replace(GIVEN, model=model, capability=89)
    build(library.source, path, lambda *done: None, only=[[question]])
    (record,) = Snapshot(path).records()
    assert record.consulted
    assert recorded(Snapshot(path), question, ASKED) is not None
    assert recorded(Snapshot(path), replace(question, device_name="NVIDIA L4"), ASKED) is None


def test_a_question_without_a_checkpoint_hangs_on_the_device_where_a_part_does(
    library: Library, tmp_path: Path
) -> None:
    path = tmp_path / "parts.snapshot"
    question = replace(FLAG, capability=89)
    build(library.source, path, lambda *done: None, only=[[question]])
    held = Snapshot(path)
    assert {record.consulted for record in held.records()} == {True, False}
    assert recorded(held, question, ASKED) is not None
    assert recorded(held, replace(question, device_name="NVIDIA L4"), ASKED) is None


def test_the_order_of_a_checkpoints_groups_counts(library: Library, tmp_path: Path) -> None:
    """The engine takes the first group whose targets match."""
    path = tmp_path / "order.snapshot"
    groups = NVFP4["config_groups"]
    two = {"group_0": groups["group_0"], "group_1": {**groups["group_0"], "targets": ["re:.*o_proj"]}}
    model = dict(model_for("linear").config)
    configs = [{**NVFP4, "config_groups": both} for both in (two, dict(reversed(two.items())))]
    asked = [replace(GIVEN, model={**model, "quantization_config": config}) for config in configs]
    build(library.source, path, lambda *done: None, only=[asked[:1]])
    assert recorded(Snapshot(path), asked[0], ASKED) is not None
    assert recorded(Snapshot(path), asked[1], ASKED) is None


@pytest.mark.parametrize("name", ["\ud800", "nested"])
def test_a_question_that_cannot_be_written_is_off_the_grid(snapshot: Snapshot, name: str) -> None:
    deep: list[object] = []
    for _ in range(5000):
        deep = [deep]
    model = {**model_for("linear").config, "odd": deep if name == "nested" else name}
    assert recorded(snapshot, replace(GIVEN, model=model), ASKED) is None


def test_the_grid_holds_each_question_once(library: Library) -> None:
    questions = [question for group in groups(known(library)) for question in group]
    assert len({str(question) for question in questions}) == len(questions)
    assert {q.quantization for q in questions} >= {"fp8", "awq", "compressed-tensors", None}
    assert {q.layer for q in questions} == {"linear", "experts", "attention"}


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is no snapshot of qtrace"),
        (b"{}\n", "is no snapshot of qtrace"),
        (b"\x1f\x8b\n", "is no snapshot of qtrace"),
    ],
)
def test_another_file_is_one_line(tmp_path: Path, data: bytes, words: str) -> None:
    path = tmp_path / "odd.snapshot"
    path.write_bytes(data)
    with pytest.raises(SourceError, match=words):
        Snapshot(path)


def test_a_newer_one_is_one_line(snapshot: Snapshot, tmp_path: Path) -> None:
    newer = tmp_path / "newer.snapshot"
    newer.write_bytes(snapshot.path.read_bytes().replace(b"qtrace-snapshot/2", b"qtrace-snapshot/3", 1))
    with pytest.raises(SourceError, match=r"newer.snapshot is a qtrace-snapshot/3; this qtrace reads"):
        Snapshot(newer)


@pytest.mark.parametrize("wrong", ["missing", "a folder"])
def test_what_is_no_file_is_one_line(tmp_path: Path, wrong: str) -> None:
    path = tmp_path if wrong == "a folder" else tmp_path / "missing"
    with pytest.raises(SourceError, match="cannot read"):
        Snapshot(path)


Damage = Callable[[dict[str, Any], bytes], tuple[dict[str, Any], bytes]]
BLOCKS: dict[str, Damage] = {
    "cut": lambda block, body: ({}, body[: block["size"] // 2]),
    "elsewhere": lambda block, body: ({"offset": -1}, body),
    "far away": lambda block, body: ({"offset": 1 << 62}, body),
    "of no size": lambda block, body: ({"size": -1}, body),
    "too large": lambda block, body: ({"size": 1 << 62}, body),
    "not packed": lambda block, body: ({}, b"x" * len(body)),
    "too few lines": lambda block, body: ({"keys": [*block["keys"], "0" * 16]}, body),
    "of other keys": lambda block, body: ({"keys": list(reversed(block["keys"]))}, body),
    "no record": lambda block, body: _block(b"{}"),
    "no JSON": lambda block, body: _block(b"{"),
    "too deep": lambda block, body: _block(b"[" * 100_000),
    "a bomb": lambda block, body: _block(b"0" * (LARGEST + 1)),
}


def _block(lines: bytes) -> tuple[dict[str, Any], bytes]:
    packed_lines = lzma.compress(lines)
    return {"offset": 0, "size": len(packed_lines), "keys": ["0" * 16]}, packed_lines


@pytest.mark.parametrize("wrong", BLOCKS)
def test_a_damaged_one_is_one_line(snapshot: Snapshot, tmp_path: Path, wrong: str) -> None:
    head, _, body = snapshot.path.read_bytes().partition(b"\n")
    header = json.loads(head)
    changes, body = BLOCKS[wrong](header["blocks"][0], body)
    header["blocks"] = [header["blocks"][0] | changes]
    path = tmp_path / "odd.snapshot"
    path.write_bytes(json.dumps(header).encode() + b"\n" + body)
    with pytest.raises(SourceError, match=r"odd.snapshot is damaged"):
        list(Snapshot(path).records())


@pytest.mark.parametrize(
    "strange",
    [
        {"platform": "tpu"},
        {"capability": 7},
        {"arch": "x"},
        {"cpu": ("z80",)},
        {"rows": 0},
        {"tensor_parallel": 0},
    ],
)
def test_a_question_that_nobody_asks_is_one_line(
    single: Snapshot, tmp_path: Path, strange: dict[str, Any]
) -> None:
    (record,) = single.records()
    odd = replace(record, scenario=replace(record.scenario, **strange))
    _save(tmp_path / "odd.snapshot", single, [odd])
    with pytest.raises(SourceError, match="is damaged"):
        list(Snapshot(tmp_path / "odd.snapshot").records())


def test_the_platforms_are_those_of_the_command_line() -> None:
    assert PLATFORMS == options.PLATFORMS


def test_reading_one_imports_no_parser() -> None:
    code = (
        "import sys; import qtrace.tracer.snapshot.answer; import qtrace.rules; "
        "print(sorted({'libcst', 'networkx', 'textual', 'tree_sitter'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.fixture(scope="module")
def single(library: Library, tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    def make(path: Path) -> None:
        build(library.source, path, lambda *done: None, only=[[GIVEN]])

    return Snapshot(made_once(tmp_path_factory, "single.snapshot", make))


def test_the_command_holds_a_file_against_the_source(
    vllm_sdist: Path, single: Snapshot, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    verify = ["snapshot", "verify", "--at", str(vllm_sdist)]
    assert main([*verify, str(single.path)]) == 0
    assert capsys.readouterr().out == "1 of 1 records asked of the source again, 0 differ\n"
    forged = tmp_path / "forged.snapshot"
    head, _, body = single.path.read_bytes().partition(b"\n")
    forged.write_bytes(head.replace(single.pin.python_hash.encode(), b"0" * 64) + b"\n" + body)
    assert main([*verify, str(forged)]) == 2
    assert "other files" in capsys.readouterr().err
    less = single.header.knows.flags[1:]
    _save(forged, single, single.records(), replace(single.header.knows, flags=less))
    assert main([*verify, str(forged)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "differs: what the release's flags take",
        "differs: the modes of its cache that are one",
        "differs: what its build takes from elsewhere",
    ]
    assert main([*verify, "--every", "0", str(single.path)]) == 2
    assert "take a positive number" in capsys.readouterr().err


def test_a_record_that_the_source_does_not_give_is_found(
    library: Library, single: Snapshot, tmp_path: Path
) -> None:
    path = tmp_path / "wrong.snapshot"
    wrong = [replace(record, consulted=False, report=_other(record.report)) for record in single.records()]
    _save(path, single, wrong)
    found = list(differing(Snapshot(path), library, every=1))
    assert [differs for _, differs in found] == [True]


def _save(path: Path, like: Snapshot, records: Iterable[Record], knows: Known | None = None) -> None:
    """Write records as if they had been read from nothing."""
    group = packed((record, frozenset()) for record in records)
    readings: frozenset[Reading] = frozenset()
    save(
        path,
        __version__,
        like.pin,
        knows or like.header.knows,
        [group],
        (readings, lambda one: Print(one.kind)),
        {},
    )


def _other(report: Report) -> Report:
    return replace(report, coverage=replace(report.coverage, statements=1))
