"""What the records of a snapshot were read from, as it is written: each reading once, and a row of bits
for each set of them. Many records share their row, or nearly so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec
from msgspec import Struct

from ..readings import OF_FILES, REST, TEXT, Print, Reading


class Readings(Struct, frozen=True, array_like=True):
    """Every reading with its print, and for each record the row of those that it hangs on."""

    prints: list[tuple[Reading, Print]]
    rows: list[bytes]
    """A bit for each reading; that of the first is the lowest of the first byte."""
    known: int
    """The row of what the release's flags take."""
    records: list[int]
    """The row of each record, in the order in which they stand."""
    files: dict[str, str]
    """A digest of each module of which something was read: where it is the same, so is all of it."""

    def rest(self) -> str:
        """The digest of all that is no module."""
        return dict(self.prints)[REST].text


_READINGS = msgspec.msgpack.Decoder(Readings)


def written_readings(
    known: frozenset[Reading], records: Iterable[frozenset[Reading]], print_of: Callable[[Reading], Print]
) -> bytes:
    """The readings of what is known of the release, and of its records."""
    rows = {known: 0}
    numbers = [rows.setdefault(readings, len(rows)) for readings in records]
    every = sorted(frozenset().union(*rows))
    places = {reading: number for number, reading in enumerate(every)}
    size = (len(every) + 7) // 8
    bits = [sum(1 << places[reading] for reading in row).to_bytes(size, "little") for row in rows]
    prints = [(reading, print_of(reading)) for reading in every]
    paths = sorted({reading.where for reading in every if reading.kind in OF_FILES})
    files = {path: print_of(Reading(TEXT, path)).text for path in paths}
    return msgspec.msgpack.encode(Readings(prints, bits, 0, numbers, files))


def read_readings(data: bytes) -> Readings | None:
    """The readings as they were written; None for what are none."""
    try:
        found = _READINGS.decode(data)
    except (msgspec.DecodeError, RecursionError):
        return None
    return found if all(0 <= row < len(found.rows) for row in (found.known, *found.records)) else None
