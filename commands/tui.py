"""Explore on the whole screen: a saved report, or the answer to a question, which can then be changed.

qtrace tui is about every method by device; qtrace tui -q fp8 --device h100 starts with that question;
qtrace tui report.json shows what `--json` wrote. Press ? for all keys.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import threading
from typing import TYPE_CHECKING

from ..report.errors import ReportError, UsageError
from ..report.exits import Exit
from . import options, pin
from .exploring import Asking, Saved, first_of

if TYPE_CHECKING:
    from ..tui.app import Explorer

STACK = 64 * 2**20
"""Bytes of stack for the thread that answers: the evaluator nests deeply. It is reserved, not used."""
SELDOM = (20_000, 50, 100)
"""Thresholds of the garbage collector, which finds next to nothing here: a look through all there is takes as
long as a paint, and comes between a key and its paint.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", nargs="?", help="a report in JSON; - for stdin")
    parser.set_defaults(engine="vllm", matrix=False, allow_deprecated_quantization=None)
    parser.set_defaults(unread=(), ignored=(), server=(), elsewhere=None)
    pin.configure(parser)
    options.configure(parser)


def run(args: argparse.Namespace) -> int:
    """Show it until the user leaves."""
    if not sys.stdout.isatty() or not (args.file == "-" or sys.stdin.isatty()):
        raise UsageError("qtrace tui needs a terminal: static and show write to files and pipes")
    gc.set_threshold(*SELDOM)
    app, code = _explorer(args)
    gc.freeze()
    threading.stack_size(STACK)
    app.run()
    if app.fault is not None:
        raise app.fault
    return Exit.INTERNAL if app.return_code else code


def _explorer(args: argparse.Namespace) -> tuple[Explorer, int]:
    """What there is to explore; a file that is no report is told on the screen, and by the exit code."""
    from ..report.terminal import terminal
    from ..tui.app import Explorer
    from .show import report_in

    unicode = terminal(sys.stdout).unicode
    if args.file is None:
        session = Asking(args)
        app = Explorer(session, session.ask(session.first), session.first, unicode=unicode)
        session.listen(app.hear)
        return app, Exit.OK
    if first_of(args) or args.model or args.at:
        raise UsageError("a report from a file is shown as it is: leave out the question, or the file")
    try:
        return Explorer(Saved(), report_in(args.file), unicode=unicode), Exit.OK
    except ReportError as error:
        return Explorer(Saved(), problem=str(error), unicode=unicode), error.exit
    finally:
        if args.file == "-":
            _keys_from_terminal()


def _keys_from_terminal() -> None:
    """stdin was the report: keys come from the terminal itself."""
    try:
        own = os.open("/dev/tty", os.O_RDWR)
    except OSError as error:
        raise UsageError(f"no terminal to read keys from: {error.strerror}") from error
    os.dup2(own, 0)
    os.close(own)
