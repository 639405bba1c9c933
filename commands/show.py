"""Show a saved report in another voice."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ..report.errors import ReportError
from ..report.exits import Exit
from ..report.names import binary_size
from . import output

if TYPE_CHECKING:
    from ..report.model import Report

LARGEST = 64 * 1024 * 1024
"""Bytes of a file that may be a report; one question takes less than a hundredth of it."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a report in JSON; - for stdin")
    output.configure(parser)


def run(args: argparse.Namespace) -> int:
    output.emit(report_in(args.file), args)
    return Exit.OK


def report_in(file: str) -> Report:
    """The report in a file, `-` for stdin; ReportError for what is none."""
    from ..report.codec import decode

    name = "stdin" if file == "-" else file
    try:
        return decode(_read(file, name), name)
    except RecursionError as error:
        raise ReportError(f"{name} is nested too deeply for a report") from error


def _read(file: str, name: str) -> bytes:
    """The file's bytes; ReportError for what cannot be read, is empty, or is too large to be a report."""
    try:
        data = _bytes(file)
    except (OSError, ValueError) as error:
        raise ReportError(f"cannot read {name}: {getattr(error, 'strerror', None) or error}") from error
    if not data:
        raise ReportError(f"{name} is empty: give a report, as `qtrace static ... --json` writes it")
    if len(data) > LARGEST:
        raise ReportError(f"{name} is larger than {binary_size(LARGEST)}: that is no report")
    return data


def _bytes(file: str) -> bytes:
    """As many bytes as tell whether it is too large; `/dev/zero` has no end."""
    if file == "-":
        return sys.stdin.buffer.read(LARGEST + 1)
    with Path(file).open("rb") as stream:
        return stream.read(LARGEST + 1)
