"""What can go wrong in a way that the user can mend; printed in exactly one place, `qtrace.cli`.

    QtraceError          says what, where, and what to do; carries its exit code
    ├── UsageError       the command line cannot be understood or carried out
    ├── SourceError      the engine's source cannot be found or read
    └── ReportError      a report cannot be read

Anything else that reaches the front door is a fault of qtrace itself and exits 101.
"""

from __future__ import annotations

from .exits import Exit


class QtraceError(Exception):
    """The base of all expected failures: one line for stderr and an exit code."""

    exit: Exit = Exit.CANNOT_RUN

    def __init__(self, message: str, exit: Exit | None = None) -> None:
        super().__init__(message)
        if exit is not None:
            self.exit = exit


class UsageError(QtraceError):
    """The command line cannot be understood or carried out as given."""


class SourceError(QtraceError):
    """The engine's source cannot be found, fetched or read."""


class ReportError(QtraceError):
    """A report cannot be read: not JSON, not a report, or of another major schema."""
