"""How qtrace behaves in a shell: pipes, terminals, locales, files, and input that is not as it should be."""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest
from shell import COMMAND, on_terminal, qtrace, redirected, saved, unheard

from qtrace.commands import question, static
from qtrace.commands.launch import taken_apart, with_line
from qtrace.report.errors import UsageError
from qtrace.report.text import NARROWEST
from qtrace.tracer.answers import FromSource
from qtrace.tracer.library import Library
from qtrace.tracer.sources import Source

ESCAPE = "\x1b["


def one_line(done: subprocess.CompletedProcess[bytes], words: str) -> bool:
    """Whether the user is told so in one line on stderr, with exit code 2 and nothing on stdout."""
    told = done.stderr.decode()
    assert (done.returncode, done.stdout) == (2, b""), told
    assert told.startswith("qtrace: ") and told.count("\n") == 1, told
    return words in told


def arguments(*argv: str) -> argparse.Namespace:
    """What `qtrace static ARGV` is asked."""
    parser = argparse.ArgumentParser()
    static.configure(parser)
    return parser.parse_args(argv)


# What is asked.


@pytest.mark.parametrize(
    "flags", ["-q fp8 -tp 2 --kv_cache_dtype fp8", "--quantization=fp8 -tp=2 --kv-cache-dtype=fp8"]
)
def test_a_pasted_line_may_have_aliases_but_no_unknown_flag(library: Library, flags: str) -> None:
    line = ["vllm", "serve", "M", *flags.split()]
    args = arguments("--at", "S")
    asked = with_line(args, library, taken_apart(line), "cuda")
    assert (asked.quantization, asked.tp, asked.kv_cache_dtype) == ("fp8", 2, "fp8")
    with pytest.raises(UsageError, match="has no --quantisation"):
        with_line(args, library, taken_apart([*line, "--quantisation", "x"]), "cuda")


@pytest.mark.parametrize("device", ["h100", "H100", "NVIDIA H100 80GB HBM3", "sm_90", "sm90a", "9.0"])
def test_a_device_may_be_spelled_six_ways(vllm_source: Source, device: str) -> None:
    args = arguments("vllm", "--at", "S", "-q", "fp8", "--device", device)
    scenario = question.scenario(args, FromSource(vllm_source))
    assert (scenario.platform, scenario.capability) == ("cuda", 90)
    assert question.asked(args)["device"] == device


def test_another_engines_source_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "sglang").mkdir()
    (tmp_path / "sglang" / "__init__.py").write_text('__version__ = "0.5.23"\n')
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "sglang"\n')
    assert one_line(qtrace("static", "vllm", "--at", str(tmp_path), "-q", "fp8"), "vllm")


# Pipes and closed streams.


@pytest.mark.parametrize("voice", ["text", "json", "markdown"])
def test_the_first_line_may_be_enough(voice: str) -> None:
    done = redirected("| head -1", "show", saved("open"), "--format", voice)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.count(b"\n") == 1


@pytest.mark.parametrize("voice", ["text", "json", "markdown"])
def test_a_reader_that_has_gone_is_no_error(voice: str) -> None:
    done = unheard("show", saved("open"), "--format", voice)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_reader_that_has_gone_does_not_turn_a_refusal_into_success(vllm_sdist: Path) -> None:
    model = '{"quant_method": "gptq", "bits": 4, "group_size": 128, "desc_act": true, "sym": true}'
    done = unheard(
        "static", "vllm", "--at", str(vllm_sdist), "-q", "awq", "--device", "a100", "--model", model
    )
    assert (done.returncode, done.stderr) == (1, b"")


def test_talk_that_nobody_hears_is_no_error(tmp_path: Path) -> None:
    for end in ("2>&-", "2>&1 >/dev/null | true"):
        done = redirected(end, "show", saved("accepted"), "-o", str(tmp_path / "r.json"))
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_closed_stdin_is_one_line() -> None:
    assert one_line(redirected("<&-", "show", "-"), "cannot read stdin")


def test_a_closed_stdout_is_one_line_where_it_is_needed(tmp_path: Path) -> None:
    for command in (("show", saved("accepted")), ("rule",), ("schema",), ()):
        assert one_line(redirected(">&-", *command), "cannot write to stdout")
    target = tmp_path / "r.json"
    done = redirected("<&- >&-", "show", saved("accepted"), "-o", str(target))
    assert (done.returncode, done.stderr) == (0, f"qtrace: wrote {target}\n".encode())
    assert target.read_bytes() == Path(saved("accepted")).read_bytes()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize(
    "argv", [("show", saved("open")), ("show", saved("open"), "--json"), ("schema",), ()]
)
def test_a_full_disk_is_one_line(argv: tuple[str, ...]) -> None:
    assert one_line(redirected(">/dev/full", *argv), "cannot write to stdout: No space left on device")


