"""Wheels read in place: what a hostile zip says it holds, and the wanted members; nothing is written."""

from __future__ import annotations

import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, cast

from ..report.errors import SourceError
from . import archive
from .archive import one_line, refusal

MAX_DIRECTORY = 64 << 20
"""What zipfile may read at once to learn of the members."""

_PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
# What zipfile and zlib raise on bytes that somebody bent on purpose.
_BROKEN = (
    zipfile.BadZipFile,
    EOFError,
    OSError,
    zlib.error,
    ValueError,
    ArithmeticError,
    RuntimeError,
    NotImplementedError,
    IndexError,
)
_AGAIN = "fetch the file again and compare its sha256 with the index's"
_BAD = "do not use this archive"


def is_zip(path: Path) -> bool:
    """Whether a file begins as a zip does; one that cannot be opened does not."""
    try:
        with path.open("rb") as file:
            return file.read(2) == b"PK"
    except OSError:
        return False


def read_wheel(path: Path, wanted: Callable[[str], bool]) -> dict[str, bytes]:
    """Give the wanted files of a wheel, by their path in it."""
    try:
        with path.open("rb") as file, zipfile.ZipFile(cast("IO[bytes]", _Bounded(file, path))) as wheel:
            return {info.filename: _content(wheel, info) for info in _wanted(wheel, path, wanted)}
    except SourceError:
        raise
    except _BROKEN as problem:
        raise _refusal(path, f"is corrupt or truncated ({one_line(problem)})", _AGAIN) from None


class _Bounded:
    """A file for zipfile that gives no more at once than a central directory may have."""

    def __init__(self, file: IO[bytes], path: Path) -> None:
        self._file = file
        self._path = path
        self._length = path.stat().st_size
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable

    def read(self, size: int = -1) -> bytes:
        left = self._length - self._file.tell()
        size = left if size < 0 else min(size, left)
        if size > MAX_DIRECTORY:
            raise _refusal(self._path, f"has a directory over {MAX_DIRECTORY:,} bytes", _BAD)
        return self._file.read(size)


def _wanted(wheel: zipfile.ZipFile, path: Path, wanted: Callable[[str], bool]) -> Iterator[zipfile.ZipInfo]:
    """Look at every member, refuse what no wheel holds, and give the wanted ones."""
    seen: set[str] = set()
    total = kept = 0
    members = wheel.infolist()
    if len(members) > archive.MAX_MEMBERS:
        raise _refusal(path, f"has over {archive.MAX_MEMBERS:,} members", _BAD)
    for info in members:
        _expect_plain(info, path)
        total += info.file_size
        if total > archive.MAX_TOTAL:
            raise _refusal(path, f"unpacks to over {archive.MAX_TOTAL:,} bytes", _BAD)
        if info.is_dir() or not wanted(info.filename):
            continue
        kept += info.file_size
        _expect_small(info, kept, path)
        if info.filename in seen:
            raise _refusal(path, f"names {info.filename!r} twice", _BAD)
        seen.add(info.filename)
        yield info


def _expect_plain(info: zipfile.ZipInfo, path: Path) -> None:
    """Refuse names and kinds that could lead out of the archive."""
    name, kind = info.orig_filename, stat.S_IFMT(info.external_attr >> 16)
    where = one_line(repr(name))
    if name.startswith(("/", "\\")) or ".." in name.replace("\\", "/").split("/") or "\0" in name:
        raise _refusal(path, f"has a member that leads out of it: {where}", _BAD)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise _refusal(path, f"has a member that is no plain file: {where}", _BAD)


def _expect_small(info: zipfile.ZipInfo, kept: int, path: Path) -> None:
    where = one_line(repr(info.filename))
    if info.file_size > archive.MAX_FILE:
        raise _refusal(path, f"has a file over {archive.MAX_FILE:,} bytes: {where}", _BAD)
    if kept > archive.MAX_KEPT:
        raise _refusal(path, f"has over {archive.MAX_KEPT:,} bytes of source", _BAD)
    if info.compress_type not in _PACKED:
        raise _refusal(path, f"is packed as no wheel is: {where}", _BAD)


def _content(wheel: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """A member's bytes; asked for with their number, or zipfile would first unpack all that there is."""
    with wheel.open(info) as stream:
        data = stream.read(info.file_size + 1)
    if len(data) != info.file_size:
        raise EOFError("unexpected end of data")
    return data


def _refusal(path: Path, problem: str, remedy: str) -> SourceError:
    return refusal(path, f"the archive {problem}", remedy)
