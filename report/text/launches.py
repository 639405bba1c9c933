"""What starts an engine in a repository, what each start comes to, and what it came to before."""

from __future__ import annotations

from collections import Counter

from ..launches import Launch, LaunchEnd, Launches
from ..model import Change
from ..names import counted
from ..standing import Standing
from .chain import MARKS
from .drift import SIGNS
from .page import Page, Tone

ORDER = (Change.CHANGED, Change.NEW, Change.GONE, Change.MOVED, Change.SAME)
"""What matters most first."""


def launches(page: Page, told: Launches) -> None:
    """The page of a repository."""
    page.blank()
    page.wrap(summary(told))
    for change in ORDER:
        for launch in told.launches:
            if launch.change is change:
                _launch(page, launch)
    for each in told.unread:
        page.wrap(each, "not read  ", Tone.DOUBT)


def summary(told: Launches) -> str:
    """`4 starts in 12 files: 1 changed, 3 same`."""
    counts = Counter(launch.change for launch in told.launches)
    named = ", ".join(f"{counts[change]} {change}" for change in ORDER if counts[change])
    starts = counted(len(told.launches), "start")
    return f"{starts} in {counted(told.files, 'file')}{f': {named}' if named else ''}"


def _launch(page: Page, launch: Launch) -> None:
    sign, tone = SIGNS[launch.change]
    page.blank()
    page.line((f"{sign} ", tone), (f"{launch.site}", Tone.HEAD), (f"  {launch.change}", Tone.DIM))
    if launch.was is not None:
        _line(page, "was", launch.was, launch.was_release)
        _ends(page, launch.was_ends)
        _problem(page, launch.was_problem)
    _line(page, "line" if launch.was is None else "now", launch.line, launch.release)
    if launch.change is Change.SAME:
        _counts(page, launch.ends)
    else:
        _ends(page, launch.ends)
    _problem(page, launch.problem)
    for each in launch.unsaid:
        page.wrap(each, f"  {'unsaid':<8}", Tone.DOUBT)


def _problem(page: Page, problem: str | None) -> None:
    if problem is not None:
        page.wrap(problem, f"  {'problem':<8}", Tone.BAD)


def _line(page: Page, label: str, line: str, release: str) -> None:
    page.wrap(line, f"  {label:<8}")
    if release:
        page.wrap(f"asked of {release}", " " * 10, Tone.DIM)


def _counts(page: Page, ends: tuple[LaunchEnd, ...]) -> None:
    """Of a line that stayed, how many ends there are of each kind; the JSON has them."""
    counts = Counter(end.standing for end in ends)
    told = ", ".join(f"{MARKS[each][0]} {counts[each]} {each}" for each in Standing if counts[each])
    if told:
        page.wrap(told, " " * 10)


def _ends(page: Page, ends: tuple[LaunchEnd, ...]) -> None:
    for end in ends:
        mark, tone = MARKS[end.standing]
        page.wrap(f"{end.layer}  {end.reaches}", f"          {mark} ", Tone.PLAIN, tone)
        if end.guard:
            page.wrap(end.guard, f"            {'when':<11}", Tone.DOUBT)
        if end.premises:
            page.wrap("; or ".join(end.premises), f"            {'checkpoint':<11}", Tone.DIM)
