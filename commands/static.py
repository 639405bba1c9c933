"""The chain from a quantization flag to the kernel a linear layer reaches, read from the engine's source.

What is not given is unknown: every outcome is then shown with its condition. Nothing of the engine is run.
Alone, it tells every value of --quantization by device; --matrix has a line for each checkpoint.
A launch line may be pasted after `--`: qtrace static --at 0.33 --device h100 -- vllm serve M -q fp8 -tp 2
"""

from __future__ import annotations

import argparse

from ..report.errors import UsageError
from . import binary, options, output, pin
from .launch import Launch, taken_apart, with_line
from .overview import overview, wanted
from .progress import written_over
from .question import asked, known, named, scenario
from .streams import say

ENGINES = (*pin.ENGINES, "sglang")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the scenario's arguments."""
    parser.add_argument(
        "engine", metavar="ENGINE", nargs="?", help="vllm or sglang; not needed with a launch line"
    )
    parser.set_defaults(unread=(), ignored=(), server=(), elsewhere=None, allow_deprecated_quantization=None)
    pin.configure(parser)
    binary.configure(parser)
    options.configure(parser)
    options.configure_libraries(parser)
    parser.add_argument(
        "--matrix", action="store_true", help="every value of --quantization, every checkpoint, every device"
    )
    output.configure_gate(parser)
    output.configure(parser)


def run(args: argparse.Namespace) -> int:
    """Answer one question."""
    from msgspec.structs import replace

    from ..report.gate import exit_for
    from ..rules import judge
    from ..tracer.devices import on_platform
    from ..tracer.operators import with_operators
    from ..tracer.tuning import with_tuned

    launch = taken_apart(args.line) if args.line is not None else None
    table = wanted(args)
    answers = pin.answering(args, _engine(args.engine, launch))
    platform = on_platform(args.platform, args.device).platform
    if launch is not None:
        args = with_line(args, answers.library, launch, platform)
    known(args.kv_cache_dtype, answers, platform)
    question = scenario(args, answers)
    if table and answers.engine not in pin.ENGINES:
        raise UsageError(f"--model is needed: of {answers.engine} qtrace has no tables of every method yet")
    if table:
        if not answers.holds(replace(question, quantization=next(iter(answers.flags), None))):
            say(f"every method of {answers} is read from its source: that takes minutes")
        with written_over() as write:
            report = overview(args, answers, question, asked(args), write)
    else:
        report = answers.ask(question, asked(args))
        named(args.quantization, report, answers)
        report = with_tuned(
            with_operators(report, answers, question, pin.codes(args, answers)), answers, question
        )
        report = binary.held_against(report, args, answers.engine, question)
        report = replace(report, findings=judge(report))
    output.emit(report, args)
    return exit_for(report.findings, args.fail_on)


def _engine(named: str | None, launch: Launch | None) -> str:
    """The engine that is named, or whose launch line was pasted."""
    engine = named or (launch and launch.engine)
    if engine is None:
        raise UsageError("give ENGINE, or a launch line after -- (see `qtrace static --help`)")
    if engine not in ENGINES or (launch is not None and launch.engine != engine):
        raise UsageError(f"unknown engine {engine!r}: qtrace reads {', '.join(ENGINES)}")
    return engine
