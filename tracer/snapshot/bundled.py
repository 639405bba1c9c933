"""The snapshots that qtrace brings: releases that can be asked about with nothing else at hand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path

from packaging.version import InvalidVersion, Version

from .file import Snapshot

SUFFIX = ".snapshot"


@cache
def bundled(engine: str) -> Mapping[Version, Path]:
    """The snapshots of an engine, the newest release first."""
    folder = Path(str(files(__package__.partition(".")[0]).joinpath("snapshots", "chains")))
    found = {}
    for path in folder.glob(f"{engine}-*{SUFFIX}"):
        try:
            found[Version(path.name.removeprefix(f"{engine}-").removesuffix(SUFFIX))] = path
        except InvalidVersion:
            continue
    return dict(sorted(found.items(), reverse=True))


def naming(flag: str, engine: str) -> Iterator[Version]:
    """The bundled releases whose `--quantization` has that name, the oldest first."""
    for version, path in sorted(bundled(engine).items()):
        if flag in Snapshot(path).header.knows.flags:
            yield version
