"""Many questions at once: where each value of a flag ends, device by device."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from msgspec import Struct

from .standing import Standing


class End(Struct, frozen=True, kw_only=True):
    """One end that is possible somewhere."""

    standing: Standing
    symbol: str = ""
    """The kernel's class, the layer method's where there is no kernel, the exception's of a refusal."""


class Row(Struct, frozen=True, kw_only=True):
    """One value of the flag."""

    flag: str
    layer: str
    premises: tuple[str, ...] = ()
    """The checkpoints that it is told for: those of a line of a matrix, or all that an overview considers."""
    cells: tuple[tuple[End, ...], ...]
    """The ends that are possible on the device of each column."""

    def standings(self) -> Iterator[Standing]:
        """How each cell stands: open where its ends differ."""
        for cell in self.cells:
            found = {end.standing for end in cell}
            yield found.pop() if len(found) == 1 else Standing.OPEN

    def accepted(self) -> tuple[str, ...]:
        """What it may end in without a refusal, in order of the columns."""
        ends = (end for cell in self.cells for end in cell if end.standing is Standing.ACCEPTED)
        return tuple(dict.fromkeys(end.symbol for end in ends))


class Matrix(Struct, frozen=True, kw_only=True):
    """A table of questions and their ends."""

    columns: tuple[str, ...]
    """Devices: `sm_90`, `gfx942`, `cpu`."""
    rows: tuple[Row, ...]
    merged: bool = False
    """Whether a row is a value of the flag, with all its checkpoints."""

    def runs(self, row: Row) -> Iterator[tuple[str, tuple[End, ...]]]:
        """The cells of a row, neighbours with the same ends as one: `sm_75-87`."""
        for ends, cells in groupby(zip(self.columns, row.cells, strict=True), key=lambda cell: cell[1]):
            names = [name for name, _ in cells]
            yield spanned(names), ends


def spanned(names: list[str]) -> str:
    """`sm_75`, `sm_75-87`."""
    first, last = names[0], names[-1]
    stem = first.rpartition("_")[0]
    return first if first == last else f"{first}-{last.removeprefix(f'{stem}_') if stem else last}"
