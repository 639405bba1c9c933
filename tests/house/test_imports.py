"""What is imported when: the front door stays light, and our `kernels` never stands in for another one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import qtrace
from qtrace.commands import COMMANDS

ROOT = Path(qtrace.__file__).parent
HEAVY = {"libcst", "msgspec", "networkx", "numpy", "textual", "torch", "tree_sitter", "hypothesis"}
"""Packages that a help text has no use for (the last one shows that the child sees only what it imports)."""


def python(code: str, *flags: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *flags, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=cwd)


def imported_by(*argv: str) -> set[str]:
    run = f"import sys; from qtrace.cli import main; code = main({argv!r})"
    done = python(f"{run}; print(*sys.modules, file=sys.stderr); sys.exit(code)", "-P")
    assert done.returncode == 0
    assert done.stdout
    return set(done.stderr.split())


@pytest.mark.parametrize("argv", [(), ("--help",), ("--version",)], ids=" ".join)
def test_the_front_door_imports_no_command_and_nothing_heavy(argv: tuple[str, ...]) -> None:
    modules = imported_by(*argv)
    assert "qtrace.cli" in modules
    assert not modules & HEAVY
    assert not modules & {f"qtrace.commands{command.module}" for command in COMMANDS}


@pytest.mark.parametrize("command", [command.name for command in COMMANDS])
def test_a_commands_help_imports_that_command_and_nothing_heavy(command: str) -> None:
    modules = imported_by(command, "--help")
    assert {m for m in modules if m in {f"qtrace.commands{c.module}" for c in COMMANDS}} == {
        f"qtrace.commands.{command}"
    }
    assert not modules & HEAVY


def test_a_report_is_shown_without_the_tracer() -> None:
    modules = imported_by("rule", "QT101") | set(
        python(
            "import sys, qtrace.report.text, qtrace.report.codec; print(*sys.modules)", "-P"
        ).stdout.split()
    )
    assert "qtrace.report.text.page" in modules
    assert not {m for m in modules if m.startswith(("qtrace.tracer", "qtrace.probes", "libcst", "networkx"))}


def test_kernels_refuses_to_stand_in_for_the_distribution_of_that_name() -> None:
    done = python("import kernels", cwd=ROOT)
    assert done.returncode == 1
    assert "ImportError: this is qtrace.kernels, not the distribution 'kernels'" in done.stderr


def test_kernels_is_importable_by_its_own_name() -> None:
    assert python("import qtrace.kernels", "-P", cwd=ROOT).returncode == 0
