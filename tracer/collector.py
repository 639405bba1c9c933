"""Python's garbage collector, out of the way while a tree grows."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """A tree is garbage-collected many times while it grows, in vain: of libcst's a sixth of the parse time,
    of `ast`'s half.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
