"""The records of a pin, carried over to a source near by: where all that an answer was read from is the same
there, so is the answer, but for the lines on which things stand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from itertools import pairwise
from pathlib import Path

from msgspec.structs import replace

from ...report.model import Operator
from ..library import Library
from ..merged import merged
from ..native.build import PYTHON, Build
from ..native.fetched import fetched
from ..readings import OF_FILES, REST, TEXT, Print, Reading, print_of
from ..scenario import Scenario
from .file import Known, Record, Snapshot
from .read import Readings

Ask = Callable[[Scenario], Record]
"""Asks a source for the record of a question."""
Lines = Mapping[tuple[bytes, int], int]
"""Where a line of a file stands now."""


class Carried(Snapshot):
    """The records of a snapshot that hold for another source, as if they had been recorded there."""

    def __init__(self, path: Path, library: Library) -> None:
        super().__init__(path)
        self._library, self._near = library, Near(library, self.readings)
        source = library.source
        own = {"pin": source.pin(), "merged": merged(source), "fetched": fetched(source)}
        self.header = replace(self.header, **own)
        self._ask: Ask | None = None
        self._asked: dict[str, Record] = {}

    def holding(self) -> int:
        """How many records hold."""
        return sum(map(self._near.same, self.readings.records))

    def operators(self, build: Build) -> Callable[[str], Operator | None] | None:
        """Recorded where all that is no Python is the same there; the rest is left to the source."""
        same = build != PYTHON and self.readings.rest() == self._library.source.rest_hash
        return super().operators(build) if same else None

    def filled(self, known: Callable[[Library], Known], ask: Ask) -> Carried:
        """The same with what does not hold asked of the source: what its flags take at once, a record when it
        is wanted.
        """
        self._ask = ask
        if not self._near.same(self.readings.known):
            self.header = replace(self.header, knows=known(self._library))
        return self

    def _record(self, line: bytes, key: str) -> Record | None:
        row = self._rows[key]
        moved = self._near.carried(line, row) if self._near.same(row) else None
        if moved is not None:
            return super()._record(moved, key)
        if self._ask is not None and key not in self._asked:
            lost = super()._record(line, key)
            if lost is not None:
                self._asked[key] = self._ask(lost.scenario)
        return self._asked.get(key)

    @cached_property
    def _rows(self) -> Mapping[str, int]:
        keys = (key for block in self.header.blocks for key in block.keys)
        return dict(zip(keys, self.readings.records, strict=True))


class Near:
    """A source held against what a pin was read from."""

    def __init__(self, library: Library, readings: Readings) -> None:
        self._rows = [int.from_bytes(row, "little") for row in readings.rows]
        self._lines: dict[int, Lines] = {}
        self._orders: dict[int, bool] = {}
        self._spans: list[tuple[int, bytes, Print, Print]] = []
        """The readings of files in which lines moved: bit, path, print before and now."""
        self._paths: tuple[bytes, ...] = ()
        self._sites: re.Pattern[bytes] | None = None
        """The places in those files, as records name them."""
        self._other = -1  # where the first reading is another, so is every answer
        if dict(readings.prints).get(REST) != print_of(library, REST):
            return
        same = {path for path, text in readings.files.items() if _is_same(library, path, text)}
        now = [
            known if reading.kind in OF_FILES and reading.where in same else print_of(library, reading)
            for reading, known in readings.prints
        ]
        pairs = list(zip(readings.prints, now, strict=True))
        self._other = sum(1 << n for n, ((_, was), is_) in enumerate(pairs) if was.text != is_.text)
        paths = {reading.where for (reading, was), is_ in pairs if was.lines != is_.lines}
        self._spans = [
            (1 << n, reading.where.encode(), was, is_)
            for n, ((reading, was), is_) in enumerate(pairs)
            if reading.where in paths
        ]
        self._paths = tuple(path.encode() for path in sorted(paths))
        self._sites = _sites(paths) if paths else None

    def same(self, row: int) -> bool:
        """Whether all of a row is the same, and stands in the same order."""
        return not self._other & self._rows[row] and (self._in_order or self._ordered(row))

    @cached_property
    def _in_order(self) -> bool:
        """Whether whatever was read by anybody stands in the same order."""
        return _rising(self._moves(-1))

    def _ordered(self, row: int) -> bool:
        """The same for one row: what a statement sees hangs on what stands above it."""
        if row not in self._orders:
            self._orders[row] = _rising(self._moves(self._rows[row]))
        return self._orders[row]

    def _moves(self, bits: int) -> Iterator[tuple[bytes, int, int]]:
        """Path, and the first line of a statement before and now."""
        for bit, path, was, now in self._spans:
            if bits & bit and was.text == now.text:
                for (first, _), (there, _) in zip(was.lines, now.lines, strict=True):
                    yield path, first, there

    def carried(self, record: bytes, row: int) -> bytes | None:
        """A record of that row, as it is written, with the lines of this source; None where it names one of
        what was not read.
        """
        if self._sites is None or not any(path in record for path in self._paths):
            return record
        try:
            return self._sites.sub(lambda found: self._moved(found, row), record)
        except KeyError:
            return None

    def _moved(self, found: re.Match[bytes], row: int) -> bytes:
        if row not in self._lines:
            self._lines[row] = dict(self._of_row(row))
        line = self._lines[row][found["path"] or found["told"], int(found["line"])]
        return found[0].removesuffix(found["line"]) + b"%d" % line

    def _of_row(self, row: int) -> Iterator[tuple[tuple[bytes, int], int]]:
        for bit, path, was, now in self._spans:
            if self._rows[row] & bit:
                for (first, last), (there, _) in zip(was.lines, now.lines, strict=True):
                    yield from (((path, n), n - first + there) for n in range(first, last + 1))


def _is_same(library: Library, path: str, text: str) -> bool:
    """Whether a module has the same text, and is still the one that its name means."""
    module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    return library.source.module_path(module) == path and print_of(library, Reading(TEXT, path)).text == text


def _rising(moves: Iterator[tuple[bytes, int, int]]) -> bool:
    """Whether the lines now are in the order of the lines before, file by file."""
    ordered = sorted(set(moves))
    return all(a[0] != b[0] or a[2] <= b[2] for a, b in pairwise(ordered))


def _sites(paths: set[str]) -> re.Pattern[bytes]:
    """A place in one of the files, as a site or within a sentence."""
    names = "|".join(map(re.escape, sorted(paths)))
    pattern = rf'(?:"path":"(?P<path>{names})","line":|\b(?P<told>{names}):)(?P<line>\d+)'
    return re.compile(pattern.encode())
