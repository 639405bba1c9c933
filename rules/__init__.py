"""Judges facts: each rule is one small file with the reports on which it must fire and must stay silent."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from ..report.model import Finding, Level, Report
from . import (
    kv_auto_resolution,
    kv_backend_support,
    kv_dtype_guard,
    kv_scale,
    mem_plan_excess,
    qtrace_open,
    qtrace_unsupported,
    quant_flag_rewritten,
    quant_refused,
    quant_unknown_method,
)

Check = Callable[[Report], Iterator[Finding]]


class Judge(NamedTuple):
    """A rule's code with its own examples."""

    rule: str
    """The id in the registry."""
    check: Check
    fires: tuple[Report, ...]
    silent: tuple[Report, ...]


JUDGES = tuple(
    Judge(module.RULE.id, module.check, module.FIRES, module.SILENT)
    for module in (
        quant_refused,
        quant_flag_rewritten,
        quant_unknown_method,
        kv_scale,
        kv_dtype_guard,
        kv_backend_support,
        kv_auto_resolution,
        mem_plan_excess,
        qtrace_open,
        qtrace_unsupported,
    )
)


def judge(report: Report) -> tuple[Finding, ...]:
    """Every rule's findings over `report`, the gravest first, then by rule and in the order of the chains."""
    grave = tuple(Level)
    found = [finding for rule in JUDGES for finding in rule.check(report)]
    return tuple(sorted(found, key=lambda finding: (grave.index(finding.level), finding.rule)))
