"""The verdict in a line: how the question stands, what it comes to or what decides, and the counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from ..conditions import deciders
from ..finding import CALM
from ..model import Finding, Level, Outcome, Report, Verdict
from ..names import counted, short
from ..outcome import NOWHERE
from ..standing import Standing, of_outcome, of_report, premises
from .drift import verdict as of_drift
from .launches import verdict as of_launches
from .links import Links
from .matrix import verdict as of_matrix
from .readers import verdict as of_readers
from .words import code, prose

NAMED = 4
"""Ends, their steps, and conditions that the verdict names."""
LAYERS = 80
"""Characters of the names of the layers that come to an end."""


def verdict(report: Report) -> str:
    """`**accepted**: ...; 1 warning`."""
    if report.matrix is not None:
        return f"{of_matrix(report.matrix)}{unread(report)}"
    if report.drift is not None:
        return f"{of_drift(report.drift)}{unread(report)}"
    if report.readers is not None:
        counts = ", ".join(_counted(report.findings)) or "no findings"
        return f"{of_readers(report.readers)}; {counts}{unread(report)}"
    if report.launches is not None:
        counts = ", ".join(_counted(report.findings)) or "no findings"
        return f"{of_launches(report.launches)}; {counts}{unread(report)}"
    tell = {Standing.ACCEPTED: _ends, Standing.REFUSED: _refused, Standing.OPEN: _undecided}
    standing = of_report(report)
    counts = ", ".join(_counted(report.findings)) or "no findings"
    return f"**{standing}**: {tell[standing](report)}; {counts}{unread(report)}"


def _ends(report: Report) -> str:
    """The classes that the layers end in; which layers do is told where they differ."""
    layers: dict[str, list[str]] = {}
    for chain in report.chains:
        layers.setdefault(end(chain.outcomes[0], config=False), []).extend(chain.layers or (chain.layer,))
    if len(layers) == 1:
        return next(iter(layers))
    told = (f"{prose(', '.join(dict.fromkeys(at)), LAYERS)} {classes}" for classes, at in layers.items())
    return _some(list(told), "end", "; ")


def _refused(report: Report) -> str:
    """The first refusal in the engine's words, with its place; how many others there are."""
    refused = [outcome.refusal for chain in report.chains if chain.refused() for outcome in chain.outcomes]
    first, others = refused[0], len(refused) - 1
    place = Links(report.pins).site(first.site) if first else ""
    more = f" and {counted(others, 'other refusal')}" if others else ""
    return f"{prose(str(first))}{f' ({place})' if place else ''}{more}"


def _undecided(report: Report) -> str:
    """How many outcomes of each kind there are, where they end, and what decides."""
    outcomes = [outcome for chain in report.chains for outcome in chain.outcomes]
    told = ", ".join(_kinds(outcomes)) or "no outcome"
    deciding = [code(name) for name in deciders(*(outcome.guard for outcome in outcomes))]
    deciding = [*(["the checkpoint"] if len(premises(report.chains)) > 1 else []), *deciding]
    by = f", decided by {_some(deciding, 'condition', ', ')}" if deciding else ""
    return f"{told}{by}"


def _kinds(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """`2 accepted (A → B; A → C)`, `1 refused`."""
    counts = Counter(map(of_outcome, outcomes))
    accepted = [end(each, config=False) for each in outcomes if of_outcome(each) is Standing.ACCEPTED]
    for standing in Standing:
        if number := counts[standing]:
            ends = _some(list(dict.fromkeys(accepted)), "end", "; ")
            yield f"{number} {standing}" + (f" ({ends})" if standing is Standing.ACCEPTED else "")


def end(outcome: Outcome, config: bool = True) -> str:
    """Where an accepted outcome ends: its classes, with or without the config that they come from."""
    steps = outcome.steps()
    named = steps if config or len(steps) == 1 or not outcome.config else steps[1:]
    return _some([code(short(step)) for step in named], "step", " → ") or NOWHERE


def _some(texts: Sequence[str], noun: str, between: str) -> str:
    more = len(texts) - NAMED
    return between.join(texts[:NAMED]) + (f" and {counted(more, f'other {noun}')}" if more > 0 else "")


def _counted(findings: Iterable[Finding]) -> Iterator[str]:
    """`1 error`, `2 open notes`, `3 passed`."""
    counts = Counter((finding.verdict, finding.level) for finding in findings)
    for verdict, word in ((Verdict.FAIL, ""), (Verdict.OPEN, "open ")):
        for level in Level:
            if number := counts[verdict, level]:
                yield counted(number, f"{word}{level}")
    if calm := sum(number for (verdict, _), number in counts.items() if verdict in CALM):
        yield f"{calm} passed or not applicable"


def unread(report: Report) -> str:
    """What keeps the answer from being whole."""
    read = report.coverage
    parts = [f"{counted(len(read.unsupported), 'construct')} not evaluated"] if read.unsupported else []
    parts += [counted(len(read.budgets), "exhausted bound")] if read.budgets else []
    return "".join(f", {part}" for part in parts)
