"""The options and the last step of every command that gives a report: which voice, and where to."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..report.model import Report

FORMATS = ("text", "json")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add `--format`, `--json` and `-o`."""
    group = parser.add_argument_group("output")
    group.add_argument("--format", choices=FORMATS, help="the voice (default: text; json with -o)")
    group.add_argument(
        "--json", action="store_const", const="json", dest="format", help="short for --format json"
    )
    group.add_argument("-o", "--output", type=Path, metavar="FILE", help="write to FILE, whole or not at all")


def emit(report: Report, args: argparse.Namespace) -> None:
    """Write `report` to stdout or, with `-o`, to a file."""
    from ..report.codec import encode
    from ..report.files import write
    from ..report.text import render

    if args.output is None:
        _print(report, args.format or "text")
        return
    json = (args.format or "json") == "json"
    write(args.output, encode(report) if json else render(report).encode())
    print(f"qtrace: wrote {args.output}", file=sys.stderr)


def _print(report: Report, format: str) -> None:
    from ..report.codec import encode
    from ..report.terminal import terminal
    from ..report.text import render

    if format == "json":
        sys.stdout.flush()
        sys.stdout.buffer.write(encode(report))
        return
    screen = terminal(sys.stdout)
    sys.stdout.write(render(report, screen.width, screen.color, screen.unicode))
