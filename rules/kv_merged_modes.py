"""QT306: the mode of the asked KV cache dtype is one value with another mode."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from ..report.merged import Merged
from ..report.model import Finding, Report, Verdict
from ..report.names import short
from ..report.predicate import Site
from ..report.registry import lookup
from .examples import ACCEPTED, report as _report

RULE = lookup("QT306")
FIELD = "kv_cache_dtype"


def check(report: Report) -> Iterator[Finding]:
    """One finding for each enumeration that has the asked dtype's mode under two names."""
    asked = report.question.resolved.get(FIELD, report.question.asked.get(FIELD))
    for each in report.merged if isinstance(asked, str) else ():
        mode = str(asked).upper()
        if mode in each.members:
            yield _finding(each, mode, str(asked))


def _finding(each: Merged, mode: str, asked: str) -> Finding:
    others = ", ".join(member for member in each.members if member != mode)
    return RULE.finding(
        Verdict.FAIL,
        f"{FIELD} {asked}",
        f"{short(each.enum)}.{mode} and {others} are one value, {each.value}: what the engine does for one, "
        "it does for the other",
        expected=f"{mode} told apart from {others}",
        seen=f"{' = '.join(each.members)} = {each.value}",
        site=each.site,
    )


_MODES = Merged(
    enum="vllm.v1.kv_cache_interface.KVQuantMode",
    value="12",
    members=("OCTAVE_K3V4", "CUSTOM"),
    site=Site("vllm/v1/kv_cache_interface.py", 69),
)


def _asked(dtype: str, *merged: Merged) -> Report:
    return replace(_report(ACCEPTED, asked={FIELD: dtype}, layer="attention"), merged=merged)


FIRES = (_asked("octave_k3v4", _MODES), _asked("custom", _MODES))
SILENT = (_asked("fp8", _MODES), _asked("octave_k3v4"))
