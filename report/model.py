"""The report: all facts of one answer. Import every fact type from here."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from .cache import Cache, Scale, ScaleSource
from .chain import Chain, Change, Elsewhere, Hop, HopKind, Relief, Sight, Warned, Why
from .checkpoint import Checkpoint, Excluded
from .choice import Candidate, CandidateState, Choice
from .drift import Compared, Drift, Drifted, Ended, Fate, Only, Step, Where
from .fetched import Code
from .finding import Confidence, Finding, Level, Verdict
from .fit import Fit
from .image import Binary, Compatibility, Image
from .launches import Launch, LaunchEnd, Launches
from .matrix import End, Matrix, Row
from .merged import Merged
from .operator import Operator
from .outcome import Kernel, Outcome, Parameter, Refusal
from .predicate import Site
from .question import Pin, Question, Value
from .readers import Readers
from .tuned import Tuned

__all__ = [
    "SCHEMA",
    "Binary",
    "Cache",
    "Candidate",
    "CandidateState",
    "Chain",
    "Change",
    "Checkpoint",
    "Choice",
    "Compared",
    "Compatibility",
    "Confidence",
    "Coverage",
    "Drift",
    "Drifted",
    "Elsewhere",
    "End",
    "Ended",
    "Excluded",
    "Fate",
    "Finding",
    "Fit",
    "Hop",
    "HopKind",
    "Image",
    "Kernel",
    "Launch",
    "LaunchEnd",
    "Launches",
    "Level",
    "Matrix",
    "Merged",
    "Only",
    "Operator",
    "Outcome",
    "Parameter",
    "Pin",
    "Question",
    "Readers",
    "Refusal",
    "Relief",
    "Report",
    "Row",
    "Scale",
    "ScaleSource",
    "Sight",
    "Step",
    "Tuned",
    "Unsupported",
    "Value",
    "Verdict",
    "Warned",
    "Where",
    "Why",
]

SCHEMA: Literal["qtrace-report/1"] = "qtrace-report/1"
CHANGED = "diff.outcome"
"""The rule about changes of outcome."""


class Unsupported(Struct, frozen=True, kw_only=True):
    """Source that was reached and has no meaning for qtrace: its value was taken as unknown."""

    kind: str
    """The kind of construct: `Match`, `Await`, `call of an unknown builtin`."""
    site: Site
    count: int
    """How often the walk met it."""

    def __str__(self) -> str:
        return f"{self.kind} at {self.site}" + (f" ({self.count} times)" if self.count > 1 else "")


class Coverage(Struct, frozen=True, kw_only=True):
    """How much was read for the answer, and what had to be left."""

    modules_read: int
    statements: int
    """Statements evaluated."""
    unsupported: tuple[Unsupported, ...] = ()
    budgets: tuple[str, ...] = ()
    """Bounds that were hit, as sentences: `loop at vllm/a.py:3 cut after 10000 rounds`."""

    def whole(self) -> bool:
        """Whether everything that was reached could be evaluated."""
        return not self.unsupported and not self.budgets


class Report(Struct, frozen=True, kw_only=True):
    """A question and its answer; the same pin and question give the same bytes."""

    schema: Literal["qtrace-report/1"] = SCHEMA
    tool: str
    """The version of qtrace that wrote it."""
    question: Question
    pins: tuple[Pin, ...]
    """What was read; the first is the one the chains stand in."""
    chains: tuple[Chain, ...]
    operators: tuple[Operator, ...] = ()
    """What the ends of the chains launch, as far as that is known."""
    libraries: tuple[Code, ...] = ()
    """The libraries whose source was given, to tell what they launch."""
    tuned: tuple[Tuned, ...] = ()
    """The files with tuned configurations that layers look for, where the device's full name is given."""
    merged: tuple[Merged, ...] = ()
    """Modes of the KV cache that are one value in the source, where a cache dtype was asked for."""
    binary: Binary | None = None
    """Where the kernels' code was looked for, if in a binary."""
    matrix: Matrix | None = None
    """Where many questions end, in place of their chains."""
    drift: Drift | None = None
    """What changed between the two pins, in place of their chains."""
    readers: Readers | None = None
    """Who reads a flag, field or variable, where that was asked."""
    launches: Launches | None = None
    """What starts an engine in somebody's own files, where those were read."""
    checkpoint: Checkpoint | None = None
    """What the checkpoint says of itself, where one was given."""
    findings: tuple[Finding, ...] = ()
    coverage: Coverage

    def apart(self) -> tuple[Finding, ...]:
        """The findings that nothing else in the report tells: changes of outcome stand in `drift`."""
        return tuple(finding for finding in self.findings if self.drift is None or finding.name != CHANGED)
