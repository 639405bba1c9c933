"""The front door: what is printed where, and with which exit code."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from qtrace import __version__
from qtrace.cli import main
from qtrace.commands import COMMANDS, Command, schema
from qtrace.report.codec import decode, encode
from qtrace.report.errors import QtraceError, ReportError, SourceError, UsageError
from qtrace.report.exits import Exit
from qtrace.report.model import Coverage, Report
from qtrace.rules.examples import ACCEPTED, report

REPORT: Report = report(ACCEPTED, coverage=Coverage(modules_read=3, statements=1))


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "r.json"
    path.write_bytes(encode(REPORT))
    return path


def qtrace(*argv: str, stdin: bytes = b"", **env: str) -> subprocess.CompletedProcess[bytes]:
    clean = {
        name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG", "COLUMNS"))
    }
    command = [sys.executable, "-P", "-m", "qtrace", *argv]
    return subprocess.run(command, input=stdin, capture_output=True, env={**clean, **env}, timeout=60)


def test_help_names_every_command_and_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == Exit.OK
    out = capsys.readouterr().out
    assert all(f"\n    {command.name}" in out for command in COMMANDS)
    assert all(f"{code.value:>3}  {code.doc}" in out for code in Exit)


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == Exit.OK
    assert capsys.readouterr().out == f"qtrace {__version__}\n"


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["shwo"], "invalid choice: 'shwo'"),
        (["--no-such-flag"], "see `qtrace --help`"),
        (["show"], "required: FILE (see `qtrace show --help`)"),
        (["show", "-", "--form", "json"], "unrecognized arguments: --form"),
        (["show", "no such file"], "cannot read no such file: No such file or directory"),
        (["rule", "QT000"], "no rule is called 'QT000'"),
    ],
)
def test_what_the_user_can_mend_is_one_line_and_exits_2(
    argv: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(argv) == Exit.CANNOT_RUN
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("qtrace: ") and err.count("\n") == 1
    assert words in err


def test_an_error_carries_its_own_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing_observed(args: argparse.Namespace) -> int:
        raise QtraceError("nothing was observed", Exit.NO_VERDICT)

    monkeypatch.setattr(schema, "run", nothing_observed)
    assert main(["schema"]) == Exit.NO_VERDICT
    assert [error("x").exit for error in (UsageError, SourceError, ReportError)] == [Exit.CANNOT_RUN] * 3


def test_a_fault_of_our_own_exits_101_with_traceback_and_what_to_do(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(args: argparse.Namespace) -> int:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr(schema, "run", fail)
    assert main(["schema"]) == Exit.INTERNAL
    err = capsys.readouterr().err
    assert "ZeroDivisionError: oops" in err
    assert f"fault of qtrace {__version__}" in err and "Please report" in err


def test_ctrl_c_exits_130(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def stop(args: argparse.Namespace) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(schema, "run", stop)
    assert main(["schema"]) == Exit.INTERRUPTED
    assert capsys.readouterr().err == "qtrace: interrupted\n"


@pytest.mark.parametrize("argv", [["schema"], ["--help"], []], ids=" ".join)
def test_a_reader_that_has_gone_is_no_error(argv: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        command = [sys.executable, "-P", "-m", "qtrace", *argv]
        done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, timeout=60)
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


def test_schema_prints_the_schema_that_reports_keep_to(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == Exit.OK
    printed = json.loads(capsys.readouterr().out)
    assert jsonschema.Draft202012Validator(printed).is_valid(json.loads(encode(REPORT)))


def test_rule_tells_one_rule_or_lists_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rule", "quant.refused"]) == Exit.OK
    one = capsys.readouterr().out
    assert one.startswith("QT101 quant.refused\n\nThe engine refuses this scenario.\n")
    assert [line.split()[0] for line in one.splitlines()[4:]] == ["level", "why", "fix", "since"]
    assert main(["rule"]) == Exit.OK
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()][:2] == ["QT101", "QT102"]


def test_show_speaks_text_and_gives_the_same_json_back(saved: Path) -> None:
    text = qtrace("show", str(saved))
    assert text.stdout.decode().startswith(f"qtrace {REPORT.tool}\nvllm 0.33.0")
    assert text.stderr == b""
    assert qtrace("show", "-", "--json", stdin=saved.read_bytes()).stdout == saved.read_bytes()


@pytest.mark.parametrize(("options", "start"), [((), b"{"), (("--format", "text"), b"qtrace 0\n")])
def test_an_output_file_is_json_unless_told_otherwise(
    saved: Path, options: tuple[str, ...], start: bytes
) -> None:
    target = saved.with_name("out")
    done = qtrace("show", str(saved), "-o", str(target), *options)
    assert (done.stdout, done.stderr) == (b"", f"qtrace: wrote {target}\n".encode())
    assert target.read_bytes().startswith(start)
    assert options or decode(target.read_bytes()) == REPORT


def test_columns_locale_and_no_terminal_are_respected(saved: Path) -> None:
    plain = qtrace("show", str(saved), LANG="C", COLUMNS="50").stdout
    assert plain.isascii() and b"+ accepted" in plain
    assert max(map(len, plain.splitlines())) <= 50
    rich = qtrace("show", str(saved), LANG="C.UTF-8").stdout.decode()
    assert "✓ accepted" in rich and "\x1b" not in rich


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_command_describes_itself(command: Command, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command.name, "--help"]) == Exit.OK
    out = " ".join(capsys.readouterr().out.split())
    assert out.startswith(f"usage: qtrace {command.name}")
    assert " ".join((command.load().__doc__ or "no docstring").split()) in out
