"""The front door: finds the command, prints errors (nowhere else does) and turns them into exit codes."""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Sequence
from typing import NoReturn

from . import __version__
from .commands import COMMANDS, Command
from .commands.streams import let_go, of_stdout, say, stand_in
from .report.errors import QtraceError, UsageError
from .report.exits import Exit
from .report.names import one_line

WELCOME = """\
qtrace {version}: which kernel does a quantization flag really reach?

It reads an engine's source and runs none of it: of the engine installed beside
qtrace, else of vLLM 0.33.0, whose answers it brings along. `--at 0.26.0` is
another release, `--at FOLDER` a checkout. What was not recorded is read from
the release itself, which your package index gives, once.

Try first, in this order (the third brings the release):

  1. What each method of an engine becomes, GPU by GPU:
     qtrace static vllm

  2. What a flag becomes on one GPU, and what is open until more is given:
     qtrace static vllm --quantization fp8 --device h100

  3. A launch line as you have it; where MODEL is a folder that is here (its
     config.json is enough), about that model alone:
     qtrace static --device h100 -- vllm serve MODEL -q fp8 -tp 2

`qtrace --help` names all commands, `qtrace COMMAND --help` all options.
"""

FAULT = """\
this is a fault of qtrace {version} (Python {python}), not of your input.
Please report the command line together with the lines above."""


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors take the same way out as all others."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (see `{self.prog} --help`)")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and give its exit code; `argv` leaves the program's name out."""
    stand_in()
    try:
        code = _exit_code(sys.argv[1:] if argv is None else argv)
        sys.stdout.flush()
        return code
    except QtraceError as error:
        say(one_line(str(error)))
        return error.exit
    except BrokenPipeError:
        # The reader has gone (`qtrace ... | head`).
        let_go(sys.stdout)
        return Exit.OK
    except KeyboardInterrupt:
        say("interrupted")
        return Exit.INTERRUPTED
    except Exception as error:
        return _unwritable(error) if isinstance(error, OSError) and of_stdout(error) else _fault()


def _unwritable(error: OSError) -> Exit:
    """stdout is closed, or its disk is full."""
    let_go(sys.stdout)
    say(f"cannot write to stdout: {error.strerror}")
    return Exit.CANNOT_RUN


def _fault() -> Exit:
    """The exception under way is ours to mend: all that is known of it."""
    traceback.print_exc()
    say(FAULT.format(version=__version__, python=sys.version.split()[0]))
    return Exit.INTERNAL


def _exit_code(argv: Sequence[str]) -> int:
    """`run`, with argparse's own way of ending (`--help`, `--version`) brought into line."""
    try:
        return run(argv)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else Exit.OK


def run(argv: Sequence[str]) -> int:
    """Find the command that `argv` names, import it alone, and run it."""
    if not argv:
        print(WELCOME.format(version=__version__), end="")
        return Exit.OK
    named = next((argument for argument in argv if not argument.startswith("-")), None)
    command = next((row for row in COMMANDS if row.name == named), None)
    own, line = _split(argv) if command and command.line else (argv, None)
    args = _parser(command).parse_args(own)
    args.line = line
    return command.load().run(args) if command else Exit.OK


def _split(argv: Sequence[str]) -> tuple[Sequence[str], Sequence[str] | None]:
    """The command's own arguments, and the command line after `--`."""
    if "--" not in argv:
        return argv, None
    at = list(argv).index("--")
    return argv[:at], argv[at + 1 :]


def _parser(invoked: Command | None) -> Parser:
    """A parser that knows every command's name, and the arguments of the one invoked."""
    parser = Parser(
        prog="qtrace",
        description="Which kernel does a quantization flag really reach?",
        epilog="exit codes:\n" + "\n".join(f"  {code.value:>3}  {code.doc}" for code in Exit),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"qtrace {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=Parser)
    for row in COMMANDS:
        module = row.load() if row is invoked else None
        description = module.__doc__ if module else None
        inner = commands.add_parser(row.name, help=row.help, description=description, allow_abbrev=False)
        if module:
            module.configure(inner)
    return parser
