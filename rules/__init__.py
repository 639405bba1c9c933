"""Judges facts: each rule is one small file with the reports on which it must fire and must stay silent."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from ..report.model import Finding, Level, Report
from . import (
    diff_launch,
    diff_outcome,
    flag_no_reader,
    flag_refused,
    kernel_assets_missing,
    kernel_layer_fallback,
    kernel_no_candidate,
    kernel_selector_vs_dispatch,
    kernel_weight_only_on_capable_hw,
    kv_auto_resolution,
    kv_backend_support,
    kv_dtype_guard,
    kv_merged_modes,
    kv_mla_geometry,
    kv_scale,
    mem_plan_excess,
    qtrace_open,
    qtrace_unsupported,
    quant_act_dtype,
    quant_block_tp,
    quant_capability,
    quant_flag_rewritten,
    quant_fused_shards,
    quant_ignore_unmatched,
    quant_method_resolution,
    quant_refused,
    quant_silent_cast,
    quant_unknown_method,
)
from .premises import under_each

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
        quant_method_resolution,
        quant_capability,
        quant_act_dtype,
        quant_fused_shards,
        quant_ignore_unmatched,
        quant_silent_cast,
        quant_block_tp,
        flag_no_reader,
        flag_refused,
        kernel_no_candidate,
        kernel_weight_only_on_capable_hw,
        kernel_layer_fallback,
        kernel_selector_vs_dispatch,
        kernel_assets_missing,
        kv_scale,
        kv_dtype_guard,
        kv_backend_support,
        kv_auto_resolution,
        kv_mla_geometry,
        kv_merged_modes,
        mem_plan_excess,
        diff_outcome,
        diff_launch,
        qtrace_open,
        qtrace_unsupported,
    )
)


def judge(report: Report) -> tuple[Finding, ...]:
    """Every rule's findings over `report`, the gravest first, then by rule and in the order of the chains."""
    grave = tuple(Level)
    found = [finding for rule in JUDGES for finding in under_each(report, rule.check)]
    return tuple(sorted(found, key=lambda finding: (grave.index(finding.level), finding.rule)))
