"""Two pins compared: by one question, or by all of the grid."""

from __future__ import annotations

import argparse
import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..report.errors import UsageError
from . import pin
from .overview import ASKED
from .progress import written_over
from .question import asked, scenario

if TYPE_CHECKING:
    from ..report.model import Report
    from ..tracer.answers import Answers
    from ..tracer.scenario import Scenario

SELDOM = (50_000, 100, 100)
"""Thresholds of the garbage collector while many answers are compared."""
FLAGS = ("quantization", "kv_cache_dtype")
"""Arguments that choose among the questions of the grid."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add `--only`."""
    parser.add_argument(
        "--only", metavar="D", help="every question of the grid on this device; -q may choose among them"
    )


def compared(args: argparse.Namespace, here: Answers, there: Answers) -> Report:
    """What changed for the question that is asked; for every one of the grid where none is, or `--only`."""
    if args.only == "":
        raise UsageError("--only: give a device, or leave it out for all of them")
    return (drift if args.only is None and asks(args, ASKED) else grid)(args, here, there)


def asks(args: argparse.Namespace, names: tuple[str, ...]) -> bool:
    """Whether something of a question is given."""
    given = [getattr(args, name) for name in names if name not in FLAGS or names is ASKED]
    return args.layer != "linear" or bool(args.env) or any(value is not None for value in given)


def drift(args: argparse.Namespace, here: Answers, there: Answers) -> Report:
    """What changed for one question, hop by hop."""
    from ..tracer.drift.compare import one
    from ..tracer.drift.questions import unknown

    asked_here, asked_there = scenario(args, here), scenario(args, there)
    missing = unknown(asked_here, here)
    if missing is not None and missing == unknown(asked_there, there):
        raise UsageError(f"{' '.join(missing)}: neither {here} nor {there} knows it")
    return one(_answer(args, here, asked_here), _answer(args, there, asked_there))


def _answer(args: argparse.Namespace, answers: Answers, question: Scenario) -> Report:
    """The answer of one pin; a value that it does not know can only be refused."""
    from ..tracer.drift.questions import refused, unknown

    if unknown(question, answers) is not None:
        return refused(question, answers, asked(args))
    return answers.ask(question, asked(args))


def grid(args: argparse.Namespace, here: Answers, there: Answers) -> Report:
    """Every question of the grid, or those about one device or flag."""
    from ..tracer.drift.compare import many
    from ..tracer.drift.grid import only, questions

    if asks(args, tuple(name for name in ASKED if name not in FLAGS)):
        raise UsageError("--only goes with -q and --kv-cache-dtype: leave it out to ask one question")
    with seldom(), written_over() as write:
        here, there = (pin.nearby(each) for each in (here, there))
        puts = questions(here, there, _wanted(args), lambda number: write(f"{number} questions"))
        told = {"only": args.only} if args.only else {}
        report = many(puts, only(here, there), (here.pin, there.pin), {**told, **asked(args)})
    if report.drift is not None and not report.drift.questions:
        raise UsageError("no question of the grid is about that: leave out --only to ask it")
    return report


@contextmanager
def seldom() -> Iterator[None]:
    """Look for garbage seldom: what is read stays, and a look through all of it finds next to nothing."""
    before = gc.get_threshold()
    gc.set_threshold(*SELDOM)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _wanted(args: argparse.Namespace) -> Callable[[Scenario], bool]:
    """Whether a question of the grid is meant."""
    from ..tracer.devices import on_platform

    given: dict[str, Any] = {name: getattr(args, name) for name in FLAGS}
    if args.only:
        at = on_platform(None, args.only)
        given |= {"platform": at.platform, "capability": at.capability, "arch": at.arch}
    asked_for = {name: value for name, value in given.items() if value is not None}
    return lambda question: all(getattr(question, name) == value for name, value in asked_for.items())
