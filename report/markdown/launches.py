"""What starts an engine in a repository, as tables: what is new or changed first, the rest folded away."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ..launches import Launch, LaunchEnd, Launches
from ..model import Change
from ..names import counted
from ..standing import Standing
from .pieces import Piece, folded, row, table_head
from .words import code, prose

TITLES = ("where", "line", "comes to", "came to")
TOLD = (Change.CHANGED, Change.NEW, Change.GONE)
FEW = 6
"""Ends that are named in a cell."""
GUARD = 120
"""Characters of a condition."""


def verdict(told: Launches) -> str:
    """`**1 changed, 2 new**; 4 starts in 12 files`."""
    counts = Counter(launch.change for launch in told.launches)
    named = ", ".join(f"{counts[change]} {change}" for change in TOLD if counts[change])
    starts = counted(len(told.launches), "start")
    return f"**{named or 'no line changed'}**; {starts} in {counted(told.files, 'file')}"


def pieces(told: Launches) -> Iterator[Piece]:
    """What is new or changed, then the rest."""
    head = f"\n{table_head(TITLES)}"
    some = [launch for change in TOLD for launch in told.launches if launch.change is change]
    rest = [launch for launch in told.launches if launch.change not in TOLD]
    if some:
        yield Piece("changed lines", head, tuple(row(_cells(launch)) for launch in some))
    if rest:
        yield folded("the same lines", f": {len(rest)}", head, (row(_cells(launch)) for launch in rest))
    if told.unread:
        yield Piece("files", "\n", tuple(f"- not read: {prose(each)}\n" for each in told.unread))


def _cells(launch: Launch) -> Iterator[str]:
    """A row; of a line that stayed, how many ends of each kind: the JSON has them."""
    yield f"{code(str(launch.site))}<br>{launch.change}"
    yield "<br>".join((code(launch.line), *(f"not said: {code(each)}" for each in launch.unsaid)))
    problem = [prose(launch.problem)] if launch.problem else []
    told = _counts(launch) if launch.change is Change.SAME else _ends(launch.release, launch.ends)
    yield "<br>".join((*problem, *told))
    problem = [prose(launch.was_problem)] if launch.was_problem else []
    ends = _ends(launch.was_release, launch.was_ends)
    yield "<br>".join([] if launch.was is None else [code(launch.was), *problem, *ends])


def _counts(launch: Launch) -> list[str]:
    counts = Counter(end.standing for end in launch.ends)
    told = ", ".join(f"{counts[each]} {each}" for each in Standing if counts[each])
    return [prose(f"({launch.release}) {told}")] if told else []


def _ends(release: str, ends: tuple[LaunchEnd, ...]) -> list[str]:
    told = [f"{prose(end.layer)} {end.standing}: {prose(end.reaches)}{_under(end)}" for end in ends]
    more = [f"and {counted(len(told) - FEW, 'other end')}"] if len(told) > FEW else []
    return [*([prose(f"({release})")] if release and ends else []), *told[:FEW], *more]


def _under(end: LaunchEnd) -> str:
    premises = f" ({prose('; or '.join(end.premises))})" if end.premises else ""
    return f"{premises}{f' when {prose(end.guard, GUARD)}' if end.guard else ''}"
