"""Who reads a flag, a field of the engine's configuration, or an environment variable.

qtrace flag vllm kv-cache-dtype          without the dashes
qtrace flag vllm VLLM_USE_DEEP_GEMM -q fp8 --device h100 --model DIR     and whether the answer hangs on it
qtrace flag vllm ProfilerConfig.capture_torch_profiler
"""

from __future__ import annotations

import argparse

from . import options, output, pin
from .question import asked, scenario

QUESTION = ("quantization", "kv_cache_dtype", "model")
"""Arguments with which something is asked beside the name."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the name and the question."""
    parser.add_argument("engine", metavar="ENGINE", choices=pin.ENGINES, help=", ".join(pin.ENGINES))
    parser.add_argument("name", metavar="NAME", help="flag (without --), VARIABLE, field or Class.field")
    parser.set_defaults(unread=(), ignored=(), server=(), elsewhere=None, allow_deprecated_quantization=None)
    pin.configure(parser)
    options.configure(parser)
    output.configure_gate(parser)
    output.configure(parser)


def run(args: argparse.Namespace) -> int:
    """Read the source; from a snapshot alone nobody can tell."""
    from msgspec.structs import replace

    from ..report.gate import exit_for
    from ..rules import judge
    from ..tracer.flags.answer import told

    answers = pin.answering(args, args.engine)
    about = args.layer != "linear" or any(getattr(args, name) is not None for name in QUESTION)
    report = told(answers.library, args.name, scenario(args, answers), asked(args), about)
    report = replace(report, findings=judge(report))
    output.emit(report, args)
    return exit_for(report.findings, args.fail_on)
