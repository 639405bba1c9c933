"""What the thread that asks, and whoever answers there, tell the interface."""

from __future__ import annotations

from collections.abc import Mapping

from textual.message import Message

from ..report.model import Report


class Answered(Message):
    """A question was answered; `number` tells which."""

    def __init__(self, number: int, report: Report, asked: Mapping[str, str]) -> None:
        super().__init__()
        self.number, self.report, self.asked = number, report, asked


class Compared(Message):
    """Another pin answered the question at hand."""

    def __init__(self, number: int, report: Report) -> None:
        super().__init__()
        self.number, self.report = number, report


class Refused(Message):
    """A question cannot be answered."""

    def __init__(self, number: int, why: str) -> None:
        super().__init__()
        self.number, self.why = number, why


class Broke(Message):
    """Something is wrong with qtrace itself."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error


class Heard(Message):
    """What whoever answers says meanwhile."""

    def __init__(self, words: str) -> None:
        super().__init__()
        self.words = words
