"""Which shared libraries a wheel, a folder or a single file offers, brought where they can be read."""

from __future__ import annotations

import os
import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from errno import ENOSPC
from itertools import pairwise
from pathlib import Path
from typing import IO

from msgspec import Struct

from ..archive import MAX_MEMBERS, one_line, refusal
from ..wheel import is_zip, read_wheel
from .elf import MAGIC

MAX_LIBRARY = 2 << 30
"""Bytes of one library; a wheel's whole content is bounded by `archive.MAX_TOTAL`."""

_SHARED = re.compile(r"\.so(?:\.\d+)*\Z")
_CHUNK = 1 << 20
_PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
# What zipfile and zlib raise on bytes that somebody bent on purpose, and what a full disk raises.
_BROKEN = (zipfile.BadZipFile, EOFError, OSError, zlib.error, ValueError, RuntimeError, NotImplementedError)
_BAD = "do not use this archive"
_OTHER = "name a wheel of a CUDA build, the folder of an installed package, or one .so"
_AGAIN = "fetch the file again and compare its sha256 with the index's"
_FULL = "set TMPDIR to a folder with some GB of room"


class Member(Struct, frozen=True, kw_only=True):
    """A library to be read."""

    path: str
    """As `facts.Library.path` has it."""
    file: Path
    """Where its bytes are now; what is a copy is gone when the next member is asked for."""


def members(path: Path, room: Path) -> Iterator[Member]:
    """Give the shared libraries one by one, in order of path; copies out of a wheel go into `room`.

    SourceError where the path is none of these, holds no library, or holds what no wheel or package does.
    """
    offered = _offered(path, room)
    first = next(offered, None)
    if first is None:
        raise refusal(path, "holds no shared library (.so)", _OTHER)
    yield first
    yield from offered


def _offered(path: Path, room: Path) -> Iterator[Member]:
    if path.is_dir():
        return _of_folder(path)
    if not path.is_file():
        raise refusal(path, "is no file and no folder", _OTHER)
    if is_zip(path):
        return _of_wheel(path, room)
    if _begins_as_elf(path):
        return iter((Member(path=path.name, file=path),))
    raise refusal(path, "is neither a wheel nor a shared library", _OTHER)


def _begins_as_elf(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError as problem:
        raise refusal(path, f"cannot be read ({problem.strerror})", "mend its permissions") from None


def _of_folder(root: Path) -> Iterator[Member]:
    """Walk a folder without entering links; a link to a library elsewhere in it tells nothing new."""
    found = []
    for number, (name, path) in enumerate(_files(root)):
        if number >= MAX_MEMBERS:
            raise refusal(root, f"has over {MAX_MEMBERS:,} files", "name the package's own folder")
        if not _SHARED.search(name):
            continue
        if path.is_symlink():
            _expect_inside(root, path)
        elif path.is_file():
            found.append(Member(path=name, file=path))
    yield from sorted(found, key=lambda member: member.path)


def _files(root: Path) -> Iterator[tuple[str, Path]]:
    def refuse(problem: OSError) -> None:
        why = f"cannot be listed ({problem.strerror})"
        raise refusal(problem.filename or root, why, "mend its permissions") from None

    for folder, _, files in os.walk(root, onerror=refuse):
        for file in files:
            path = Path(folder, file)
            yield path.relative_to(root).as_posix(), path


def _expect_inside(root: Path, link: Path) -> None:
    with suppress(OSError, RuntimeError):
        if link.resolve(strict=True).is_relative_to(root.resolve()):
            return
    raise refusal(link, "is a link that leads out of the folder", "name the library that it leads to")


def _of_wheel(path: Path, room: Path) -> Iterator[Member]:
    """Copy one library at a time into `room`, and remove it before the next one."""
    names = _names(path)
    copy = room / "member.so"
    for name in names:
        try:
            _copy(path, name, copy)
            yield Member(path=name, file=copy)
        finally:
            copy.unlink(missing_ok=True)


def _names(path: Path) -> list[str]:
    """The libraries of a wheel: `read_wheel` looks at every member and refuses what no wheel holds."""
    seen: list[str] = []

    def note(name: str) -> bool:
        seen.append(name)
        return False

    read_wheel(path, note)
    names = sorted(name for name in seen if _SHARED.search(name))
    for name, following in pairwise(names):
        if name == following:
            raise refusal(path, f"the archive names {one_line(repr(name))} twice", _BAD)
    return names


def _copy(path: Path, name: str, target: Path) -> None:
    where = one_line(repr(name))
    try:
        with zipfile.ZipFile(path) as wheel:
            info = wheel.getinfo(name)
            if info.file_size > MAX_LIBRARY:
                raise refusal(path, f"the archive has a library over {MAX_LIBRARY:,} bytes: {where}", _BAD)
            if info.compress_type not in _PACKED:
                raise refusal(path, f"the archive is packed as no wheel is: {where}", _BAD)
            with wheel.open(info) as source, target.open("xb") as out:
                _pour(source, out, info.file_size)
    except _BROKEN as problem:
        why = f"the archive cannot be unpacked at {where} ({one_line(problem)})"
        raise refusal(path, why, _FULL if getattr(problem, "errno", None) == ENOSPC else _AGAIN) from None


def _pour(source: IO[bytes], out: IO[bytes], size: int) -> None:
    """Copy as many bytes as the directory of the archive says there are, or fail."""
    left = size
    while left and (data := source.read(min(left, _CHUNK))):
        out.write(data)
        left -= len(data)
    if left or source.read(1):
        raise EOFError("not as long as its directory says")
