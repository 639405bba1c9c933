"""What the operators of a report's chains reach in the compiled half, on the device that was asked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ..report.model import HopKind, Report
from .native.device import on_device
from .scenario import Scenario

if TYPE_CHECKING:
    from .answers import Answers

PREFIX, PYTHON = "torch.ops.", "torch.ops.vllm."
"""Operators by their names; those of the second kind are written in Python."""


def with_operators(report: Report, answers: Answers, scenario: Scenario) -> Report:
    """The report with what each operator of its chains launches; unchanged where nothing is compiled."""
    found = answers.operators(tuple(dict.fromkeys(_names(report))), scenario.platform, scenario.cuda)
    return replace(report, operators=tuple(on_device(one, scenario.capability) for one in found))


def _names(report: Report) -> Iterator[str]:
    """The compiled operators that the chains come to, in order."""
    for chain in report.chains:
        reached = [op for outcome in chain.outcomes for op in outcome.ops]
        reached += [hop.symbol for hop in chain.hops if hop.kind is HopKind.TORCH_OP]
        yield from (name for name in reached if name.startswith(PREFIX) and not name.startswith(PYTHON))
