"""The options and the last step of every command that gives a report: which voice, and where to."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from .streams import put, say

if TYPE_CHECKING:
    from ..report.model import Report
    from ..report.terminal import Terminal


def _text(report: Report, screen: Terminal) -> bytes:
    from ..report.text import render

    return render(report, screen.width, screen.color, screen.unicode).encode()


def _json(report: Report, screen: Terminal) -> bytes:
    from ..report.codec import encode

    return encode(report)


def _markdown(report: Report, screen: Terminal) -> bytes:
    """In UTF-8; in ASCII, what is beyond it as entities."""
    from ..report.markdown import render

    text = render(report)
    return text.encode() if screen.unicode else text.encode("ascii", "xmlcharrefreplace")


VOICES: dict[str, Callable[[Report, Terminal], bytes]] = {
    "text": _text,
    "json": _json,
    "markdown": _markdown,
}
"""What `--format` takes, and what speaks so; a voice is imported when it is asked for."""
LEVELS = ("error", "warning", "note", "never")
"""Levels of findings, the gravest first, and none."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add `--format`, `--json` and `-o`."""
    group = parser.add_argument_group("output")
    voice = group.add_mutually_exclusive_group()
    voice.add_argument("--format", choices=VOICES, help="the voice (default: text; json with -o)")
    voice.add_argument(
        "--json", action="store_const", const="json", dest="format", help="short for --format json"
    )
    group.add_argument(
        "-o", "--output", type=_target, metavar="FILE", help="write to FILE, whole or not at all"
    )


def configure_gate(parser: argparse.ArgumentParser) -> None:
    """Add `--fail-on`."""
    parser.add_argument(
        "--fail-on", choices=LEVELS, default="error", help="findings that make the exit code 1"
    )


def emit(report: Report, args: argparse.Namespace) -> None:
    """Write `report` to stdout or, with `-o`, to a file."""
    from ..report.files import write
    from ..report.terminal import PLAIN, terminal

    if args.output is None:
        put(VOICES[args.format or "text"](report, terminal(sys.stdout)))
        return
    write(args.output, VOICES[args.format or "json"](report, PLAIN))
    say(f"wrote {args.output}")


def _target(name: str) -> Path:
    """The file that `-o` names; what cannot be written is told before the work, not after it."""
    from ..report.files import check

    return check(Path(name))
