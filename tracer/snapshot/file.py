"""A snapshot: recorded answers of one pin, in a file that is read a block at a time.

The first line is JSON: the pin, and for each block where it lies and the keys of its records. Blocks are
compressed; in each, a record is a line, and records that share much lie together.
"""

from __future__ import annotations

import hashlib
import lzma
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ...report.errors import SourceError
from ...report.files import write
from ...report.model import Pin, Report
from ..scenario import Scenario

SCHEMA = "qtrace-snapshot/1"
DEVICE: dict[str, None] = {"device_name": None, "compute_units": None}
"""What of a scenario only counts where the engine asks for it."""


class Block(Struct, frozen=True):
    offset: int
    """Bytes behind the first line."""
    size: int
    keys: tuple[str, ...]


class Known(Struct, frozen=True):
    """What the release's flags take."""

    flags: tuple[str, ...]
    cache_dtypes: tuple[str, ...]
    cuda: int | None
    """The CUDA version that its wheels are built with."""


class Header(Struct, frozen=True):
    schema: str
    tool: str
    pin: Pin
    knows: Known
    blocks: tuple[Block, ...]


class Record(Struct, frozen=True, omit_defaults=True):
    """The answer to one question: a report without what every record of the pin has, or whoever asks it."""

    scenario: Scenario
    report: Report
    consulted: bool = False
    """Whether the engine asked for the device's name or units: then it holds for this device alone."""
    parts: tuple[tuple[str, str], ...] = ()
    """(premise, key) of the answers that together are this one's, where no checkpoint was given."""


def bare(scenario: Scenario) -> Scenario:
    """The question without what only some answers hang on."""
    return replace(scenario, **DEVICE)


def key(scenario: Scenario) -> str:
    """What a question goes by."""
    plain = msgspec.json.encode(msgspec.to_builtins(scenario), order="deterministic")
    return hashlib.sha256(plain).hexdigest()[:16]


class Snapshot:
    """One file, open for questions."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with path.open("rb") as file:
            self.header = _header(path, file)
            self._start = file.tell()
        self._blocks: dict[int, list[bytes]] = {}

    @cached_property
    def _places(self) -> Mapping[str, tuple[int, int]]:
        return {
            key: (number, line)
            for number, block in enumerate(self.header.blocks)
            for line, key in enumerate(block.keys)
        }

    def __len__(self) -> int:
        return len(self._places)

    @property
    def pin(self) -> Pin:
        return self.header.pin

    def record(self, scenario: Scenario) -> Record | None:
        """The record of a question, None where it is off the grid."""
        for asked in (scenario, bare(scenario)):
            found = self.named(key(asked))
            if found is not None and found.scenario == asked and (asked is scenario or not found.consulted):
                return found
        return None

    def named(self, key: str) -> Record | None:
        """The record of that key."""
        place = self._places.get(key)
        return None if place is None else _record(self._lines(place[0])[place[1]])

    def records(self) -> Iterable[Record]:
        """Every record, block by block."""
        for number in range(len(self.header.blocks)):
            yield from map(_record, self._lines(number))

    def _lines(self, number: int) -> list[bytes]:
        if number not in self._blocks:
            block = self.header.blocks[number]
            with self.path.open("rb") as file:
                file.seek(self._start + block.offset)
                packed = file.read(block.size)
            try:
                self._blocks[number] = lzma.decompress(packed).split(b"\n")
            except lzma.LZMAError:
                raise SourceError(f"{self.path.name} is damaged: build or fetch it again") from None
        return self._blocks[number]


def _header(path: Path, file: BinaryIO) -> Header:
    try:
        header = msgspec.json.decode(file.readline(), type=Header)
    except msgspec.DecodeError:
        raise SourceError(f"{path.name} is no snapshot of qtrace") from None
    if header.schema != SCHEMA:
        raise SourceError(f"{path.name} is a {header.schema}; this qtrace reads {SCHEMA}")
    return header


def _record(line: bytes) -> Record:
    return msgspec.json.decode(line, type=Record)


Group = Mapping[str, bytes]
"""Records as they are written, by their keys."""


def packed(records: Iterable[Record]) -> Group:
    """The records of a group, in the order of their keys."""
    found = {key(record.scenario): msgspec.json.encode(record) for record in records}
    return dict(sorted(found.items()))


def save(path: Path, tool: str, pin: Pin, knows: Known, groups: Iterable[Group]) -> int:
    """Write a snapshot, a block for each group of records; the bytes that it takes."""
    blocks: list[Block] = []
    body, told = bytearray(), set[str]()
    for group in groups:
        lines = {name: line for name, line in group.items() if name not in told}
        told |= lines.keys()
        if lines:
            block = lzma.compress(b"\n".join(lines.values()), preset=9 | lzma.PRESET_EXTREME)
            blocks.append(Block(offset=len(body), size=len(block), keys=tuple(lines)))
            body += block
    head = msgspec.json.encode(Header(schema=SCHEMA, tool=tool, pin=pin, knows=knows, blocks=tuple(blocks)))
    write(path, whole := head + b"\n" + bytes(body))
    return len(whole)


def trimmed(report: Report) -> Report:
    """A report without what the pin or whoever asks gives it."""
    empty: dict[str, Any] = {"asked": {}}
    return replace(report, tool="", pins=(), findings=(), question=replace(report.question, **empty))
