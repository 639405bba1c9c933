"""Show a saved report in another voice."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ..report.errors import ReportError
from ..report.exits import Exit
from . import output


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a report in JSON; - for stdin")
    output.configure(parser)


def run(args: argparse.Namespace) -> int:
    from ..report.codec import decode

    data, name = _read(args.file)
    output.emit(decode(data, name), args)
    return Exit.OK


def _read(file: str) -> tuple[bytes, str]:
    if file == "-":
        return sys.stdin.buffer.read(), "stdin"
    try:
        return Path(file).read_bytes(), file
    except OSError as error:
        raise ReportError(f"cannot read {file}: {error.strerror}") from error
