"""What changed between two pins: outcomes first, then the hops; exit 1 where an outcome did.

qtrace diff vllm@0.26.0 vllm@0.33.0 --only h100            every question of the grid, on one device
qtrace diff vllm@0.26.0 vllm@0.33.0 -q fp8 --device h100   one question, hop by hop
qtrace diff before.json after.json                         two reports that `--json` wrote
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..report.errors import ReportError, UsageError
from . import options, output, pin
from .drifting import drift
from .overview import ASKED
from .progress import written_over
from .question import asked

if TYPE_CHECKING:
    from ..report.model import Report
    from ..tracer.answers import Answers
    from ..tracer.scenario import Scenario

SUFFIX = ".json"
FLAGS = ("quantization", "kv_cache_dtype")
"""Arguments that choose among the questions of the grid."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the two pins, and the question."""
    side = "vllm@PIN (PIN as for --at of `qtrace static`), or the file of a report; - is stdin"
    parser.add_argument("here", metavar="A", help=side)
    parser.add_argument("there", metavar="B", help=side)
    parser.add_argument(
        "--only", metavar="D", help="every question of the grid on this device; -q may choose among them"
    )
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
    answers = tuple(_answering(args, at) for at in (here, there))
    if args.only == "":
        raise UsageError("--only: give a device, or leave it out for all of them")
    return (drift if args.only is None and _asks(args, ASKED) else _grid)(args, *answers)


def _answering(args: argparse.Namespace, at: str) -> Answers:
    return pin.answering(argparse.Namespace(**{**vars(args), "at": at}), pin.ENGINES[0])


def _asks(args: argparse.Namespace, names: tuple[str, ...]) -> bool:
    """Whether something of a question is given."""
    given = [getattr(args, name) for name in names if name not in FLAGS or names is ASKED]
    return args.layer != "linear" or bool(args.env) or any(value is not None for value in given)


def _files(args: argparse.Namespace) -> Report:
    """Two reports, each the answer to one question."""
    from ..tracer.drift.compare import one
    from ..tracer.drift.questions import differences
    from .show import report_in

    if args.only or _asks(args, ASKED):
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


def _grid(args: argparse.Namespace, here: Answers, there: Answers) -> Report:
    """Every question of the grid, or those about one device or flag."""
    from ..tracer.drift.compare import many
    from ..tracer.drift.grid import only, questions

    if _asks(args, tuple(name for name in ASKED if name not in FLAGS)):
        raise UsageError("--only goes with -q and --kv-cache-dtype: leave it out to ask one question")
    here, there = (pin.recorded(each) for each in (here, there))
    with written_over() as write:
        puts = questions(here, there, _wanted(args), lambda number: write(f"{number} questions"))
        told = {"only": args.only} if args.only else {}
        report = many(puts, only(here, there), (here.pin, there.pin), {**told, **asked(args)})
    if report.drift is not None and not report.drift.questions:
        raise UsageError("no question of the grid is about that: leave out --only to ask it")
    return report


def _wanted(args: argparse.Namespace) -> Callable[[Scenario], bool]:
    """Whether a question of the grid is meant."""
    from ..tracer.devices import on_platform

    given: dict[str, Any] = {name: getattr(args, name) for name in FLAGS}
    if args.only:
        at = on_platform(None, args.only)
        given |= {"platform": at.platform, "capability": at.capability, "arch": at.arch}
    asked_for = {name: value for name, value in given.items() if value is not None}
    return lambda question: all(getattr(question, name) == value for name, value in asked_for.items())
