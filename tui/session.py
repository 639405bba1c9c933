"""What the terminal interface is given to work with: a report, and whom it may ask for another one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, Protocol

from ..report.model import Report

Asked = Mapping[str, str]
"""The question by field: what is not in it is unknown."""


class Field(NamedTuple):
    """One thing that can be asked for."""

    name: str
    label: str
    choices: tuple[str, ...] = ()
    """What the left and right keys go through; anything may be typed."""
    hint: str = ""


class Session(Protocol):
    """Who answers. `ask` and `at` may take seconds and raise QtraceError; they run beside the interface."""

    fields: tuple[Field, ...]
    """What may be changed; none where a report came from a file."""

    def ask(self, asked: Asked) -> Report:
        """The answer to another question about the same release."""

    def at(self, pin: str, asked: Asked) -> Report:
        """What changed between the release and another, for one question."""

    def text(self, path: str) -> str | None:
        """A file of the engine, where its source is at hand."""

    def missing(self) -> str:
        """What to do for the source to be at hand."""

    def export(self, report: Report, to: Path) -> None:
        """Write a report; the name's ending says in which voice."""
