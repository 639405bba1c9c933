"""The head of the page: what was read, what was asked, what stayed unknown."""

from __future__ import annotations

from collections.abc import Mapping

from ..model import Pin, Question, Report, Value
from .page import Page, Tone


def header(page: Page, report: Report) -> None:
    """Pins, then the question as asked, resolved, unknown and assumed."""
    page.line((f"qtrace {report.tool}", Tone.HEAD))
    for pin in report.pins:
        page.line((f"{pin}", Tone.HEAD), right=(_hash(pin), Tone.DIM))
    if report.binary is not None:
        page.line((f"{report.binary}", Tone.HEAD))
    _question(page, report.question)


def _hash(pin: Pin) -> str:
    native = f"  native {pin.native_hash[:12]}" if pin.native_hash else ""
    return f"python {pin.python_hash[:12]}{native}"


def _question(page: Page, question: Question) -> None:
    rows = (
        ("asked", _pairs(question.asked) or question.engine, Tone.PLAIN),
        ("resolved", _pairs(question.came_to()), Tone.PLAIN),
        ("unknown", ", ".join(question.unknown), Tone.DOUBT),
        ("assumed", "; ".join(question.assumed), Tone.DOUBT),
    )
    for label, text, tone in rows:
        if text:
            page.wrap(text, f"{label:<10}", tone)


def _pairs(values: Mapping[str, Value]) -> str:
    return "  ".join(f"{name}={_value(value)}" for name, value in values.items())


def _value(value: Value) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
