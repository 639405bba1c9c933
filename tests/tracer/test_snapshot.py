"""Snapshots: on the grid the bytes of the source, off it nothing; a file that is none is told in one line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from qtrace import __version__
from qtrace.cli import main
from qtrace.report.codec import encode
from qtrace.report.errors import SourceError
from qtrace.report.model import Report
from qtrace.tracer.answer import answered
from qtrace.tracer.devices import device
from qtrace.tracer.library import Library
from qtrace.tracer.scenario import Scenario
from qtrace.tracer.snapshot.answer import recorded, told
from qtrace.tracer.snapshot.build import build, known
from qtrace.tracer.snapshot.file import Snapshot, packed, save
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
    path = tmp_path_factory.mktemp("snapshot") / "small.snapshot"
    seen: list[tuple[int, int]] = []
    groups = [[FLAG], [GIVEN, GIVEN]]
    size = build(library.source, path, lambda *done: seen.append(done), only=groups)
    assert size == path.stat().st_size
    assert seen == [(1, 5), (2, 6)]
    return Snapshot(path)


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


def test_a_newer_or_damaged_one_is_one_line(snapshot: Snapshot, tmp_path: Path) -> None:
    head, body = snapshot.path.read_bytes().split(b"\n", 1)
    newer, cut = tmp_path / "newer.snapshot", tmp_path / "cut.snapshot"
    newer.write_bytes(head.replace(b"qtrace-snapshot/1", b"qtrace-snapshot/2") + b"\n" + body)
    cut.write_bytes(head + b"\n" + body[:200])
    with pytest.raises(SourceError, match=r"newer.snapshot is a qtrace-snapshot/2; this qtrace reads"):
        Snapshot(newer)
    with pytest.raises(SourceError, match=r"cut.snapshot is damaged"):
        recorded(Snapshot(cut), FLAG, ASKED)


def test_reading_one_imports_no_parser() -> None:
    code = (
        "import sys; import qtrace.tracer.snapshot.answer; import qtrace.rules; "
        "print(sorted({'libcst', 'networkx', 'textual', 'tree_sitter'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_the_command_writes_a_file_and_holds_it_against_the_source(
    vllm_sdist: Path, snapshot: Snapshot, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    verify = ["snapshot", "verify", "--at", str(vllm_sdist)]
    assert main([*verify, "--every", "5", str(snapshot.path)]) == 0
    assert capsys.readouterr().out == "2 of 6 records asked of the source again, 0 differ\n"
    forged = tmp_path / "forged.snapshot"
    head, _, body = snapshot.path.read_bytes().partition(b"\n")
    forged.write_bytes(head.replace(snapshot.pin.python_hash.encode(), b"0" * 64) + b"\n" + body)
    assert main([*verify, str(forged)]) == 2
    assert "other files" in capsys.readouterr().err
    assert main([*verify, "--every", "0", str(snapshot.path)]) == 2
    assert "take a positive number" in capsys.readouterr().err


def test_a_record_that_the_source_does_not_give_is_found(
    library: Library, snapshot: Snapshot, tmp_path: Path
) -> None:
    path = tmp_path / "wrong.snapshot"
    wrong = [replace(record, consulted=False, report=_other(record.report)) for record in snapshot.records()]
    save(path, __version__, snapshot.pin, snapshot.header.knows, [packed(wrong)])
    found = list(differing(Snapshot(path), library, every=6))
    assert [differs for _, differs in found] == [True]


def _other(report: Report) -> Report:
    return replace(report, coverage=replace(report.coverage, statements=1))
