"""The launch lines of a repository at a revision: read from its objects, nothing of it is run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from ..pins.repository import files_at
from . import documents, shell
from .found import Found

SHELL = re.compile(r".*\.(?:sh|bash|zsh|ksh)|(?:.*\.)?(?:Dockerfile|Containerfile)(?:\..*)?|Makefile")
YAML = re.compile(r".*\.(?:ya?ml|yaml\.tpl|tpl)")
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
    files = files_at(repository, revision, lambda name: _reader(name) is not None)
    starts: dict[str, list[Found]] = {}
    unread = []
    for path, content in files.items():
        try:
            found = _found(path, content)
        except documents.NotYamlError as problem:
            if SIGN in content:
                unread.append(f"{path}: {problem}")
            continue
        if found:
            starts[path] = found
    return Starts(len(files), starts, tuple(unread))


def _reader(name: str) -> Callable[[str], Iterator[Found]] | None:
    base = PurePosixPath(name).name
    if SHELL.fullmatch(base):
        return shell.launches
    return documents.launches if YAML.fullmatch(base) else None


def _found(path: str, content: bytes) -> list[Found]:
    reader = _reader(path)
    if reader is None or len(content) > LIMIT:
        return []
    return list(reader(content.decode("utf-8", "replace")))
