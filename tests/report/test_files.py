"""Writing reports: whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from qtrace.report import files
from qtrace.report.errors import UsageError
from qtrace.report.exits import Exit


def test_a_new_file_gets_the_permissions_of_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        files.write(tmp_path / "r.json", b"new")
    finally:
        os.umask(before)
    assert (tmp_path / "r.json").read_bytes() == b"new"
    assert (tmp_path / "r.json").stat().st_mode & 0o777 == 0o640


def test_a_replaced_file_keeps_its_permissions_and_its_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    real = tmp_path / "real" / "r.json"
    real.write_bytes(b"old")
    real.chmod(0o604)
    link = tmp_path / "r.json"
    link.symlink_to(real)
    files.write(link, b"new")
    assert link.is_symlink()
    assert real.read_bytes() == b"new"
    assert real.stat().st_mode & 0o777 == 0o604


def test_an_interrupted_write_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "r.json"
    target.write_bytes(b"old")

    def interrupt(path: Path, mode: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "chmod", interrupt)
    with pytest.raises(KeyboardInterrupt):
        files.write(target, b"new")
    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_device_is_written_to_and_stays_a_device() -> None:
    files.write(Path("/dev/null"), b"gone")
    assert Path("/dev/null").is_char_device()


def test_a_missing_folder_is_the_users_to_mend(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot write .*r\.json: No such file") as caught:
        files.write(tmp_path / "no" / "r.json", b"")
    assert caught.value.exit is Exit.CANNOT_RUN


@pytest.mark.parametrize(
    ("name", "words"), [("", "Is a directory"), ("no/r.json", "No such file or directory")]
)
def test_a_place_where_nothing_can_be_written_is_told_beforehand(
    tmp_path: Path, name: str, words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        files.check(tmp_path / name)


def test_a_file_a_new_one_and_a_device_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "old").touch()
    for path in (tmp_path / "old", tmp_path / "new", Path("/dev/null")):
        assert files.check(path) == path
    assert not (tmp_path / "new").exists()
