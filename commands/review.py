"""What a change comes to: of the engine itself, or of files that start it; exit 1 where it fails.

qtrace review --git path/to/vllm v0.26.0..v0.33.0 --only h100     outcomes that a change to the engine turns
qtrace review --git path/to/vllm main...HEAD                      since the two histories parted
qtrace review --git path/to/deployments main...HEAD --device h100 launch lines in shell, Docker, compose, YAML
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..report.errors import UsageError
from . import drifting, options, output, pin

if TYPE_CHECKING:
    from ..report.model import Report

RANGE = re.compile(r"(?P<base>[^\s.](?:[^\s]*?[^\s.])?)(?P<dots>\.\.\.?)(?P<head>[^\s.][^\s]*)?")


ROOTS = {f"{below}{engine}/__init__.py": engine for engine in pin.ENGINES for below in ("", "python/")}
"""Files by which a repository is an engine's."""


class Range(NamedTuple):
    """Two revisions."""

    base: str
    head: str
    parted: bool
    """Whether the base is where the histories of the two parted."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the repository, the range and the question."""
    parser.add_argument(
        "--git", metavar="REPO", type=Path, required=True, help="a repository on this machine; nothing is run"
    )
    parser.add_argument("range", metavar="BASE..HEAD", help="two revisions; ... is since they parted")
    drifting.configure(parser)
    parser.set_defaults(unread=(), ignored=(), server=(), elsewhere=None, allow_deprecated_quantization=None)
    parser.set_defaults(line=None)
    pin.configure(parser)
    options.configure(parser)
    output.configure_gate(parser)
    output.configure(parser)


def run(args: argparse.Namespace) -> int:
    """Compare the two revisions."""
    from msgspec.structs import replace

    from ..report.finding import Level
    from ..report.gate import exit_for
    from ..rules import judge

    report = _reviewed(args, range_of(args.range))
    findings = sorted((*report.findings, *judge(report)), key=lambda each: tuple(Level).index(each.level))
    report = replace(report, findings=tuple(findings))
    output.emit(report, args)
    return exit_for(report.findings, args.fail_on)


def range_of(text: str) -> Range:
    """`A..B`, `A...B`; without a second revision it is HEAD."""
    found = RANGE.fullmatch(text)
    if found is None:
        raise UsageError(f"{text}: write BASE..HEAD, or BASE...HEAD for what came since the two parted")
    return Range(found["base"], found["head"] or "HEAD", found["dots"] == "...")


def _reviewed(args: argparse.Namespace, range_: Range) -> Report:
    from ..tracer.pins.repository import between, files_at

    base = between(args.git, range_.base, range_.head) if range_.parted else range_.base
    roots = files_at(args.git, range_.head, lambda path: path in ROOTS)
    engine = next((ROOTS[path] for path in roots), None)
    if engine is None:
        from .deploying import deployments

        return deployments(args, args.git, base, range_.head)
    if args.at is not None:
        raise UsageError("--at: the repository is the engine's own, and the range says what is read")
    sides = (argparse.Namespace(**{**vars(args), "at": f"{args.git}@{at}"}) for at in (base, range_.head))
    return drifting.compared(args, *(pin.answering(side, engine) for side in sides))
