"""What the ends of a report's chains launch, on the device that was asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ..report.fetched import Fetched
from ..report.model import HopKind, Operator, Report
from .native.device import on_device
from .scenario import Scenario
from .terminals import library

if TYPE_CHECKING:
    from .answers import Answers

PREFIX, PYTHON = "torch.ops.", "torch.ops.vllm."
"""Operators by their names; those of the second kind are written in Python."""
ENDS = (HopKind.TORCH_OP, HopKind.EXTERNAL, HopKind.TRITON_KERNEL)


def with_operators(report: Report, answers: Answers, scenario: Scenario) -> Report:
    """The report with what each end of its chains launches, as far as that is known, and with the modes of
    the cache that are one.
    """
    names = tuple(dict.fromkeys(_names(report)))
    found = {one.symbol: one for one in answers.operators(names, scenario.platform, scenario.cuda)}
    told = _told(names, found, answers.fetched)
    operators = tuple(on_device(one, scenario.capability) for one in told)
    return replace(report, operators=operators, merged=answers.merged if scenario.kv_cache_dtype else ())


def _told(
    names: Iterable[str], found: dict[str, Operator], fetched: tuple[Fetched, ...]
) -> Iterator[Operator]:
    """The engine's own operators and kernels, and the libraries that others belong to."""
    for name in names:
        known = found.get(name) or library(name, fetched)
        if known is not None:
            yield known


def _names(report: Report) -> Iterator[str]:
    """Where the chains end, in order: compiled operators, kernels written in Python, libraries."""
    for chain in report.chains:
        reached = [op for outcome in chain.outcomes for op in outcome.ops]
        reached += [hop.symbol for hop in chain.hops if hop.kind in ENDS]
        yield from (name for name in reached if not name.startswith(PYTHON))
