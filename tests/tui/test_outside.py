"""What leaves the terminal interface: reports in files, places in an editor."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from exploring import FLAG, SIZE, explorer, until

from qtrace.report.codec import decode
from qtrace.report.errors import UsageError
from qtrace.tui.outside import command, export


@pytest.mark.parametrize(
    ("editor", "expected"),
    [
        ("vi", ["vi", "+7", "/a/b.py"]),
        ("emacs -nw", ["emacs", "-nw", "+7", "/a/b.py"]),
        ("code --wait", ["code", "--wait", "-g", "/a/b.py:7"]),
        ("/opt/bin/hx", ["/opt/bin/hx", "/a/b.py:7"]),
        ("'/opt/my editor/vim'", ["/opt/my editor/vim", "+7", "/a/b.py"]),
    ],
)
def test_an_editor_is_told_the_line_in_its_own_way(editor: str, expected: list[str]) -> None:
    assert command(editor, Path("/a/b.py"), 7) == expected


async def test_a_report_is_written_in_the_voice_of_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    app = explorer(*FLAG)
    async with app.run_test(size=SIZE) as pilot:
        for name in ("one.json", "two.md", "three.txt"):
            await pilot.press("x", *name, "enter")
            await until(pilot, Path(name).exists)
        assert decode((tmp_path / "one.json").read_bytes()) == app.report
        assert (tmp_path / "two.md").read_text().startswith("<!-- qtrace -->")
        assert (tmp_path / "three.txt").read_text().startswith("qtrace ")


async def test_a_file_that_cannot_be_written_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    app = explorer(*FLAG)
    async with app.run_test(size=SIZE) as pilot:
        for name in ("r.pdf", "no/r.json"):
            await pilot.press("x", *name, "enter")
        await until(pilot, lambda: len(app._notifications) == 2)
        told = [notice.message for notice in app._notifications]
        assert told[0].startswith("r.pdf: end the name in .json, .md, .txt")
        assert told[1].startswith("cannot write ")
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["~nobody/r.json", f"{'r' * 300}.json", "a\x00b.json"])
def test_a_name_that_no_file_can_have_is_one_line(name: str) -> None:
    app = explorer(*FLAG)
    with pytest.raises(UsageError, match=r"^cannot write ") as raised:
        export(app.session, app.report, name)
    assert "\n" not in str(raised.value)


async def test_without_an_editor_or_a_source_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
    app = explorer(*FLAG)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("o", "down", "down", "o")
        monkeypatch.setenv("EDITOR", os.devnull)
        await pilot.press("o")
        await until(pilot, lambda: len(app._notifications) == 3)
        told = [notice.message for notice in app._notifications]
        assert told[0] == "this line has no place in the source"
        assert told[1].startswith("no editor is set")
        assert told[2].startswith("The source of vllm 0.33.0 is not at hand")


async def test_a_place_is_copied() -> None:
    app = explorer(*FLAG)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("down", "down", "y")
        assert app.clipboard == "vllm/engine/arg_utils.py:992"
