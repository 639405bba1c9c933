"""A snapshot: recorded answers of one pin, in a file that is read a block at a time.

The first line is JSON: the pin, and for each block where it lies and the keys of its records. Blocks are
compressed; in each, a record is a line, and records that share much lie together.
"""

from __future__ import annotations

import hashlib
import lzma
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ...report.errors import SourceError
from ...report.fetched import Fetched
from ...report.files import write
from ...report.model import Merged, Operator, Pin, Report
from ..cpus import kinds
from ..native.build import Build
from ..readings import Print, Reading
from ..scenario import ARCHITECTURES, CAPABILITIES, PLATFORMS, Scenario
from .read import Readings, read_readings, written_readings

SCHEMA = "qtrace-snapshot/2"
LARGEST = 1 << 28
"""Bytes that the first line, or a block once it is unpacked, may have."""
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
    readings: Block
    """Where it stands what the records were read from."""
    merged: tuple[Merged, ...] = ()
    fetched: tuple[Fetched, ...] = ()
    native: tuple[tuple[Build, Block], ...] = ()
    """For each build of the compiled half, where its operators stand; the keys are their names."""


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


def on_device_of(scenario: Scenario, other: Scenario) -> Scenario:
    """The question `other`, on the device of `scenario`."""
    return replace(other, **{name: getattr(scenario, name) for name in DEVICE})


def key_of(scenario: Scenario) -> str:
    """What a question goes by: all of it, in the order in which the checkpoint says it."""
    return hashlib.sha256(written(scenario)).hexdigest()[:16]


def written(scenario: Scenario) -> bytes:
    """A question as it is recorded."""
    return msgspec.json.encode(scenario)


