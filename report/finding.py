"""A rule's verdict over chain and evidence."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from .predicate import Site


class Verdict(StrEnum):
    """What a rule came to."""

    PASS = "pass"
    FAIL = "fail"
    OPEN = "open"
    """It depends on what is unknown or could not be read; never shown as clean."""
    NOT_APPLICABLE = "not-applicable"


CALM = (Verdict.PASS, Verdict.NOT_APPLICABLE)
"""Verdicts by which nothing is amiss."""


class Level(StrEnum):
    """How much a finding matters, the gravest first."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"

    def reaches(self, other: Level) -> bool:
        """Whether it is as grave as `other`, or graver."""
        order = tuple(Level)
        return order.index(self) <= order.index(other)


class Confidence(StrEnum):
    """How far a finding can be trusted."""

    CERTAIN = "certain"
    LIKELY = "likely"
    GUESS = "guess"


class Finding(Struct, frozen=True, kw_only=True):
    """What a rule found: expected against seen, and where."""

    rule: str
    """The rule's id: `QT101`."""
    name: str
    """The rule's dotted name: `quant.refused`."""
    verdict: Verdict
    level: Level
    subject: str
    """What it is about: a layer, a symbol, a flag."""
    expected: str | None = None
    seen: str | None = None
    message: str
    site: Site | None = None
    evidence: tuple[str, ...] = ()
    """What it rests on, one fact a line."""
    confidence: Confidence = Confidence.CERTAIN
    fix: str | None = None
    """What the user can do."""

    def __str__(self) -> str:
        return f"{self.level} {self.rule} {self.name}: {self.message}"
