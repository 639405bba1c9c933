"""What the ends of a report's chains launch, on the device that was asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ..report.fetched import Fetched
from ..report.model import HopKind, Operator, Report
from .native.device import on_device
from .scenario import Scenario
from .terminals import library, taken_as

if TYPE_CHECKING:
    from .answers import Answers
    from .native.code import CodeOperators
    from .pins.code import LibraryCode

PREFIX, PYTHON = "torch.ops.", "torch.ops.vllm."
"""Operators by their names; those of the second kind are written in Python."""
ENDS = (HopKind.TORCH_OP, HopKind.EXTERNAL, HopKind.TRITON_KERNEL)


def with_operators(
    report: Report, answers: Answers, scenario: Scenario, codes: Sequence[LibraryCode] = ()
) -> Report:
    """The report with what each end of its chains launches, as far as that is known, and with the modes of
    the cache that are one; `codes` are libraries whose source is given.
    """
    names = tuple(dict.fromkeys(_names(report)))
    found = {one.symbol: one for one in answers.operators(names, scenario.platform, scenario.cuda)}
    given = _given(codes, answers, scenario)
    told = _told(names, found, answers.fetched, given)
    operators = tuple(on_device(one, scenario.capability) for one in told)
    return replace(
        report,
        operators=operators,
        libraries=tuple(one.code for one in codes),
        merged=answers.merged if scenario.kv_cache_dtype else (),
    )


def _given(codes: Sequence[LibraryCode], answers: Answers, scenario: Scenario) -> Mapping[str, CodeOperators]:
    """The functions of the libraries whose source is given, by library."""
    if not codes or scenario.platform != "cuda":
        return {}
    from .engines.torch_of import torch_of
    from .native.build import build_of
    from .native.code import CodeOperators

    build = build_of(scenario.platform, scenario.cuda or answers.cuda)
    return {one.code.name: CodeOperators(one, build, torch_of(answers)) for one in codes}


def _told(
    names: Iterable[str],
    found: Mapping[str, Operator],
    fetched: tuple[Fetched, ...],
    given: Mapping[str, CodeOperators],
) -> Iterator[Operator]:
    """The engine's own operators and kernels, and the libraries that others belong to: by their source where
    that is given and registers the function.
    """
    for name in names:
        read = (given[one].operator(name) for one in sorted(taken_as(name)) if one in given)
        known = found.get(name) or next(filter(None, read), None) or library(name, fetched)
        if known is not None:
            yield known


def _names(report: Report) -> Iterator[str]:
    """Where the chains end, in order: compiled operators, kernels written in Python, libraries."""
    for chain in report.chains:
        reached = [op for outcome in chain.outcomes for op in outcome.ops]
        reached += [hop.symbol for hop in chain.hops if hop.kind in ENDS]
        yield from (name for name in reached if not name.startswith(PYTHON))
