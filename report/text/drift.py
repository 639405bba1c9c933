"""What changed between two pins: outcomes first, then what only one of them knows, then the hops."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import groupby

from ..drift import Compared, Drift, Drifted, Ended, Fate, Only, Step
from ..model import Change
from ..names import counted, short
from ..predicate import Always
from ..standing import Standing
from .chain import MARKS
from .page import Page, Tone

FEW = 6
"""Questions that are named below a change; the others are counted."""
SIGNS = {
    Change.SAME: ("=", Tone.DIM),
    Change.MOVED: ("→", Tone.DIM),
    Change.CHANGED: ("~", Tone.DOUBT),
    Change.GONE: ("-", Tone.BAD),
    Change.NEW: ("+", Tone.GOOD),
}


def drift(page: Page, drift: Drift) -> None:
    """The page of a comparison."""
    page.blank()
    for difference in drift.differs:
        page.wrap(difference, "asked otherwise  ", Tone.DOUBT)
    page.wrap(summary(drift))
    one = drift.questions == 1
    for fate, changes in groupby(drift.changes, lambda change: change.fate):
        _fate(page, drift, fate, list(changes), one)
    _only(page, drift.only)
    for compared in drift.chains:
        _hops(page, compared, one)
    if drift.cut:
        page.blank()
        page.wrap(drift.unfinished(), tone=Tone.DOUBT)


def summary(drift: Drift) -> str:
    """`2,612 questions: 861 end alike; 6 refused now, 3 accepted now; 90 ...`."""
    if drift.unchanged():
        return "nothing changed"
    counts = Counter(change.fate for change in drift.changes)
    told = [f"{counts[fate]:,} {fate}" for fate in Fate if counts[fate]]
    unlike = "it does not end alike" if drift.changes else "not all of it can be compared"
    alike = "it ends alike" if drift.alike else unlike
    asked = alike if drift.questions == 1 else f"{drift.alike:,} of {drift.questions:,} questions end alike"
    return f"{asked}; {', '.join(told) or 'no outcome changed'}"


def _fate(page: Page, drift: Drift, fate: Fate, changes: list[Drifted], one: bool) -> None:
    """The changes of a kind; of many questions, those that are sure and reach another kernel."""
    told = [change for change in changes if one or (change.sure and fate is not Fate.WAY)]
    page.blank()
    page.line((fate, Tone.HEAD), (f"  {len(changes):,}", Tone.DIM))
    for change in told:
        _change(page, drift, change)
    if fate is Fate.WAY and not one:
        page.wrap("told for one question, and in the JSON", "  ", Tone.DIM)
    elif len(told) < len(changes):
        left = counted(len(changes) - len(told), "more change")
        page.wrap(f"{left} where only one of the two asks what decides: in the JSON", "  ", Tone.DIM)


def _change(page: Page, drift: Drift, change: Drifted) -> None:
    _end(page, change.was, "  was  ")
    _end(page, change.now, "  now  ")
    if change.guard != Always():
        page.wrap(str(change.guard), f"       {'when':<9}", Tone.DOUBT)
    if not change.sure:
        page.wrap("only one of the two asks what decides", f"       {'open':<9}", Tone.DOUBT)
    for number, sentence in enumerate(change.because):
        page.wrap(sentence, f"       {'' if number else 'because':<9}")
    for where in change.where[:FEW]:
        named = ", ".join(where.words())
        if where.devices or named:
            page.wrap(named, f"       {drift.spans(where.devices):<8} ")
    if len(change.where) > FEW:
        page.wrap(f"and {counted(len(change.where) - FEW, 'other question')}", " " * 16, Tone.DIM)


def _end(page: Page, end: Ended, label: str) -> None:
    mark, tone = MARKS[end.standing]
    page.wrap(str(end), f"{label}{mark} ", Tone.PLAIN, tone if end.standing is Standing.REFUSED else Tone.DIM)


def _only(page: Page, only: tuple[Only, ...]) -> None:
    """What one of the two alone knows."""
    for change, head in ((Change.GONE, "only the first knows"), (Change.NEW, "only the second knows")):
        flags: dict[str, list[str]] = {}
        for each in only:
            if each.change is change:
                flags.setdefault(each.flag, []).append(each.value)
        if flags:
            page.blank()
            page.line((head, Tone.HEAD))
        for flag, values in flags.items():
            page.wrap("; ".join(values), f"  {flag}  ")


def _hops(page: Page, compared: Compared, one: bool) -> None:
    page.blank()
    names = ", ".join(compared.layers or (compared.layer,))
    told = "; or ".join(compared.premises)
    page.line(
        (f"hops{f' of {names}' if names else ''}", Tone.HEAD), (f"  {counts(compared.steps)}", Tone.DIM)
    )
    if told:
        page.wrap(told, "  checkpoint  ", Tone.DOUBT)
    if one:
        for step in compared.steps:
            _step(page, step)
        return
    for change in (Change.GONE, Change.NEW, Change.CHANGED):
        symbols = _symbols(step for step in compared.steps if step.change is change)
        if symbols:
            page.wrap(", ".join(symbols), f"  {SIGNS[change][0]} {change:<8} ", first_tone=SIGNS[change][1])


def counts(steps: Iterable[Step]) -> str:
    """`3 moved, 1 gone`."""
    found = Counter(step.change for step in steps)
    return ", ".join(f"{found[change]:,} {change}" for change in Change if found[change])


def _symbols(steps: Iterable[Step]) -> list[str]:
    return list(dict.fromkeys(short(step.symbol) for step in steps))


def _step(page: Page, step: Step) -> None:
    """One hop, with where it stood and where it stands."""
    sign, tone = SIGNS[step.change]
    name = page.name(f"{'  ' * min(step.depth, page.width // 8)}{short(step.symbol)}", page.width // 2)
    room = page.width - len(name) - 8
    page.line((f"  {sign} ", tone), (name, Tone.PLAIN), right=(page.name(_places(step), room), Tone.DIM))
    if step.change is Change.CHANGED and step.was_guard != step.now_guard:
        page.wrap(str(step.was_guard), "      was when  ", Tone.DOUBT)
        page.wrap(str(step.now_guard), "      now when  ", Tone.DOUBT)


def _places(step: Step) -> str:
    """`vllm/a.py:12 → 34`; both whole where the file is another."""
    if step.was is None or step.now is None or step.was == step.now:
        return str(step.now or step.was or "")
    same = step.was.path == step.now.path
    return f"{step.was} → {step.now.line if same else step.now}"
