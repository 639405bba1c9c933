"""The engine's own recorded answers, cell by cell, against qtrace's.

A cell is one (profile, capability, section, label). `decided` cells must be equal; an open one names its
condition.
Run as a script it prints the table: python tests/support/oracle_cells.py SDIST ORACLE.json.gz [SECTION...]
"""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import oracle_kv
import oracle_linear
import oracle_moe
from oracle_premises import DATA, Open

from qtrace.tracer.answer import roomy
from qtrace.tracer.library import Library
from qtrace.tracer.sources import open_source

EXCLUDED = json.loads((DATA / "excluded.json").read_text())
DISPUTED = json.loads((DATA / "disputed.json").read_text())
"""Cells in which the recording is held to be wrong, each with what the source says."""
AGAIN = json.loads((DATA / "real-packages.json").read_text())
"""Answers of the engine with real packages, where they differ from those with mocks in their place."""
ANSWERS = oracle_linear.ANSWERS | oracle_moe.ANSWERS | oracle_kv.ANSWERS
COMPARABLE = oracle_linear.COMPARABLE | oracle_moe.COMPARABLE | oracle_kv.COMPARABLE
SECTIONS = tuple(ANSWERS)
FAULT = r"ERR AttributeError: module '[\w.]+' has no attribute"

Answers = dict[str, dict[str, dict[str, Any]]]


class Cell(NamedTuple):
    """One question of the oracle, what the engine answered, and what qtrace does."""

    profile: str
    capability: int
    section: str
    label: str
    expected: Any
    got: Any
    state: str
    """equal, wrong, open, or disputed: unlike a recording that the source contradicts."""


def load(path: Path) -> Answers:
    answers: Answers = json.loads(gzip.decompress(path.read_bytes()))
    return answers


def excluded(version: str, profile: str, section: str, label: str) -> bool:
    """Cells that say more about the script that recorded them than about the engine."""
    by_version = EXCLUDED.get(version, {}).get(section, [])
    return label in by_version or label in EXCLUDED["any"].get(f"profile {profile}", [])


def fault(expected: Any) -> bool:
    """Whether the recording script itself failed: it asked for a function that the release does not have."""
    return isinstance(expected, str) and re.match(FAULT, expected) is not None


def cells(library: Library, answers: Answers, sections: Iterable[str] = SECTIONS) -> Iterator[Cell]:
    """Every counted cell of the sections, answered."""
    version = library.source.pin().version
    for profile, by_capability in answers.items():
        for capability, recorded in by_capability.items():
            for section in sections:
                again = AGAIN.get(version, {}).get(profile, {}).get(capability, {}).get(section, {})
                for label, mocked in recorded.get(section, {}).items():
                    expected = again.get(label, mocked)
                    if not excluded(version, profile, section, label) and not fault(expected):
                        yield _cell(library, profile, int(capability), section, label, expected, recorded)


def _cell(
    library: Library, profile: str, capability: int, section: str, label: str, expected: Any, recorded: Any
) -> Cell:
    with roomy():
        got = ANSWERS[section](library, profile, capability, label, recorded)
    if isinstance(got, Open):
        return Cell(profile, capability, section, label, expected, got, "open")
    wanted = COMPARABLE.get(section, lambda e: e)(expected)
    row = _disputed(library.source.pin().version, capability, section, label)
    state = "equal" if _same(wanted, got) else "disputed" if row and _excused(row, wanted, got) else "wrong"
    return Cell(profile, capability, section, label, wanted, got, state)


def _disputed(version: str, capability: int, section: str, label: str) -> dict[str, Any] | None:
    for row in DISPUTED:
        here = row["section"] == section and capability in row["capabilities"]
        if here and version in row["releases"] and label in row["labels"]:
            return dict(row)
    return None


def _excused(row: dict[str, Any], wanted: Any, got: Any) -> bool:
    """Whether the dispute explains the difference: one reason in another's place, or all of the cell."""
    if "instead" not in row:
        return True
    told = {name: [row["instead"].get(r, r) for r in reasons] for name, reasons in wanted["invalid"].items()}
    return bool(wanted | {"invalid": told} == got)


def _same(expected: Any, got: Any) -> bool:
    """Equal; for a refusal: the exception type and the text up to its first value."""
    if isinstance(expected, str) and isinstance(got, str) and expected != got:
        lead = re.split(r"[{\[(=]|0x", expected)[0]
        return len(lead) > len("ValueError: ") and got.startswith(lead)
    return bool(expected == got)


def table(found: list[Cell]) -> str:
    """Counts by section; the share is of the cells that are not disputed."""
    heads = ("cells", "equal", "wrong", "open", "disputed")
    rows = [f"{'section':<12}{''.join(f'{head:>9}' for head in heads)}{'equal %':>9}"]
    for section in (*dict.fromkeys(c.section for c in found), "all"):
        states = Counter(c.state for c in found if section in (c.section, "all"))
        counted = sum(states.values()) - states["disputed"]
        numbers = (sum(states.values()), *(states[head] for head in heads[1:]))
        share = 100 * states["equal"] / counted if counted else 0.0
        rows.append(f"{section:<12}{''.join(f'{number:>9}' for number in numbers)}{share:>8.1f}%")
    return "\n".join(rows)


def main(sdist: str, oracle: str, *sections: str) -> None:
    found = list(cells(Library(open_source(sdist)), load(Path(oracle)), sections or SECTIONS))
    print(table(found))
    for cell in found:
        if cell.state != "equal":
            print(
                f"{cell.state:<6}{cell.profile} sm_{cell.capability} {cell.section} {cell.label}: {cell.got}"
            )
            if cell.state == "wrong":
                print(f"      expected {cell.expected}")


if __name__ == "__main__":
    main(*sys.argv[1:])
