"""Pins opened as a command opens them, and what was said meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from qtrace.report.errors import QtraceError
from qtrace.tracer.pins.opening import open_pin
from qtrace.tracer.sources import Source


class Heard:
    """One who listens and remembers."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.bars: list[tuple[str, int | None, int]] = []

    def say(self, line: str) -> None:
        self.lines.append(line)

    @contextmanager
    def bar(self, name: str, total: int | None) -> Iterator[Callable[[int], None]]:
        told = [0]
        yield told.append
        self.bars.append((name, total, told[-1]))


def opened(pin: str | None, python: str | None = None, offline: bool = False) -> tuple[Source, list[str]]:
    """The source that a pin means, and the lines that were said."""
    heard = Heard()
    return open_pin(pin, "vllm", python, offline, heard), heard.lines


def refused(pin: str | None, python: str | None = None, offline: bool = False) -> str:
    """Why a pin cannot be opened: one line that can be printed."""
    with pytest.raises(QtraceError) as caught:
        opened(pin, python, offline)
    message = str(caught.value)
    assert caught.value.exit == 2
    assert message.isprintable()
    return message


def left(cache: Path) -> list[str]:
    """What is not whole in a cache."""
    return [path.name for path in (cache / "pins" / "parts").glob("*")]
