"""QT801: the same question ends otherwise at the other pin."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from ..report.model import Drift, Drifted, Ended, Fate, Finding, Level, Report, Verdict, Where
from ..report.predicate import Always, Member
from ..report.registry import lookup
from ..report.standing import Standing
from .examples import report

RULE = lookup("QT801")
TOLD = (Fate.REFUSED, Fate.ACCEPTED, Fate.OTHER, Fate.OPEN)
NAMED = 8
"""Questions that a finding names."""


def check(report: Report) -> Iterator[Finding]:
    """One finding for each change of outcome; open where only one pin asks what decides."""
    drift = report.drift
    for change in drift.changes if drift is not None else ():
        if drift is not None and change.fate in TOLD:
            yield _finding(drift, change)


def _finding(drift: Drift, change: Drifted) -> Finding:
    sure = change.sure and change.fate is not Fate.OPEN
    when = "" if change.guard == Always() else f" when {change.guard}"
    places = [end.refusal.site for end in (change.now, change.was) if end.refusal is not None]
    return RULE.finding(
        Verdict.FAIL if sure else Verdict.OPEN,
        _subject(drift, change.where),
        f"{change.fate.capitalize()}{when}.",
        level=RULE.level if sure else Level.NOTE,
        expected=str(change.was),
        seen=str(change.now),
        site=next(iter(places), None),
        evidence=change.because,
    )


def _subject(drift: Drift, where: tuple[Where, ...]) -> str:
    """`sm_90 --quantization fp8`, and how many questions more."""
    named = [" ".join(filter(None, (drift.spans(each.devices), *each.words()))) for each in where]
    more = f" and {len(named) - NAMED} more" if len(named) > NAMED else ""
    return f"{'; '.join(filter(None, named[:NAMED])) or 'the question'}{more}"


_OLD = Ended(standing=Standing.ACCEPTED, reaches=("vllm.A",))
_NEW = Ended(standing=Standing.ACCEPTED, reaches=("vllm.B",))
_CHANGE = Drifted(fate=Fate.OTHER, was=_OLD, now=_NEW, where=(Where(asked={"quantization": "fp8"}),))


def _drifted(*changes: Drifted) -> Report:
    return replace(report(), drift=Drift(questions=1, alike=not changes, changes=changes))


FIRES = (
    _drifted(_CHANGE),
    _drifted(replace(_CHANGE, guard=Member("capability", (90,)))),
    _drifted(replace(_CHANGE, sure=False)),
)
SILENT = (
    report(),
    _drifted(),
    _drifted(replace(_CHANGE, fate=Fate.WAY)),
)
