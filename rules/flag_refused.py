"""QT112: the engine's command line does not take a line that starts it."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from ..report.launches import Launch, Launches
from ..report.model import Change, Finding, Report, Verdict
from ..report.predicate import Site
from ..report.registry import lookup
from .examples import report

RULE = lookup("QT112")


def check(report: Report) -> Iterator[Finding]:
    """One finding for each line that is not taken; open where it is not said in full."""
    for launch in report.launches.launches if report.launches is not None else ():
        if launch.problem is not None and launch.change is not Change.GONE:
            yield RULE.finding(
                Verdict.FAIL if launch.refused else Verdict.OPEN,
                launch.release or "vllm",
                launch.problem,
                site=launch.site,
                evidence=tuple(f"the file does not say {each}" for each in launch.unsaid),
            )


_LAUNCH = Launch(
    site=Site("run.sh", 3),
    change=Change.SAME,
    line="vllm serve M --quantisation fp8",
    problem="no such flag",
    refused=True,
)


def _found(launch: Launch) -> Report:
    return replace(report(), launches=Launches(files=1, launches=(launch,)))


FIRES = (_found(_LAUNCH), _found(replace(_LAUNCH, unsaid=("$MORE",), refused=False)))
SILENT = (
    report(),
    _found(replace(_LAUNCH, problem=None)),
    _found(replace(_LAUNCH, change=Change.GONE)),
)
