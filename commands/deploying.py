"""The launch lines of a repository at two revisions, each asked of the release that it starts."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..report.errors import QtraceError, UsageError
from . import pin
from .environment import HIDDEN, shown
from .launch import taken_apart, with_line
from .progress import written_over
from .question import asked, known, named, scenario
from .settling import UnsaidError, settled

if TYPE_CHECKING:
    from ..report.model import Finding, Launch, LaunchEnd, Report
    from ..tracer.answers import Answers
    from ..tracer.deploy.found import Found
    from .launch import Launch as LaunchLine

SAID_OTHERWISE = ("quantization", "kv_cache_dtype", "model", "dtype", "tp", "expert_parallel")
"""Arguments that the lines themselves give."""


AFTER = "the line after --: "
"""What a pasted line's problems begin with."""


class Told(NamedTuple):
    """What a line comes to."""

    release: str
    ends: tuple[LaunchEnd, ...] = ()
    problem: str | None = None
    refused: bool = False
    report: Report | None = None


class Asked:
    """Asks lines, each release opened once and each line asked once."""

    def __init__(self, args: argparse.Namespace) -> None:
        self._args = args
        self._answers: dict[str | None, Answers] = {}
        self._told: dict[tuple[object, ...], Told] = {}
        if args.at is not None:
            self._of(args.at)

    def told(self, found: Found) -> Told:
        """What a line comes to; what is wrong with it is told as its problem."""
        at = self._args.at or found.release
        key = (at, found.words, tuple(sorted(found.environment.items())))
        if key not in self._told:
            self._told[key] = self._ask(found, at)
        return self._told[key]

    def _ask(self, found: Found, at: str | None) -> Told:
        from ..tracer.ends import ends

        release = at or ""
        try:
            answers = self._of(at)
            release = str(answers)
            report = self._report(found, answers)
        except QtraceError as problem:
            refused = isinstance(problem, UsageError) and not isinstance(problem, UnsaidError)
            return Told(release, problem=str(problem).removeprefix(AFTER), refused=refused)
        return Told(release, ends(report), report=report)

    def _of(self, at: str | None) -> Answers:
        if at not in self._answers:
            args = argparse.Namespace(**{**vars(self._args), "at": at})
            new = pin.answering(args, pin.ENGINES[0])
            self._answers[at] = next((old for old in self._answers.values() if old.pin == new.pin), new)
        return self._answers[at]

    def _report(self, found: Found, answers: Answers) -> Report:
        from msgspec.structs import replace

        from ..rules import judge
        from ..tracer.devices import on_platform
        from ..tracer.engines.flags import registered

        platform = on_platform(self._args.platform, self._args.device).platform
        known_ = registered(answers.library, platform)
        options = {name: each for each in known_.options for name in each.names}
        words, unsaid = settled(found.words, options)
        line = [*(f"{name}={value}" for name, value in found.environment.items()), *words]
        around = [each for each in self._args.env if each.partition("=")[0] not in found.environment]
        given = argparse.Namespace(**{**vars(self._args), "env": around})
        args = with_line(given, answers.library, _apart(line), platform)
        args.unread = (*args.unread, *(field for field in unsaid.values() if field in known_.engine))
        args.ignored = (*args.ignored, *(name for name, field in unsaid.items() if field in known_.engine))
        args.server = (*args.server, *(name for name, field in unsaid.items() if field not in known_.engine))
        known(args.kv_cache_dtype, answers, platform)
        report = answers.ask(scenario(args, answers), asked(args))
        named(args.quantization, report, answers)
        return replace(report, findings=judge(report))


def _apart(line: list[str]) -> LaunchLine:
    """A line taken apart; one that nobody can read is open, not refused."""
    try:
        return taken_apart(line)
    except UsageError as problem:
        raise UnsaidError(str(problem)) from None


def deployments(args: argparse.Namespace, repository: Path, base: str, head: str) -> Report:
    """Every start of an engine at the second revision, and what became of those of the first."""
    from .. import __version__
    from ..report.model import Coverage, Launches, Question, Report
    from ..tracer.deploy.pairing import paired
    from ..tracer.deploy.repository import starts_at
    from ..tracer.devices import on_platform
    from ..tracer.supposed import read_together

    for name in SAID_OTHERWISE:
        if getattr(args, name) is not None:
            raise UsageError(f"--{name.replace('_', '-')}: the lines in the repository say that themselves")
    on_platform(args.platform, args.device)  # what cannot be meant is said at once
    asks = Asked(args)
    before, now = (starts_at(repository, revision) for revision in (base, head))
    launches, findings = [], []
    coverage = Coverage(modules_read=0, statements=0)
    with written_over() as write:
        for number, (path, was, found) in enumerate(paired(before.starts, now.starts), 1):
            write(f"{number} lines")
            launch, told = _launch(path, was, found, asks)
            launches.append(launch)
            findings += list(_findings(launch, told))
            if told is not None and told.report is not None:
                coverage = read_together(coverage, told.report.coverage)
    said = {"range": f"{base}..{head}", **asked(args)}
    return Report(
        tool=__version__,
        question=Question(engine=pin.ENGINES[0], asked=said, resolved={}),
        pins=(),
        chains=(),
        launches=Launches(files=now.files, launches=tuple(launches), unread=now.unread),
        findings=tuple(findings),
        coverage=coverage,
    )


def _launch(path: str, was: Found | None, now: Found | None, asks: Asked) -> tuple[Launch, Told | None]:
    from ..report.model import Change, Launch
    from ..report.predicate import Site

    if now is None:
        assert was is not None
        gone = Launch(site=Site(path, was.line), change=Change.GONE, line=_text(was), unsaid=was.unsaid)
        return gone, None
    told = asks.told(now)
    before = asks.told(was) if was is not None else None
    same = was is not None and _text(was) == _text(now) and was.release == now.release
    changed = was is not None and before is not None and not same
    launch = Launch(
        site=Site(path, now.line),
        change=Change.NEW if was is None else Change.SAME if same else Change.CHANGED,
        line=_text(now),
        release=told.release,
        ends=told.ends,
        problem=told.problem,
        refused=told.refused,
        unsaid=(*now.unsaid, *now.notes),
        was=_text(was) if was is not None and changed else None,
        was_release=before.release if before is not None and changed else "",
        was_ends=before.ends if before is not None and changed else (),
        was_problem=before.problem if before is not None and changed else None,
    )
    return launch, told


def _text(found: Found) -> str:
    """A line as one would type it; what its environment is set to stands before it, and no secret in it."""
    given = [shown(f"{name}={value}") for name, value in found.environment.items()]
    told, before = [], ""
    for word in found.words:
        name, assigned, _ = word.text.partition("=")
        secret = HIDDEN.search((name if assigned and name.startswith("-") else before).replace("-", "_"))
        if secret and word.known and (assigned or before.startswith("--")):
            told.append(f"{name}=(hidden)" if assigned else "(hidden)")
        else:
            told.append(shlex.quote(word.text) if word.known else word.text)
        before = word.text if word.text.startswith("-") and not assigned else ""
    return " ".join([*given, *told])


def _findings(launch: Launch, told: Told | None) -> Iterator[Finding]:
    """What is amiss with a line, at its place in the repository; the place in the engine is evidence."""
    from msgspec.structs import replace

    from ..report.finding import CALM, Level

    for finding in told.report.findings if told is not None and told.report is not None else ():
        if finding.verdict not in CALM and finding.level is not Level.NOTE:
            at = (str(finding.site),) if finding.site is not None else ()
            yield replace(finding, site=launch.site, evidence=(*finding.evidence, *at))
