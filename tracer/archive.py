"""Source distributions read in place: one pass over a hostile `.tar.gz`, nothing written to disk."""

from __future__ import annotations

import gzip
import tarfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, cast

from ..report.errors import SourceError

MAX_MEMBERS = 200_000
MAX_TOTAL = 4 << 30
MAX_FILE = 64 << 20
MAX_KEPT = 512 << 20
# What tarfile may read for one member's headers: long names and pax records, never file content.
MAX_HEADERS = 1 << 20

_CHUNK = 1 << 20
# What tarfile and zlib raise on bytes that somebody bent on purpose.
_BROKEN = (tarfile.TarError, EOFError, OSError, zlib.error, ValueError, ArithmeticError, RecursionError)
_AGAIN = "fetch the file again and compare its sha256 with the index's"


def read_sdist(path: Path, wanted: Callable[[str], bool]) -> dict[str, bytes]:
    """Give the wanted files of an sdist, by their path below its one top folder."""
    kept: dict[str, bytes] = {}
    try:
        _expect_gzip(path)
        with gzip.open(path) as stream:
            for name, content in _members(_Forward(cast("IO[bytes]", stream), path), path, wanted):
                if name in kept:
                    raise _refusal(path, f"names {name!r} twice", "do not use this archive")
                kept[name] = content
    except SourceError:
        raise
    except _BROKEN as problem:
        raise _refusal(path, f"is corrupt or truncated ({one_line(problem)})", _AGAIN) from None
    return kept


def _expect_gzip(path: Path) -> None:
    with path.open("rb") as file:
        head = file.read(4)
    if not head:
        raise _refusal(path, "is empty", _AGAIN)
    if not head.startswith(b"\x1f\x8b"):
        raise _refusal(path, "is no gzip archive", "name an sdist (.tar.gz), a wheel or a directory")


class _Forward:
    """The archive's bytes for tarfile: forwards only, counted, and no more than headers at a time."""

    def __init__(self, stream: IO[bytes], path: Path) -> None:
        self._stream = stream
        self._path = path
        self._position = 0
        self._allowance = MAX_HEADERS

    def tell(self) -> int:
        return self._position

    def seek(self, position: int) -> int:
        if position < self._position:
            raise tarfile.ReadError("a member that points back")
        while self._position < position and self.take(min(_CHUNK, position - self._position)):
            pass
        return self._position

    def read(self, size: int) -> bytes:
        self._allowance -= size
        if size < 0 or self._allowance < 0:
            raise _refusal(self._path, f"has headers over {MAX_HEADERS:,} bytes", "do not use this archive")
        return self.take(size)

    def take(self, size: int) -> bytes:
        """Read content on our own account: only the total is limited here."""
        data = self._stream.read(size)
        self._position += len(data)
        if self._position > MAX_TOTAL:
            raise _refusal(self._path, f"unpacks to over {MAX_TOTAL:,} bytes", "do not use this archive")
        return data

    def next_member(self) -> None:
        self._allowance = MAX_HEADERS

    def drain(self) -> None:
        """Read to the end, where gzip keeps the checksum."""
        while self.take(_CHUNK):
            pass


def _members(stream: _Forward, path: Path, wanted: Callable[[str], bool]) -> Iterator[tuple[str, bytes]]:
    """Walk every member, refuse what no sdist holds, and give the wanted files."""
    top: str | None = None
    count = kept = 0
    with tarfile.open(fileobj=cast("IO[bytes]", stream), mode="r:", encoding="utf-8") as tar:
        while (member := tar.next()) is not None:
            stream.next_member()
            count += 1
            if count > MAX_MEMBERS:
                raise _refusal(path, f"has over {MAX_MEMBERS:,} members", "do not use this archive")
            parts = _parts(member, path)
            if not parts:
                continue
            top = top or parts[0]
            if parts[0] != top:
                raise _refusal(path, "has more than one top folder", "name an sdist as the index serves it")
            name = "/".join(parts[1:])
            if member.isfile() and wanted(name):
                kept += member.size
                _expect_small(member, kept, path)
                yield name, _content(stream, member)
    stream.drain()


def _parts(member: tarfile.TarInfo, path: Path) -> list[str]:
    """Split a member's name, refusing names and kinds that could lead out of the archive."""
    name = member.name
    wrong = None
    if name.startswith(("/", "\\")) or ".." in name.replace("\\", "/").split("/"):
        wrong = "has a member that leads out of it"
    elif not (member.isfile() or member.isdir()) or member.issparse():
        wrong = "has a member that is no plain file"
    elif member.size < 0:
        wrong = "has a member of negative size"
    if wrong is not None:
        raise _refusal(path, f"{wrong}: {one_line(repr(name))}", "do not use this archive")
    return [part for part in name.split("/") if part not in ("", ".")]


def _expect_small(member: tarfile.TarInfo, kept: int, path: Path) -> None:
    if member.size > MAX_FILE:
        where = one_line(repr(member.name))
        raise _refusal(path, f"has a file over {MAX_FILE:,} bytes: {where}", "do not use this archive")
    if kept > MAX_KEPT:
        raise _refusal(path, f"has over {MAX_KEPT:,} bytes of source", "do not use this archive")


def _content(stream: _Forward, member: tarfile.TarInfo) -> bytes:
    stream.seek(member.offset_data)
    data = stream.take(member.size)
    if len(data) < member.size:
        raise EOFError("unexpected end of data")
    return data


def _refusal(path: Path, problem: str, remedy: str) -> SourceError:
    return refusal(path, f"the archive {problem}", remedy)


def refusal(where: object, problem: str, remedy: str) -> SourceError:
    """Say in one line where, what is wrong, and what to do; names can hold anything, so they are cleaned."""
    return SourceError(f"{one_line(where, 400)}: {problem}; {remedy}")


def one_line(thing: object, limit: int = 120) -> str:
    """Keep what can be printed on one line, and not too much of it."""
    text = str(thing)
    if not text.isprintable():
        text = "".join(sign if sign.isprintable() else "?" for sign in text)
    return text if len(text) <= limit else f"{text[: limit - 3]}..."
