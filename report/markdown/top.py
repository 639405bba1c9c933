"""The head of the document: marker and verdict, then what was read and asked; and its foot."""

from __future__ import annotations

from collections.abc import Mapping

from ..model import Pin, Report, Value
from ..names import counted
from .links import blob
from .pieces import Piece
from .verdict import unread, verdict
from .words import code, prose

MARKER = "<!-- qtrace -->"
"""First in the document, so that a bot finds its own comment again."""


def top(report: Report) -> str:
    """Marker, verdict and counts: what never gives way."""
    return f"{MARKER}\n\n{verdict(report)}\n\n"


def question(report: Report) -> Piece:
    """What was read, and what was asked of it."""
    question = report.question
    rows = (
        ("read", ", ".join(map(_pin, report.pins))),
        ("asked", _pairs(question.asked) or prose(question.engine)),
        ("resolved", _pairs(question.came_to())),
        ("unknown", ", ".join(map(code, question.unknown))),
        ("assumed", prose("; ".join(question.assumed))),
    )
    return Piece("question", "", tuple(f"- **{label}** {text}\n" for label, text in rows if text))


def foot(report: Report) -> str:
    """How much was read, and by which qtrace."""
    read = report.coverage
    parts = [counted(read.modules_read, "module"), counted(read.statements, "statement")]
    return f"\nread {', '.join(parts)}{unread(report)}; qtrace {prose(report.tool)}\n"


def _pin(pin: Pin) -> str:
    told = prose(f"{pin.engine} {pin.version}")
    root = blob(pin)
    if pin.commit is None:
        return told
    commit = code(pin.commit[:9])
    return f"{told} @ " + (f"[{commit}]({root.replace('/blob/', '/tree/')})" if root else commit)


def _pairs(values: Mapping[str, Value]) -> str:
    return " ".join(code(f"{name}={_value(value)}") for name, value in values.items())


def _value(value: Value) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
