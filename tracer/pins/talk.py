"""What fetching has to say while it runs; where it is shown is the command's business."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol


class Talk(Protocol):
    """One who listens: lines for people, and how far a download is."""

    def say(self, line: str) -> None: ...

    def bar(self, name: str, total: int | None) -> AbstractContextManager[Callable[[int], None]]:
        """A progress bar for as long as the download runs; what it gives is called with the bytes so far."""
        ...
