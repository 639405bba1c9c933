"""The options by which a command is told which source of an engine to read, and how they are carried out."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from .progress import written_over

if TYPE_CHECKING:
    from ..tracer.answers import Answers
    from ..tracer.pins.code import LibraryCode
    from ..tracer.pins.talk import Talk
    from ..tracer.sources import Source

ENGINES = ("vllm",)
PIN = (
    "the engine's source: installed, a version (0.33), latest, a commit, a directory, an sdist or a wheel, "
    "REPOSITORY@REV, git+URL@REV (default: installed, else the newest release that qtrace brings)"
)
CELLS = 30
"""How long the bar is."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add `--at`, `--python` and `--offline`."""
    parser.add_argument_group("source").add_argument("--at", metavar="PIN", help=PIN)
    configure_ways(parser)


def configure_ways(parser: argparse.ArgumentParser) -> None:
    """Add `--python` and `--offline`."""
    group = parser.add_argument_group("how a source is brought")
    group.add_argument(
        "--python", metavar="EXE", help="the interpreter whose installed engine is read; never imported"
    )
    group.add_argument("--offline", action="store_true", help="fetch nothing; what is in the cache is used")


def answering(args: argparse.Namespace, engine: str, talk: Talk | None = None) -> Answers:
    """Who answers for the release that the options name; what is said on the way goes to `talk`."""
    from ..tracer.pins.answering import answering

    return answering(args.at, engine, args.python, args.offline, talk or Stderr())


def codes(args: argparse.Namespace, answers: Answers) -> tuple[LibraryCode, ...]:
    """The sources of libraries that the options name."""
    if not args.libraries:
        return ()
    from ..tracer.pins.code import library_code

    return tuple(library_code(text, answers.fetched, args.offline, Stderr()) for text in args.libraries)


def nearby(answers: Answers) -> Answers:
    """The same answers, those from a snapshot that qtrace brings that hold for the release."""
    from ..tracer.pins.answering import nearby

    return nearby(answers, Stderr())


def opened(args: argparse.Namespace, engine: str) -> Source:
    """The source that the options name."""
    from ..tracer.pins.opening import open_pin

    return open_pin(args.at, engine, args.python, args.offline, Stderr())


class Stderr:
    """Talk for people: lines on stderr, and a bar where that is a terminal."""

    def say(self, line: str) -> None:
        print(f"qtrace: {line}", file=sys.stderr)

    @contextmanager
    def bar(self, name: str, total: int | None) -> Iterator[Callable[[int], None]]:
        """A line that is written over as it grows, and gone at the end."""
        shown = -1
        with written_over() as write:

            def tell(done: int) -> None:
                nonlocal shown
                step = done * 100 // total if total else done >> 20
                if step != shown:
                    shown = step
                    write(line(name, done, total))

            yield tell


def line(name: str, done: int, total: int | None) -> str:
    """How far a download is: `vllm-0.33.0.tar.gz [########......] 12.3 of 44.9 MiB`."""
    if not total:
        return f"{name} {done / 2**20:.1f} MiB"
    full = min(CELLS, done * CELLS // total)
    return f"{name} [{'#' * full}{'.' * (CELLS - full)}] {done / 2**20:.1f} of {total / 2**20:.1f} MiB"
