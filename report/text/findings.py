"""The findings and the coverage at the foot of the page."""

from __future__ import annotations

from collections import Counter

from ..finding import CALM
from ..model import Confidence, Coverage, Finding, Level, Verdict
from ..names import counted
from .page import Page, Tone

TONES = {Level.ERROR: Tone.BAD, Level.WARNING: Tone.DOUBT, Level.NOTE: Tone.DIM}


def findings(page: Page, findings: tuple[Finding, ...]) -> None:
    """Each finding with what was expected and seen, what it rests on and what to do."""
    if not findings:
        return
    counts = Counter(finding.level for finding in findings)
    told = ", ".join(counted(counts[level], level) for level in Level if counts[level])
    page.blank()
    page.line(("findings", Tone.HEAD), (f"  {told}", Tone.PLAIN))
    for finding in findings:
        _finding(page, finding)


def _finding(page: Page, finding: Finding) -> None:
    tone = Tone.GOOD if finding.verdict in CALM else TONES[finding.level]
    verdict = "" if finding.verdict is Verdict.FAIL else f" ({finding.verdict.replace('-', ' ')})"
    page.line(
        (f"  {finding.level:<8}", tone),
        (f"{finding.rule} {finding.name}", Tone.HEAD),
        (f"{verdict}  {finding.subject}", Tone.PLAIN),
        right=(page.site(finding.site, page.width // 2), Tone.DIM),
    )
    indent = " " * 10
    page.wrap(finding.message, indent)
    for label, text in (("expected", finding.expected), ("seen", finding.seen)):
        if text is not None:
            page.wrap(text, f"{indent}{label:<10}")
    for number, fact in enumerate(finding.evidence):
        page.wrap(fact, f"{indent}{'' if number else 'evidence':<10}")
    if finding.confidence is not Confidence.CERTAIN:
        page.wrap(finding.confidence, f"{indent}{'sure':<10}")
    if finding.fix:
        page.wrap(finding.fix, f"{indent}{'fix':<10}")


def coverage(page: Page, coverage: Coverage) -> None:
    """How much was read, and how much of it could not be evaluated."""
    parts = [counted(coverage.modules_read, "module"), counted(coverage.statements, "statement")]
    if coverage.unsupported:
        parts.append(f"{counted(len(coverage.unsupported), 'construct')} not evaluated")
    if coverage.budgets:
        parts.append(counted(len(coverage.budgets), "exhausted bound"))
    page.blank()
    page.wrap(", ".join(parts), "read  ", Tone.PLAIN if coverage.whole() else Tone.DOUBT)
