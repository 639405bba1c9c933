"""List what qtrace brings, the pins that have a name, what is in the cache, and what is installed.

QTRACE_CACHE names the folder of the cache and of the facts; what is in it may be deleted at any time.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..report.exits import Exit
from .pin import ENGINES, Stderr

if TYPE_CHECKING:
    from ..tracer.kept.store import Store
    from ..tracer.pins.cache import Cache

Row = tuple[str, str, str]


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("engine", metavar="ENGINE", nargs="?", default="vllm", choices=ENGINES, help="vllm")
    parser.add_argument("--python", metavar="EXE", help="the interpreter whose installed engine is told")


def run(args: argparse.Namespace) -> int:
    from ..tracer.kept.store import Store
    from ..tracer.pins.cache import Cache, folder

    cache = Cache(folder(), Stderr())
    _print("bundled with qtrace", _bundled(args.engine))
    _print("named", _named(args.engine, cache))
    _print(f"cached in {cache.root}", _cached(cache))
    store = Store()
    _print(f"facts kept in {store.root}", _facts(store))
    _print("installed", _installed(args.engine, args.python))
    return Exit.OK


def _print(title: str, rows: Iterator[Row]) -> None:
    """A part of the list; `(nothing)` where it has no row."""
    print(title)
    lines = [f"  {name:<20} {what:<24} {where}".rstrip() for name, what, where in rows]
    print("\n".join(lines or ["  (nothing)"]))


def _bundled(engine: str) -> Iterator[Row]:
    """The releases that questions are answered for with nothing else at hand."""
    from ..tracer.snapshot.bundled import bundled
    from ..tracer.snapshot.file import Snapshot

    for version, path in sorted(bundled(engine).items()):
        told = Snapshot(path)
        yield (
            str(version),
            f"python {told.pin.python_hash[:12]}",
            f"{len(told):,} records, {_size(path.stat().st_size)}",
        )


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB"


def _named(engine: str, cache: Cache) -> Iterator[Row]:
    from ..tracer.pins.named import named

    table = named(engine)
    for release in table.releases:
        at_hand = "in the cache" if cache.has(release.sha256) else "from the package index"
        yield release.version, f"sha256 {release.sha256[:12]}", f"{release.date}  {at_hand}"
    for commit in table.commits:
        at_hand = "in the cache" if cache.repository(commit.hash) else f"git+{table.repository}@{commit.hash}"
        yield commit.hash[:12], "commit", f"{commit.date}  {at_hand}"


def _cached(cache: Cache) -> Iterator[Row]:
    """Archives and repositories, by the names that they were asked for with."""
    for kept in sorted(cache.names(), key=lambda row: row.name):
        if (size := cache.size(kept.key)) is not None:
            yield kept.name, kept.key[:12], _size(size)


def _facts(store: Store) -> Iterator[Row]:
    """What was read of sources, so that another process need not read it again."""
    count, size = store.size()
    if count:
        yield _size(size), f"{count:,} file(s)", ""


def _installed(engine: str, python: str | None) -> Iterator[Row]:
    from ..tracer.pins.installed import installation
    from ..tracer.pins.interpreter import search_path

    found = installation(engine, search_path(python))
    if found is not None:
        yield found.distribution, found.version, str(found.root)