def test_ctrl_c_ends_it_without_a_word_too_many() -> None:
    process = subprocess.Popen(
        [*COMMAND, "show", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdin is not None
    # More than a pipe holds: once it is written, somebody reads at the other end.
    process.stdin.write(b" " * 1_000_000)
    process.stdin.flush()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, b"", b"qtrace: interrupted\n")


# Terminals and locales.


def test_a_terminal_gets_colour_and_its_own_width() -> None:
    seen = on_terminal(72, "show", saved("accepted"), TERM="xterm", LANG="C.UTF-8")
    assert ESCAPE in seen and "✓ accepted" in seen
    assert max(map(len, re.sub(r"\x1b\[\d+m", "", seen).splitlines())) == 72


@pytest.mark.parametrize("env", [{"NO_COLOR": "1", "TERM": "xterm"}, {"TERM": "dumb"}], ids=str)
def test_a_terminal_that_wants_no_colour_gets_none(env: dict[str, str]) -> None:
    assert ESCAPE not in on_terminal(72, "show", saved("accepted"), **env)


@pytest.mark.parametrize("columns", ["60", "9999"])
def test_columns_decide_before_the_terminal(columns: str) -> None:
    seen = on_terminal(100, "show", saved("accepted"), COLUMNS=columns, NO_COLOR="1", TERM="xterm")
    longest = max(map(len, seen.splitlines()))
    assert longest == 60 if columns == "60" else longest > 1000


@pytest.mark.parametrize("columns", ["0", "-1", "wide", "", "9" * 5000, "٦٠٠٠٠"])
def test_columns_that_are_no_width_are_passed_over(columns: str) -> None:
    seen = on_terminal(64, "show", saved("accepted"), COLUMNS=columns, NO_COLOR="1", TERM="xterm")
    assert max(map(len, seen.splitlines())) == 64


def test_a_terminal_of_twenty_columns_loses_no_word() -> None:
    narrow = on_terminal(20, "show", saved("refused"), NO_COLOR="1", TERM="xterm", LANG="C.UTF-8")
    assert max(map(len, narrow.splitlines())) <= NARROWEST
    words = "Quantization method specified in the model config (gptq) does not match"
    assert words in " ".join(narrow.split())


@pytest.mark.parametrize("voice", ["text", "markdown"])
def test_the_c_locale_gets_ascii(voice: str) -> None:
    done = qtrace("show", saved("accepted"), "--format", voice, LANG="C", COLUMNS="60")
    assert done.stdout.isascii() and not done.returncode
    assert voice == "markdown" or max(map(len, done.stdout.splitlines())) <= 60


# Where the output goes.


def test_the_same_voice_goes_to_a_file(tmp_path: Path) -> None:
    target = tmp_path / "comment.md"
    done = qtrace("show", saved("open"), "--format", "markdown", "-o", str(target))
    assert (done.returncode, done.stdout) == (0, b"")
    assert target.read_bytes() == qtrace("show", saved("open"), "--format", "markdown").stdout


@pytest.mark.parametrize(
    ("place", "words"),
    [("", "Is a directory"), ("no/r.json", "No such file or directory"), ("ro/r.json", "")],
)
def test_a_place_that_cannot_be_written_is_one_line_before_any_work(
    tmp_path: Path, place: str, words: str
) -> None:
    (tmp_path / "ro").mkdir(mode=0o555)
    # Permissions do not hold root back; the kernel's own file system does.
    target = Path("/sys/r.json") if place.startswith("ro") and os.geteuid() == 0 else tmp_path / place
    assert one_line(qtrace("show", saved("accepted"), "-o", str(target)), f"cannot write {target}: {words}")
    if words:
        assert one_line(qtrace("static", "vllm", "--at", "/no/such", "-o", str(target)), "cannot write")


def test_stdout_may_be_named_as_a_file() -> None:
    done = redirected("| cat", "show", saved("accepted"), "-o", "/dev/stdout")
    assert (done.returncode, done.stderr) == (0, b"qtrace: wrote /dev/stdout\n")
    assert done.stdout == Path(saved("accepted")).read_bytes()


def test_a_run_that_fails_keeps_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "r.json"
    target.write_bytes(b"old")
    assert one_line(qtrace("show", "-", "-o", str(target), stdin=b"{"), "is not JSON")
    assert one_line(qtrace("static", "vllm", "--at", "/no/such", "-o", str(target)), "/no/such")
    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]


def test_two_voices_at_once_are_one_line() -> None:
    done = qtrace("show", saved("accepted"), "--json", "--format", "text")
    assert one_line(done, "not allowed with argument --json")


# What is no report.


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "stdin is empty"),
        (b"{", "stdin is not JSON"),
        (b"qtrace 0.1.0\nvllm 0.33.0\n", "stdin is not JSON"),
        (b"\x1f\x8b\x08\x00", "stdin is not JSON"),
        (b"\xff\xfe{\x00", "stdin is not JSON"),
        (b'{"version": "2.1.0", "runs": []}', "stdin is not a qtrace report"),
        (b'{"schema": 1}', "stdin is not a qtrace report"),
        (b"[]", "stdin is not a qtrace report"),
        (b'{"schema": "qtrace-report/2"}', "stdin has schema 'qtrace-report/2'; this qtrace reads"),
        (b'{"schema": "\\u001b[2J"}', r"stdin has schema '\x1b[2J'"),
        (b'{"schema": "qtrace-report/1"}', "stdin is not a valid qtrace-report/1"),
        (b"[" * 100_000, "stdin is not"),
        (b'{"schema": "qtrace-report/1", "chains": ' + b"[" * 100_000, "stdin is"),
    ],
)
def test_what_is_no_report_is_one_line(data: bytes, words: str) -> None:
    assert one_line(qtrace("show", "-", stdin=data), words)


def test_a_condition_that_is_nested_beyond_reason_is_one_line() -> None:
    report = Path(saved("refused")).read_bytes()
    deep = b'{"type": "not", "item": ' * 2000 + b'{"type": "always"}' + b"}" * 2000
    nested = report.replace(b'"guard": {\n            "type": "always"\n          }', b'"guard": ' + deep)
    assert nested != report
    assert one_line(qtrace("show", "-", stdin=nested), "nested too deeply")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("/", "cannot read /: Is a directory"),
        ("no such file", "cannot read no such file: No such file or directory"),
        ("no\nsuch\x1b[2Jfile", r"cannot read no such\x1b[2Jfile"),
        ("/dev/zero", "larger than 64.0 MiB"),
    ],
)
def test_a_file_that_is_no_report_is_one_line(name: str, words: str) -> None:
    assert one_line(qtrace("show", name), words)
