"""What a user gets: every package in the wheel, and documents that say what is true."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import qtrace
from qtrace.commands import COMMANDS

ROOT = Path(qtrace.__file__).parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
LEFT_OUT = ("tests/", "benchmarks/", ".ci/")


def sources() -> set[Path]:
    """The Python files that git has or would take, outside tests and benchmarks."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.py"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return {
        Path(line)
        for line in listed.splitlines()
        if not line.startswith(LEFT_OUT) and (ROOT / line).is_file()
    }


def test_the_wheel_holds_every_package() -> None:
    folders = {".".join(("qtrace", *path.parent.parts)) for path in sources()}
    assert folders == set(PROJECT["tool"]["setuptools"]["packages"])


def test_every_module_says_what_it_is_for() -> None:
    text = {path: (ROOT / path).read_text() for path in sources()}
    assert [path for path in text if text[path] and not text[path].startswith('"""')] == []


def test_the_readme_gives_a_static_question_and_the_test_command() -> None:
    blocks = re.findall(r"```sh\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)
    assert "qtrace static vllm" in blocks[0]
    assert blocks[1].strip() == ".ci/test"
    assert "bash .ci/test" in (ROOT / ".ci" / "run").read_text()


def test_the_readme_lists_the_commands_that_there_are() -> None:
    rows = re.findall(r"^\| `qtrace (\w+)", (ROOT / "README.md").read_text(), flags=re.MULTILINE)
    assert rows == [command.name for command in COMMANDS]


def test_the_changelog_has_the_version() -> None:
    assert f"## {qtrace.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_the_licence_is_whole() -> None:
    licence = (ROOT / "LICENSE").read_text()
    assert PROJECT["project"]["license"] == "Apache-2.0"
    assert "Version 2.0, January 2004" in licence and "END OF TERMS AND CONDITIONS" in licence
