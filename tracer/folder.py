"""A directory that is read: which of its files, and none that a link brings from outside."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from .archive import MAX_FILE, MAX_MEMBERS, refusal

_PACKAGE_SUFFIXES = (".py", ".pyi", ".json")
NATIVE_FOLDERS = ("csrc/", "cmake/", "requirements/")
# A folder without any of these is site-packages, where `cmake/` and `csrc/` are somebody else's.
ROOT_FILES = ("CMakeLists.txt", "PKG-INFO", "pyproject.toml", "setup.py")


class Shape(NamedTuple):
    """Which files of a directory are read, and which folders (`csrc/`) may hold some."""

    takes: Callable[[str], bool]
    enters: Callable[[str], bool]


class Folder:
    """Files of a directory, listed once and read when asked for; links that leave it are not there."""

    def __init__(self, root: Path, shape: Shape) -> None:
        self._root = root
        self._paths = dict(_listing(root, shape))
        self.names = frozenset(self._paths)

    def read(self, name: str) -> bytes:
        try:
            with self._paths[name].open("rb") as file:
                data = file.read(MAX_FILE + 1)
        except OSError as problem:
            why = f"cannot be read ({problem.strerror})"
            raise refusal(self._root / name, why, "mend its permissions") from None
        if len(data) > MAX_FILE:
            why = f"is over {MAX_FILE:,} bytes"
            raise refusal(self._root / name, why, "move it out of the source")
        return data


def of_engine(engine: str) -> Shape:
    """What of a directory is an engine's."""
    return Shape(lambda name: is_wanted(name, engine), lambda folder: _may_hold(folder, engine))


def is_wanted(name: str, engine: str) -> bool:
    """Tell the files that qtrace reads: the same ones in a directory and in an archive."""
    if "__pycache__" in name.split("/"):
        return False
    inner = name.removeprefix("python/")
    if inner.startswith(f"{engine}/"):
        return name.endswith(_PACKAGE_SUFFIXES)
    return name.startswith(NATIVE_FOLDERS) or inner in ROOT_FILES or _is_metadata(name, engine)


def _is_metadata(name: str, engine: str) -> bool:
    folder, _, file = name.partition("/")
    return (
        file == "METADATA"
        and folder.endswith(".dist-info")
        and folder.startswith((f"{engine}-", f"{engine}_"))
    )


def _listing(root: Path, shape: Shape) -> Iterator[tuple[str, Path]]:
    """Walk what may hold wanted files; links are followed to files inside the root only."""
    pending = [""]
    seen = 0
    while pending:
        folder = pending.pop()
        for entry in _entries(root / folder):
            seen += 1
            if seen > MAX_MEMBERS:
                raise refusal(root, f"has over {MAX_MEMBERS:,} files", "name its own root")
            name = folder + entry.name
            if entry.is_dir(follow_symlinks=False):
                if shape.enters(f"{name}/"):
                    pending.append(f"{name}/")
            elif shape.takes(name) and (path := _inside(root, entry)):
                yield name, path


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError as problem:
        raise refusal(folder, f"cannot be listed ({problem.strerror})", "mend its permissions") from None


def _may_hold(folder: str, engine: str) -> bool:
    if folder.endswith("/__pycache__/"):
        return False
    roots = (f"{engine}/", f"python/{engine}/", *NATIVE_FOLDERS)
    return folder == "python/" or folder.startswith(roots) or _is_metadata(f"{folder}METADATA", engine)


def _inside(root: Path, entry: os.DirEntry[str]) -> Path | None:
    if entry.is_file(follow_symlinks=False):
        return Path(entry.path)
    if not entry.is_symlink():
        return None
    try:
        target = Path(entry.path).resolve(strict=True)
    except (OSError, RuntimeError):
        return None
    return target if target.is_relative_to(root) and target.is_file() else None
