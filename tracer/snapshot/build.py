"""Records the answers of a pin over the grid."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from ... import __version__
from ...report.model import Operator
from ..answer import Before, alone, suppositions, walked
from ..engines.cache_dtypes import cache_dtypes
from ..engines.release import cuda_of
from ..library import Library
from ..merged import merged
from ..native.build import COMPILED, PYTHON, Build, build_of
from ..native.fetched import fetched
from ..native.reach.table import Operators
from ..readings import REST, Reading, print_of
from ..scenario import Scenario
from ..sources import Source
from ..supposed import is_open
from ..terminals import all_written
from .file import Group, Known, Record, key_of, packed, save, trimmed
from .grid import groups

Told = Callable[[int, int], None]
"""Hears how many groups of questions are answered, and how many records there are."""


def build(
    source: Source, path: Path, told: Told, jobs: int = 1, only: Iterable[list[Scenario]] | None = None
) -> int:
    """Answer every question of the grid, in several processes if told so, and write the snapshot; the bytes
    that it takes. With `only` some questions are answered, and operators left out.
    """
    library = Library(source)
    with library.noting() as read:
        knows = known(library)
    questions = list(groups(knows) if only is None else only)
    made = counted(answers(source, library, questions, jobs), told)
    of_known = frozenset({REST, *read})
    return save(
        path,
        __version__,
        source.pin(),
        knows,
        made,
        (of_known, lambda r: print_of(library, r)),
        native(source, knows) if only is None else {},
        merged(source),
        fetched(source),
    )


def native(source: Source, knows: Known) -> dict[Build, tuple[Operator, ...]]:
    """What the operators of each build reach, and the kernels that Python writes."""
    written = {PYTHON: tuple(all_written(source))}
    if not source.has_native:
        return written
    builds = (build_of(platform, knows.cuda) for platform in COMPILED)
    return {**written, **{build: tuple(Operators(source, build).all()) for build in builds}}


def known(library: Library) -> Known:
    """What the release's flags take."""
    flags = walked(library, Scenario(whole=False), configured=True).methods()
    return Known(tuple(flags), cache_dtypes(library, "cuda"), cuda_of(library))


def answers(source: Source, library: Library, questions: list[list[Scenario]], jobs: int) -> Iterator[Group]:
    """The records of each group of questions, in order."""
    if jobs == 1:
        yield from (packed(records(library, group)) for group in questions)
        return
    with ProcessPoolExecutor(jobs, get_context("spawn"), _start, (source,)) as pool:
        yield from pool.map(_group, questions)


_LIBRARY: list[Library] = []
"""The one source of a process that answers."""


def _start(source: Source) -> None:
    _LIBRARY[:] = [Library(source)]


def _group(questions: list[Scenario]) -> Group:
    return packed(records(_LIBRARY[0], questions))


def counted(made: Iterable[Group], told: Told) -> Iterator[Group]:
    """The same groups, each told when it is there."""
    total = 0
    for number, group in enumerate(made, 1):
        total += len(group)
        told(number, total)
        yield group


def records(library: Library, questions: Iterable[Scenario]) -> Iterator[tuple[Record, frozenset[Reading]]]:
    """The records of questions and of those that their answers are made of, each once, and what each was read
    from.
    """
    seen: set[str] = set()
    before: Before = {}
    for question in questions:
        yield from _records(library, question, seen, before)


def _records(
    library: Library, question: Scenario, seen: set[str], before: Before
) -> Iterator[tuple[Record, frozenset[Reading]]]:
    if key_of(question) in seen:
        return
    seen.add(key_of(question))
    record, readings, parts = asked(library, question, before)
    yield record, readings
    for part in parts:
        yield from _records(library, part, seen, before)


def asked(
    library: Library, question: Scenario, before: Before
) -> tuple[Record, frozenset[Reading], tuple[Scenario, ...]]:
    """The record of a question, what it was read from, and the questions that its answer is made of."""
    library.consulted.clear()
    with library.noting() as readings:
        report = trimmed(alone(library, question, {}, before=before))
        consulted = bool(library.consulted)
        parts: tuple[tuple[str, Scenario], ...] = ()
        if is_open(question) and not all(chain.refused() for chain in report.chains):
            parts = tuple(suppositions(library, question))
    names = tuple((premise, key_of(part)) for premise, part in parts)
    record = Record(scenario=question, report=report, consulted=consulted, parts=names)
    return record, frozenset({REST, *readings}), tuple(part for _, part in parts)
