"""Which start of one revision is which of another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher

from .found import Found

Pair = tuple[str, Found | None, Found | None]
"""Path, then the start before and now."""


def paired(before: Mapping[str, list[Found]], now: Mapping[str, list[Found]]) -> Iterator[Pair]:
    """Starts of the same file, in order: those that stayed by their words, those between one by one."""
    for path in sorted({*before, *now}):
        was, is_ = before.get(path, []), now.get(path, [])
        matcher = SequenceMatcher(None, list(map(_key, was)), list(map(_key, is_)), autojunk=False)
        for _, first, last, start, end in matcher.get_opcodes():
            for number in range(max(last - first, end - start)):
                yield (
                    path,
                    was[first + number] if first + number < last else None,
                    is_[start + number] if start + number < end else None,
                )


def _key(found: Found) -> tuple[object, ...]:
    return found.words, tuple(sorted(found.environment.items())), found.release
