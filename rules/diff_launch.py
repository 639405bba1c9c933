"""QT802: a change to a line that starts an engine changes what it comes to."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from ..report.launches import Launch, LaunchEnd, Launches
from ..report.model import Change, Finding, Report, Verdict
from ..report.predicate import Site
from ..report.registry import lookup
from ..report.standing import Standing
from .examples import report

RULE = lookup("QT802")


def check(report: Report) -> Iterator[Finding]:
    """One finding for each changed line that ends otherwise; open where an end of the two hangs on something
    that is not known.
    """
    for launch in report.launches.launches if report.launches is not None else ():
        if launch.turned and launch.ends and launch.was_ends:
            both = (*launch.ends, *launch.was_ends)
            whole = all(end.standing is not Standing.OPEN and not end.guard for end in both)
            yield RULE.finding(
                Verdict.FAIL if whole else Verdict.OPEN,
                launch.release or "vllm",
                f"It came to {_told(launch.was_ends)}, and comes to {_told(launch.ends)}.",
                expected=_told(launch.was_ends),
                seen=_told(launch.ends),
                site=launch.site,
            )


def _told(ends: tuple[LaunchEnd, ...]) -> str:
    return "; or ".join(dict.fromkeys(map(str, ends)))


_MARLIN = LaunchEnd(layer="linear", standing=Standing.ACCEPTED, reaches="MarlinLinearKernel")
_LAUNCH = Launch(
    site=Site("run.sh", 3),
    change=Change.CHANGED,
    line="vllm serve M -q gptq",
    ends=(_MARLIN,),
    was="vllm serve M -q gptq --dtype float16",
    was_ends=(replace(_MARLIN, reaches="ExllamaLinearKernel"),),
)
_OPEN = replace(_MARLIN, standing=Standing.OPEN)


def _found(launch: Launch) -> Report:
    return replace(report(), launches=Launches(files=1, launches=(launch,)))


_WHEN = replace(_MARLIN, guard="M >= 32")
FIRES = (
    _found(_LAUNCH),
    _found(replace(_LAUNCH, ends=(_OPEN,))),
    _found(replace(_LAUNCH, ends=(_MARLIN, replace(_WHEN, reaches="MacheteLinearKernel")))),
)
SILENT = (
    report(),
    _found(replace(_LAUNCH, ends=(_WHEN,), was_ends=(_MARLIN,))),
    _found(replace(_LAUNCH, was_ends=(_MARLIN,))),
    _found(replace(_LAUNCH, change=Change.NEW, was=None, was_ends=())),
)
