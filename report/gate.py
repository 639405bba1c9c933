"""Whether a report lets a script go on: findings to exit code."""

from __future__ import annotations

from collections.abc import Iterable

from .exits import Exit
from .finding import Finding, Level, Verdict
from .registry import lookup

FAIL_ON = (*Level, "never")
"""What `--fail-on` takes: the level from which a failed finding decides the exit code, or none."""


def exit_for(findings: Iterable[Finding], fail_on: str = Level.ERROR) -> Exit:
    """The exit code of `findings`: only a verdict of fail counts, an open one is told but stops nobody.

    A rule that says the question could not be run at all (an unknown value) exits so whatever `fail_on` is.
    """
    failed = [finding for finding in findings if finding.verdict is Verdict.FAIL]
    exits = {lookup(finding.rule).exit for finding in failed}
    if Exit.CANNOT_RUN in exits:
        return Exit.CANNOT_RUN
    if fail_on != "never" and any(finding.level.reaches(Level(fail_on)) for finding in failed):
        return Exit.FINDINGS
    return Exit.OK
