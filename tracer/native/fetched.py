"""The repositories that a build takes code from, at which revision: CMake's FetchContent."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ...report.fetched import Fetched
from ...report.predicate import Site
from .gencode_lists import keyworded
from .gencode_text import Block, Body, Command, UnreadableError, tree

if TYPE_CHECKING:
    from ..sources import Source

_FETCHES = ("fetchcontent_declare", "fetchcontent_populate", "externalproject_add")
_KEYWORD = re.compile(r"[A-Z][A-Z_]+")
_VARIABLE = re.compile(r"\$\{(\w+)\}")
Set = tuple[str, int]
"""A value that a variable is set to, and the line."""


def fetched(source: Source) -> tuple[Fetched, ...]:
    """What the release's build fetches, by file and line; what names no one revision is left out."""
    paths = ("CMakeLists.txt", *source.files("cmake/", ".cmake"))
    return tuple(dict.fromkeys(one for path in paths for one in _of_file(path, source.text(path) or "")))


def _of_file(path: str, text: str) -> Iterator[Fetched]:
    try:
        commands = list(_commands(tree(text)))
    except UnreadableError:
        return
    values: dict[str, set[Set]] = {}
    for command in commands:
        if command.name == "set" and command.words:
            given = ";".join(word.text for word in command.words[1:])
            values.setdefault(command.words[0].text, set()).add((given, command.line))
    for command in commands:
        if command.name in _FETCHES and command.words:
            yield from _told(path, command, values)


def _commands(body: Body) -> Iterator[Command]:
    for node in body:
        if isinstance(node, Block):
            for _, inner in node.arms:
                yield from _commands(inner)
        else:
            yield node


def _told(path: str, command: Command, values: Mapping[str, set[Set]]) -> Iterator[Fetched]:
    name, *words = (word.text for word in command.words)
    given = keyworded(words, set(filter(_KEYWORD.fullmatch, words)))
    repository, revision = (given.get(key, []) for key in ("GIT_REPOSITORY", "GIT_TAG"))
    if len(repository) == len(revision) == 1:
        address = _value(repository[0], command.line, values)
        tag = _value(revision[0], command.line, values)
        if address is not None and tag is not None:
            yield Fetched(name=name, repository=address[0], revision=tag[0], site=Site(path, tag[1]))


def _value(word: str, line: int, values: Mapping[str, set[Set]]) -> Set | None:
    """What a word comes to, and where it is written; None where a variable may be more than one value."""
    variable = _VARIABLE.fullmatch(word)
    if variable is None:
        return None if "$" in word else (word, line)
    known = values.get(variable[1], set())
    value = next(iter(known)) if len(known) == 1 else None
    # What has more words may be set from outside (CACHE), or is a list.
    return None if value is None or "$" in value[0] or ";" in value[0] else value
