"""The launch lines of a repository at a revision: read from its objects, nothing of it is run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from ..pins.repository import files_at
from . import dockerfile, documents, shell
from .found import Found

READERS: tuple[tuple[re.Pattern[str], Callable[[str], Iterator[Found]]], ...] = (
    (re.compile(r".*\.(?:sh|bash|zsh|ksh|service)"), shell.launches),
    (re.compile(r"(?:.*[.-])?(?:Dockerfile|Containerfile)(?:[.-].*)?", re.I), dockerfile.launches),
    (re.compile(r".*\.(?:ya?ml|yaml\.tpl|tpl)"), documents.launches),
)
"""By the name of a file, what reads it."""
LIMIT = 1 << 20
"""Bytes of a file that somebody wrote by hand."""
SIGN = b"vllm"


class Starts(NamedTuple):
    """What starts an engine at a revision."""

    files: int
    starts: Mapping[str, list[Found]]
    """By path, in order."""
    unread: tuple[str, ...]


def starts_at(repository: Path, revision: str) -> Starts:
    """Read every file that may hold a launch line."""
    files = files_at(repository, revision, lambda name: reader(name) is not None)
    starts: dict[str, list[Found]] = {}
    unread = []
    for path, content in files.items():
        try:
            found = _found(path, content)
        except documents.NotYamlError as problem:
            unread.append(f"{path}: {problem}")
            continue
        if found:
            starts[path] = found
    return Starts(len(files), starts, tuple(unread))


def reader(name: str) -> Callable[[str], Iterator[Found]] | None:
    """What reads a file of that name; None for one that starts nothing."""
    base = PurePosixPath(name).name
    return next((read for pattern, read in READERS if pattern.fullmatch(base)), None)


def _found(path: str, content: bytes) -> list[Found]:
    read = reader(path)
    if read is None or len(content) > LIMIT or SIGN not in content.lower():
        return []
    return list(read(content.decode("utf-8", "replace")))
