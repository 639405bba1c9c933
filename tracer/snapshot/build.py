"""Records the answers of a pin over the grid."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from ... import __version__
from ..answer import alone, suppositions, walked
from ..engines.cache_dtypes import cache_dtypes
from ..engines.release import cuda_of
from ..library import Library
from ..scenario import Scenario
from ..supposed import is_open
from .file import Record, key, save, trimmed
from .grid import Axes, groups

Told = Callable[[int, int], None]
"""Hears how many questions are answered, and how many records there are."""


def build(library: Library, path: Path, told: Told, only: Iterable[list[Scenario]] | None = None) -> int:
    """Answer every question of the grid and write the snapshot; the bytes that it takes."""
    recorder = Recorder(library, told)
    questions = groups(axes(library)) if only is None else only
    return save(path, __version__, library.source.pin(), map(recorder.group, questions))


def axes(library: Library) -> Axes:
    """What the release's flags take."""
    flags = walked(library, Scenario(whole=False), configured=True).methods()
    return Axes(tuple(flags), cache_dtypes(library, "cuda"), cuda_of(library.source))


class Recorder:
    """Answers questions, each once."""

    def __init__(self, library: Library, told: Told) -> None:
        self._library, self._told = library, told
        self._known: set[str] = set()

    def group(self, questions: Iterable[Scenario]) -> list[Record]:
        """The records of these questions and of those that they are made of, without what was recorded."""
        found: list[Record] = []
        for question in questions:
            found += self._records(question)
            self._told(len(self._known), len(found))
        return found

    def _records(self, question: Scenario) -> Iterator[Record]:
        if key(question) in self._known:
            return
        self._known.add(key(question))
        self._library.consulted.clear()
        report = trimmed(alone(self._library, question, {}))
        consulted = bool(self._library.consulted)
        parts: tuple[tuple[str, Scenario], ...] = ()
        if is_open(question) and not all(chain.refused() for chain in report.chains):
            parts = tuple(suppositions(self._library, question))
        names = tuple((premise, key(part)) for premise, part in parts)
        yield Record(scenario=question, report=report, consulted=consulted, parts=names)
        for _, part in parts:
            yield from self._records(part)
