"""What changed between two pins: outcomes first, then the hops; exit 1 where an outcome did.

qtrace diff vllm@0.26.0 vllm@0.33.0 --only h100            every question of the grid, on one device
qtrace diff vllm@0.26.0 vllm@0.33.0 -q fp8 --device h100   one question, hop by hop
qtrace diff before.json after.json                         two reports that `--json` wrote
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ..report.errors import ReportError, UsageError
from . import drifting, options, output, pin
from .overview import ASKED

if TYPE_CHECKING:
    from ..report.model import Report
    from ..tracer.answers import Answers

SUFFIX = ".json"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the two pins, and the question."""
    side = "vllm@PIN (PIN as for --at of `qtrace static`), or the file of a report; - is stdin"
    parser.add_argument("here", metavar="A", help=side)
    parser.add_argument("there", metavar="B", help=side)
    drifting.configure(parser)
    parser.set_defaults(unread=(), ignored=(), server=(), elsewhere=None, allow_deprecated_quantization=None)
    parser.set_defaults(line=None)
    pin.configure_ways(parser)
    options.configure(parser)
    output.configure_gate(parser)
    output.configure(parser)


def run(args: argparse.Namespace) -> int:
    """Compare."""
    from msgspec.structs import replace

    from ..report.gate import exit_for
    from ..rules import judge

    report = _compared(args, _pin(args.here), _pin(args.there))
    report = replace(report, findings=judge(report))
    output.emit(report, args)
    return exit_for(report.findings, args.fail_on)


def _pin(text: str) -> str | None:
    """The PIN of `vllm@PIN`; None for the name of a report."""
    engine, at, named = text.partition("@")
    if at and named and engine in pin.ENGINES:
        return named
    if text == "-" or text.endswith(SUFFIX):
        return None
    known = ", ".join(f"{engine}@PIN" for engine in pin.ENGINES)
    raise UsageError(f"{text}: write {known}, or the name of a report that ends in {SUFFIX}")


def _compared(args: argparse.Namespace, here: str | None, there: str | None) -> Report:
    if here is None and there is None:
        return _files(args)
    if here is None or there is None:
        raise UsageError("give two pins, or two reports: a report is the answer to one question")
    return drifting.compared(args, _answering(args, here), _answering(args, there))


def _answering(args: argparse.Namespace, at: str) -> Answers:
    return pin.answering(argparse.Namespace(**{**vars(args), "at": at}), pin.ENGINES[0])


def _files(args: argparse.Namespace) -> Report:
    """Two reports, each the answer to one question."""
    from ..tracer.drift.compare import one
    from ..tracer.drift.questions import differences
    from .show import report_in

    if args.only or drifting.asks(args, ASKED):
        raise UsageError("two reports are compared as they are: leave out the question, or give two pins")
    here, there = report_in(args.here), report_in(args.there)
    for name, report in ((args.here, here), (args.there, there)):
        if not report.chains:
            raise UsageError(f"{name} has no chains: give the answer to one question")
    engines = here.question.engine, there.question.engine
    if engines[0] != engines[1]:
        raise UsageError(f"{engines[0]} and {engines[1]} are two engines: nothing of one is at the other")
    if not {chain.layer for chain in here.chains} & {chain.layer for chain in there.chains}:
        raise UsageError("the two reports are about other layers: there is nothing to compare")
    try:
        return one(here, there, differences(here, there))
    except RecursionError:
        raise ReportError(f"{args.here} or {args.there} nests too deeply to be a report of qtrace") from None
