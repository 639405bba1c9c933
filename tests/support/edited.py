"""A copy of an engine's source with a few files changed, in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

from qtrace.tracer.library import Library
from qtrace.tracer.sources import Source


class Edited:
    """The files of a source, some of them rewritten and some added."""

    def __init__(self, source: Source, changed: Mapping[str, bytes]) -> None:
        self._source, self._changed = source, changed

    @property
    def names(self) -> frozenset[str]:
        return frozenset(self._source.files()) | frozenset(self._changed)

    def read(self, name: str) -> bytes:
        if name in self._changed:
            return self._changed[name]
        return self._source.read(name) or b""


def edited(source: Source, edits: Mapping[str, Callable[[str], str]]) -> Source:
    """`source` after each edit of one file's text; an edit that changes nothing is a mistake in the test."""
    changed = {}
    for path, edit in edits.items():
        before = source.text(path) or ""
        after = edit(before)
        assert after != before, f"the edit of {path} found nothing to change"
        changed[path] = after.encode()
    return Source(source.engine, Edited(source, changed))


def replaced(old: str, new: str, count: int = 1) -> Callable[[str], str]:
    """An edit that replaces a text which must stand there."""

    def edit(text: str) -> str:
        assert old in text, f"{old!r} is not in the file"
        return text.replace(old, new, count)

    return edit


@lru_cache(maxsize=4)
def library_of(source: Source) -> Library:
    """The library of a source, kept for the next question on it: it holds no evaluated value."""
    return Library(source)
