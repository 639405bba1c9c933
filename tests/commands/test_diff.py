"""`qtrace diff`: two pins or two reports, each way to ask, each way to be wrong."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from shell import qtrace, saved

from qtrace.report.codec import decode
from qtrace.report.drift import Fate
from qtrace.report.model import Change, Drift

BRINGS = b"from the snapshot that qtrace brings"
HERE, THERE = "vllm@0.26.0", "vllm@0.33.0"


def diff(*argv: str) -> subprocess.CompletedProcess[bytes]:
    return qtrace("diff", *argv, "--offline")


def drift_of(*argv: str) -> Drift:
    found = decode(diff(*argv, "--json").stdout, "diff").drift
    assert found is not None
    return found


def test_outcomes_come_first_and_the_exit_code_tells_them() -> None:
    done = diff(HERE, THERE, "--only", "l40s", "-q", "fp8")
    text = done.stdout.decode()
    assert done.returncode == 1
    assert text.index("another kernel") < text.index("\nhops")
    at = text.index("was  ✓ TritonFp8BlockScaledMMKernel")
    assert "now  ✓ MarlinFP8ScaledMMLinearKernel" in text[at : at + 120]
    assert "sm_89    --quantization fp8, FP8 in blocks of 128 x 128, dynamic activations" in text
    assert BRINGS in done.stderr and b"Traceback" not in done.stderr


def test_one_question_is_told_hop_by_hop() -> None:
    drift = drift_of(HERE, THERE, "-q", "fp8", "--device", "h100")
    assert drift.questions == 1 and drift.chains
    steps = {step.symbol: step.change for step in drift.chains[0].steps}
    assert steps["--quantization"] is Change.MOVED
    assert steps["vllm.model_executor.layers.quantization.base_config.resolve_quant_method"] is Change.NEW


def test_the_same_pin_twice_is_no_change() -> None:
    for argv in (("--only", "sm_90"), ("-q", "fp8", "--device", "h100")):
        done = diff(THERE, THERE, *argv)
        assert (done.returncode, "nothing changed" in done.stdout.decode()) == (0, True)


def test_the_other_way_round_is_the_mirror() -> None:
    one, other = (drift_of(*pair, "--only", "sm_89", "-q", "fp8") for pair in ((HERE, THERE), (THERE, HERE)))
    mirror = {Fate.REFUSED: Fate.ACCEPTED, Fate.ACCEPTED: Fate.REFUSED}
    told = {(c.fate, str(c.was), str(c.now), str(c.guard)) for c in one.changes if c.fate is not Fate.WAY}
    back = {
        (mirror.get(c.fate, c.fate), str(c.now), str(c.was), str(c.guard))
        for c in other.changes
        if c.fate is not Fate.WAY
    }
    assert told and {each[:3] for each in told} == {each[:3] for each in back}
    assert (one.questions, one.alike) == (other.questions, other.alike)


def test_a_flag_that_one_alone_knows_is_refused_by_the_other() -> None:
    drift = drift_of("vllm@0.20.0", HERE, "-q", "gguf", "--device", "h100")
    assert [change.fate for change in drift.changes] == [Fate.REFUSED, Fate.OPEN]
    assert any("0.26.0 has no --quantization gguf" in str(change.now) for change in drift.changes)
    grid = drift_of("vllm@0.20.0", HERE, "--only", "sm_90")
    assert ("--quantization", "gguf", Change.GONE) in {(o.flag, o.value, o.change) for o in grid.only}


def test_two_reports_are_compared_as_they_are(tmp_path: Path) -> None:
    files = []
    for version in ("0.26.0", "0.33.0"):
        files.append(str(tmp_path / f"{version}.json"))
        asked = ("--at", version, "-q", "fp8", "--device", "h100", "--offline", "-o", files[-1])
        assert qtrace("static", "vllm", *asked).returncode == 0
    done = qtrace("diff", *files, "--json")
    pins = diff(HERE, THERE, "-q", "fp8", "--device", "h100", "--json")
    assert done.stdout == pins.stdout
    other = qtrace("diff", files[0], saved("accepted"))
    assert b"asked otherwise  model: not given, llama-3.1-8b-fp8" in other.stdout


def test_a_source_of_the_same_files_has_the_answers_of_its_snapshot(vllm_sdist: Path) -> None:
    asked = ("--only", "sm_90", "-q", "fp8", "--json")
    assert diff(HERE, f"vllm@{vllm_sdist}", *asked).stdout == diff(HERE, THERE, *asked).stdout


def test_every_voice_speaks_of_it() -> None:
    text = diff(HERE, THERE, "--only", "l40s", "--format", "markdown").stdout.decode()
    assert text.startswith("<!-- qtrace -->") and "**another kernel**" in text
    assert "`TritonFp8BlockScaledMMKernel`" in text and "<details><summary>another way" in text
    told = json.loads(diff(HERE, THERE, "--only", "l40s", "--json").stdout)
    assert {finding["rule"] for finding in told["findings"]} >= {"QT801"}


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        ((HERE, "0.33.0"), "write vllm@PIN, or the name of a report that ends in .json"),
        (("sglang@0.5.10", THERE), "write vllm@PIN"),
        ((HERE, "/no/such/report.json"), "give two pins, or two reports"),
        (("/no/such/report.json", "/nor/this.json"), "cannot read /no/such/report.json"),
        ((HERE, "vllm@9.9"), "9.9"),
        (
            (HERE, THERE, "-q", "nope", "--device", "h100"),
            "--quantization nope: neither vllm 0.26.0 nor vllm 0.33.0",
        ),
        ((HERE, THERE, "--only", "toaster"), "toaster"),
        ((HERE, THERE, "--only", "h100", "--model", "{}"), "--only goes with -q and --kv-cache-dtype"),
        ((HERE, THERE, "--only", "gfx1100"), "no question of the grid is about that"),
        ((saved("accepted"), saved("open"), "-q", "fp8"), "leave out the question"),
        ((HERE, THERE, "--only", ""), "--only: give a device"),
    ],
)
def test_bad_input_is_one_line(argv: tuple[str, ...], words: str) -> None:
    done = diff(*argv)
    told = [line for line in done.stderr.decode().splitlines() if BRINGS.decode() not in line]
    assert done.returncode == 2 and len(told) == 1
    assert words in told[0]
