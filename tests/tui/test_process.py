"""`qtrace tui` as a process on a terminal of its own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from asking import EXAMPLE
from screens import Terminal
from shell import qtrace, saved

ESCAPES = re.compile(rb"\x1b(?:\[[0-9;?<>=]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][0-9A-B]|[=>78c])")


def test_alone_it_is_about_every_method_and_leaves_with_q() -> None:
    with Terminal("tui") as screen:
        screen.until(b"Overview", b"fbgemm_fp8")
        screen.type(b"q")
        assert screen.ended() == 0


def test_a_question_may_be_given() -> None:
    with Terminal("tui", "-q", "fp8", "--device", "h100") as screen:
        screen.until(b"CutlassFP8ScaledMMLinearKernel", b"EngineArgs.create_model_config")
        screen.type(b"q")
        assert screen.ended() == 0


def test_a_terminal_of_ascii_gets_nothing_else() -> None:
    with Terminal("tui", "-q", "fp8", "--device", "h100", LC_ALL="C") as screen:
        screen.until(b"accepted  linear", b"What if")
        screen.type(b"w")
        screen.until(b"< h100 >")
        screen.type(b"\x1b")
        screen.type(b"?")
        screen.until(b"Everywhere")
        assert not [byte for byte in ESCAPES.sub(b"", screen.seen) if byte > 127]


def test_without_colour_there_is_none() -> None:
    with Terminal("tui", "-q", "fp8", "--device", "h100", NO_COLOR="1") as screen:
        screen.until(b"accepted")
        styles = [found.decode() for found in re.findall(rb"\x1b\[([0-9;]+)m", screen.seen)]
        tones = re.findall(r"[34]8;2;(\d+);(\d+);(\d+)", " ".join(styles))
        assert tones and all(red == green == blue for red, green, blue in tones)
        codes = {code for style in styles for code in re.sub(r"[34]8;2(;\d+){3}", "", style).split(";")}
        assert not {code for code in codes if re.fullmatch("(3|4|9|10)[0-8]", code)}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", b"is empty: give a report"),
        (b"{}", b"not.json"),
        (b'{"schema": "qtrace-report/9"}', b"this qtrace reads"),
        (b"\x00\xff", b"not.json"),
    ],
    ids=["empty", "nothing", "newer", "broken"],
)
def test_what_is_no_report_is_told_on_the_screen(tmp_path: Path, content: bytes, words: bytes) -> None:
    (tmp_path / "not.json").write_bytes(content)
    with Terminal("tui", "not.json", cwd=tmp_path) as screen:
        screen.until(words)
        screen.type(b"2")
        screen.type(b"q")
        assert screen.ended() == 2


def test_a_question_about_a_saved_report_is_one_line() -> None:
    with Terminal("tui", saved("accepted"), "-q", "fp8") as screen:
        assert screen.ended() == 2
        assert b"leave out the question, or the file" in screen.seen


def test_a_saved_report_is_shown() -> None:
    with Terminal("tui", saved("refused")) as screen:
        screen.until(b"refused  linear", b"ValueError")
        screen.type(b"w")
        screen.until(b"came from a file")
        screen.type(b"q")
        assert screen.ended() == 0


def test_a_report_may_come_through_a_pipe() -> None:
    with Terminal("tui", "-", stdin=Path(saved("accepted")).read_bytes()) as screen:
        screen.until(b"accepted  linear")
        screen.type(b"q")
        assert screen.ended() == 0


def test_without_a_terminal_it_is_one_line() -> None:
    done = qtrace("tui", saved("accepted"))
    assert done.returncode == 2 and done.stdout == b""
    assert done.stderr.startswith(b"qtrace: qtrace tui needs a terminal") and done.stderr.count(b"\n") == 1


def test_a_place_is_opened_in_the_editor_on_this_terminal(vllm_sdist: Path, tmp_path: Path) -> None:
    """Once there is one: that it is missing leaves the app as it was."""
    editor = tmp_path / "ed"
    argv = ("--model", str(EXAMPLE), "-q", "fp8", "--device", "h100", "--at", str(vllm_sdist))
    with Terminal("tui", *argv, EDITOR=str(editor), QTRACE_CACHE=str(tmp_path)) as screen:
        screen.until(b"EngineArgs.quantization")
        screen.type(b"jjo")
        screen.until(b"cannot start")
        editor.write_text('#!/bin/sh\necho "EDITS $1 $(basename $2) $(wc -l < $2)"\n')
        editor.chmod(0o755)
        screen.type(b"o")
        screen.until(b"EDITS +992 arg_utils.py ")
        screen.until(b"accepted")
        screen.type(b"q")
        assert screen.ended() == 0
