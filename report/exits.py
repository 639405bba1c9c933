"""The exit codes that scripts may rely on."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """What a qtrace process says by ending; each value's own docstring tells when."""

    doc: str

    def __new__(cls, value: int, doc: str) -> Exit:
        code = int.__new__(cls, value)
        code._value_ = value
        code.doc = doc
        return code

    OK = 0, "At least one outcome is accepted or still open, and no finding reaches --fail-on."
    FINDINGS = 1, "A finding failed at or above --fail-on (default: error)."
    CANNOT_RUN = 2, "Could not run: usage, unreadable source, unknown engine, a value unknown to the pin."
    NO_VERDICT = 3, "Evidence was judged but gave no verdict: nothing observed, process gone, not built here."
    INTERNAL = 101, "A fault of qtrace itself; the traceback and how to report it are on stderr."
    INTERRUPTED = 130, "Stopped by Ctrl-C; no half-written file is left."
