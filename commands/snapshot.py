"""Record what a pin answers over the standard grid, or hold a recorded file against its source.

qtrace snapshot build --at 0.33.0 vllm-0.33.0.snapshot
qtrace snapshot verify --at 0.33.0 vllm-0.33.0.snapshot
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ..report.errors import UsageError
from ..report.exits import Exit
from . import pin
from .progress import written_over

if TYPE_CHECKING:
    from ..tracer.snapshot.file import Snapshot
    from ..tracer.sources import Source


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=("build", "verify"), help="write a file, or check one")
    parser.add_argument("file", metavar="FILE", type=Path, help="the snapshot")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes (default: 1)")
    parser.add_argument(
        "--every", type=int, default=1, metavar="N", help="verify each Nth record alone (default: all)"
    )
    pin.configure(parser)


def run(args: argparse.Namespace) -> int:
    if args.jobs < 1 or args.every < 1:
        raise UsageError("--jobs and --every take a positive number")
    source = pin.opened(args, "vllm")
    build = args.what == "build"
    return _build(source, args.file, args.jobs) if build else _verify(source, args.file, args.every)


def _build(source: Source, path: Path, jobs: int) -> int:
    from ..tracer.snapshot.build import build

    with written_over() as write:
        size = build(
            source, path, lambda *done: write("{} groups of questions, {} records".format(*done)), jobs
        )
    _say(f"wrote {path}: {size / 2**20:.2f} MiB")
    return Exit.OK


def _verify(source: Source, path: Path, every: int) -> int:
    from ..tracer.library import Library
    from ..tracer.snapshot.file import Snapshot
    from ..tracer.snapshot.verify import differing, differing_facts, differing_operators

    snapshot = Snapshot(path)
    _same_pin(snapshot, source)
    library = Library(source)
    facts = list(differing_facts(snapshot, library))
    for fact in facts:
        print(f"differs: {fact}")
    if facts:
        return Exit.FINDINGS
    asked, found = 0, 0
    for scenario, differs in differing(snapshot, library, every):
        asked, found = asked + 1, found + differs
        if differs:
            print(f"differs: {scenario}")
    print(f"{asked} of {len(snapshot)} records asked of the source again, {found} differ")
    for build, symbol in differing_operators(snapshot, source):
        found += 1
        print(f"differs: what {symbol} launches in a build for {build.platform}")
    return Exit.FINDINGS if found else Exit.OK


def _same_pin(snapshot: Snapshot, source: Source) -> None:
    if snapshot.pin != source.pin():
        raise UsageError(f"the snapshot is of {snapshot.pin}, the source is {source.pin()}: other files")


def _say(line: str) -> None:
    print(f"qtrace: {line}", file=sys.stderr)
