"""How far a long answer is: a line on stderr that is written over, and gone at the end."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


def shows() -> bool:
    """Whether somebody looks."""
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


@contextmanager
def written_over() -> Iterator[Callable[[str], None]]:
    """What is told takes the place of what was told before."""
    if not shows():
        yield lambda text: None
        return
    from ..report.terminal import terminal

    room = terminal(sys.stderr).width - 1

    def tell(text: str) -> None:
        sys.stderr.write(f"\r\x1b[K{text[:room]}")
        sys.stderr.flush()

    try:
        yield tell
    finally:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()