class Snapshot:
    """One file, open for questions."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with path.open("rb") as file:
                self.header = _header(path, file)
                self._start = file.tell()
                self._size = file.seek(0, 2) - self._start
        except OSError as error:
            raise SourceError(f"cannot read {path}: {error.strerror}") from None
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
            try:
                plain = written(asked)
            except (RecursionError, UnicodeError):
                return None  # no question of a grid
            found = self.named(key_of(asked))
            same = found is not None and written(found.scenario) == plain
            if found is not None and same and (asked is scenario or not found.consulted):
                return found
        return None

    def named(self, key: str) -> Record | None:
        """The record of that key."""
        place = self._places.get(key)
        return None if place is None else self._record(self._lines(place[0])[place[1]], key)

    def records(self) -> Iterable[Record]:
        """Every record, block by block."""
        for number in range(len(self.header.blocks)):
            found = map(self._record, self._lines(number), self.header.blocks[number].keys)
            yield from (record for record in found if record is not None)

    @cached_property
    def readings(self) -> Readings:
        """What each record was read from."""
        found = read_readings(self._unpacked(self.header.readings))
        if found is None or len(found.records) != len(self._places):
            raise self._damaged()
        return found

    def operators(self, build: Build) -> Callable[[str], Operator | None] | None:
        """Who tells what an operator of a build reaches; None where the build is not recorded."""
        block = dict(self.header.native).get(build)
        if block is None:
            return None
        lines = dict(zip(block.keys, self._split(block), strict=True))
        return lambda name: _operator(lines[name]) if name in lines else None

    def _lines(self, number: int) -> list[bytes]:
        if number not in self._blocks:
            self._blocks[number] = self._split(self.header.blocks[number])
        return self._blocks[number]

    def _split(self, block: Block) -> list[bytes]:
        lines = self._unpacked(block).split(b"\n")
        if len(lines) != len(block.keys):
            raise self._damaged()
        return lines

    def _unpacked(self, block: Block) -> bytes:
        if not (block.offset >= 0 and block.size > 0 and block.offset + block.size <= self._size):
            raise self._damaged()
        with self.path.open("rb") as file:
            file.seek(self._start + block.offset)
            return _unpacked(file.read(block.size))

    def _damaged(self) -> SourceError:
        return SourceError(f"{self.path.name} is damaged: build or fetch it again")

    def _record(self, line: bytes, key: str) -> Record | None:
        """A record as it is written; None where it is not to be told."""
        try:
            found = _decoded(line)
        except (msgspec.DecodeError, RecursionError):
            raise self._damaged() from None
        if key_of(found.scenario) != key or not _askable(found.scenario):
            raise self._damaged()
        return found


@lru_cache(256)
def _decoded(line: bytes) -> Record:
    """A record; two releases that are compared, and questions that share a part, ask for the same again."""
    return msgspec.json.decode(line, type=Record)


def _operator(line: bytes) -> Operator:
    try:
        return msgspec.json.decode(line, type=Operator)
    except (msgspec.DecodeError, RecursionError):
        raise SourceError("the snapshot's operators are damaged: build or fetch it again") from None


def _askable(scenario: Scenario) -> bool:
    """Whether somebody could ask this: a file may hold anything."""
    known = scenario.platform in PLATFORMS and set(scenario.cpu) <= set(kinds())
    known = known and scenario.capability in (None, *CAPABILITIES) and scenario.arch in (None, *ARCHITECTURES)
    return known and scenario.tensor_parallel > 0 and (scenario.rows is None or scenario.rows > 0)


def _unpacked(packed: bytes) -> bytes:
    """One stream of at most `LARGEST` bytes; nothing where it is not one."""
    try:
        return lzma.LZMADecompressor(memlimit=LARGEST).decompress(packed, LARGEST)
    except (lzma.LZMAError, EOFError, MemoryError):
        return b""


def _header(path: Path, file: BinaryIO) -> Header:
    try:
        header = msgspec.json.decode(file.readline(LARGEST), type=Header)
    except (msgspec.DecodeError, RecursionError):
        raise SourceError(f"{path.name} is no snapshot of qtrace") from None
    if header.schema != SCHEMA:
        raise SourceError(f"{path.name} is a {header.schema}; this qtrace reads {SCHEMA}")
    return header


Group = Mapping[str, tuple[bytes, frozenset[Reading]]]
"""Records as they are written, by their keys, and what each was read from."""


def packed(records: Iterable[tuple[Record, frozenset[Reading]]]) -> Group:
    """The records of a group, in the order of their keys."""
    found = {key_of(record.scenario): (msgspec.json.encode(record), read) for record, read in records}
    return dict(sorted(found.items()))


def save(
    path: Path,
    tool: str,
    pin: Pin,
    knows: Known,
    groups: Iterable[Group],
    readings: tuple[frozenset[Reading], Callable[[Reading], Print]],
    native: Mapping[Build, Iterable[Operator]],
    merged: tuple[Merged, ...] = (),
    fetched: tuple[Fetched, ...] = (),
) -> int:
    """Write a snapshot, a block for each group of records; the bytes that it takes. `readings` are those of
    `knows`, and how each is printed; `native` are the operators of each build.
    """
    blocks: list[Block] = []
    body, read = bytearray(), dict[str, frozenset[Reading]]()
    for group in groups:
        new = {key: found for key, found in group.items() if key not in read}
        read |= {key: readings for key, (_, readings) in new.items()}
        if new:
            block = _compressed(b"\n".join(line for line, _ in new.values()))
            blocks.append(Block(offset=len(body), size=len(block), keys=tuple(new)))
            body += block
    of_known, print_of = readings
    block = _compressed(written_readings(of_known, read.values(), print_of))
    last = Block(offset=len(body), size=len(block), keys=())
    body += block
    tables = []
    for build, operators in native.items():
        found = tuple(operators)
        block = _compressed(b"\n".join(map(msgspec.json.encode, found)))
        tables.append(
            (build, Block(offset=len(body), size=len(block), keys=tuple(op.symbol for op in found)))
        )
        body += block
    header = Header(
        schema=SCHEMA,
        tool=tool,
        pin=pin,
        knows=knows,
        blocks=tuple(blocks),
        readings=last,
        merged=merged,
        fetched=fetched,
        native=tuple(tables),
    )
    write(path, whole := msgspec.json.encode(header) + b"\n" + bytes(body))
    return len(whole)


def _compressed(data: bytes) -> bytes:
    return lzma.compress(data, preset=9 | lzma.PRESET_EXTREME)


def trimmed(report: Report) -> Report:
    """A report without what the pin or whoever asks gives it."""
    empty: dict[str, Any] = {"asked": {}}
    return replace(report, tool="", pins=(), findings=(), question=replace(report.question, **empty))
