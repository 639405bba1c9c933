"""`qtrace static ENGINE` alone, and `--matrix`: every value of --quantization by device."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ..report.errors import SourceError, UsageError

if TYPE_CHECKING:
    from ..report.model import Report
    from ..report.question import Value
    from ..tracer.answers import Answers
    from ..tracer.scenario import Scenario

ASKED = ("quantization", "kv_cache_dtype", "model", "device", "dtype", "tp", "tokens", "line")
"""Arguments without which nothing is asked but the release."""
GIVEN = ("model", "line")
"""What is about one checkpoint."""


def wanted(args: argparse.Namespace) -> bool:
    """Whether a table is asked for, by `--matrix` or by nothing else; UsageError where it cannot be."""
    if not args.matrix:
        return args.layer == "linear" and all(getattr(args, name) is None for name in ASKED)
    if any(getattr(args, name) is not None for name in GIVEN):
        raise UsageError("--matrix is about every checkpoint: leave out --model and the launch line")
    return True


def overview(
    args: argparse.Namespace,
    answers: Answers,
    scenario: Scenario,
    asked: Mapping[str, Value],
    told: Callable[[str], None],
) -> Report:
    """A row for each value of the flag, with `--matrix` for each checkpoint that it may be given with; `told`
    hears how far it is.
    """
    from msgspec.structs import replace

    from ..tracer.answers import unknown_flag
    from ..tracer.matrix import matrix

    if not answers.flags:
        raise SourceError(f"{answers} has no value of --quantization that this qtrace can find")
    flags = answers.flags if args.quantization is None else (args.quantization,)
    if flags[0] not in answers.flags:
        raise UsageError(unknown_flag(answers, flags[0]))
    questions = [(flag, replace(scenario, quantization=flag)) for flag in flags]
    return matrix(
        questions,
        lambda question: answers.ask(question, {}),
        asked,
        merged=not args.matrix,
        told=lambda done: told(f"{done} of {len(flags)} values of --quantization"),
    )
