"""What the evaluator did and could not do, counted for the report."""

from __future__ import annotations

from collections import Counter

from ...report.predicate import Site


class Coverage:
    """Counts of one question: statements run, modules read, constructs without a meaning, bounds reached."""

    def __init__(self) -> None:
        self.statements = 0
        self.assumed: Counter[tuple[str, Site | None]] = Counter()
        """Operations on unknowns taken to succeed: what would make them raise, and where."""
        self.gaps: Counter[tuple[str, Site | None]] = Counter()
        self.budgets: dict[str, None] = {}

    def unsupported(self, kind: str, site: Site | None) -> None:
        self.gaps[kind, site] += 1

    def budget(self, what: str) -> None:
        self.budgets[what] = None
