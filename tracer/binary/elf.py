"""ELF, as much of it as says which sections a file has; every number in it is checked before it is used."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from typing import BinaryIO

from msgspec import Struct

MAGIC = b"\x7fELF"
MAX_TABLE = 256 << 20
"""Bytes of the largest table that is read at once; the names of vLLM's kernels take some MB."""

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_NOBITS = 8
_SYMTAB = 2
_LITTLE_64 = b"\x02\x01"


class BrokenElfError(Exception):
    """A file is no ELF for 64 bits, or is cut off; the text says so as what a file `is` or `has`."""


class Section(Struct, frozen=True, kw_only=True):
    """An entry of the section table; a section that fills no bytes of the file has the size 0."""

    name: str
    kind: int
    offset: int
    """Where its bytes begin in the file, in bytes, as `size`."""
    size: int
    link: int
    """The number of another section; of a table of symbols, of the one with their names."""


class Symbol(Struct, frozen=True, kw_only=True):
    """An entry of the symbol table."""

    name: bytes
    info: int
    other: int


def sections(file: BinaryIO) -> list[Section]:
    """Read the section table of an open file; BrokenElfError where it, or a section, is not all there."""
    length = os.fstat(file.fileno()).st_size
    head = _at(file, 0, min(_HEADER.size, length))
    if len(head) < _HEADER.size or not head.startswith(MAGIC) or head[4:6] != _LITTLE_64:
        raise BrokenElfError("is no ELF file for 64 bits")
    offset, entry, count, names = (_HEADER.unpack(head)[field] for field in (6, 11, 12, 13))
    if entry != _SECTION.size or not names < count:
        raise BrokenElfError("has no section table")
    if offset + count * entry > length:
        raise BrokenElfError("is cut off: its section table is not there")
    rows = list(_SECTION.iter_unpack(_at(file, offset, count * entry)))
    named = _at(file, rows[names][4], min(rows[names][5], max(0, length - rows[names][4])))
    found = [_section(row, named) for row in rows]
    if any(section.offset + section.size > length for section in found):
        raise BrokenElfError("is cut off: a section is not all there")
    return found


def content(file: BinaryIO, section: Section) -> bytes:
    """The bytes of a section."""
    return _at(file, section.offset, section.size)


def symbols(file: BinaryIO, found: list[Section]) -> Iterator[Symbol]:
    """The symbols of an open file whose sections were read; none where it has no table of them."""
    for table in found:
        if table.kind != _SYMTAB:
            continue
        if table.link >= len(found) or table.size % _SYMBOL.size:
            raise BrokenElfError("has a broken symbol table")
        names = content(file, found[table.link])
        for start, info, other, _, _, _ in _SYMBOL.iter_unpack(content(file, table)):
            yield Symbol(name=_text(names, start), info=info, other=other)


def _section(row: tuple[int, ...], names: bytes) -> Section:
    name, kind, _, _, offset, size, link = row[:7]
    return Section(
        name=_text(names, name).decode("utf-8", "replace"),
        kind=kind,
        offset=offset,
        size=0 if kind == _NOBITS else size,
        link=link,
    )


def _text(names: bytes, start: int) -> bytes:
    end = names.find(b"\0", start)
    if end < 0:
        raise BrokenElfError("has a name that does not end")
    return names[start:end]


def _at(file: BinaryIO, offset: int, size: int) -> bytes:
    if size > MAX_TABLE:
        raise BrokenElfError(f"has a table over {MAX_TABLE:,} bytes")
    file.seek(offset)
    data = file.read(size)
    if len(data) != size:
        raise BrokenElfError("is cut off")
    return data
