"""What the stages of a Dockerfile start: the last ENTRYPOINT and the last CMD together, in their image."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from . import shell
from .found import SERVE, Found, Word, release_of, serves, words_of
from .variables import Variables

INSTRUCTION = re.compile(r"\s*(FROM|ENTRYPOINT|CMD|ENV|ARG)\s+(.*)", re.I | re.S)
FROM = re.compile(r"(?:--\S+\s+)*(\S+)(?:\s+AS\s+(\S+))?\s*", re.I)


class Command(NamedTuple):
    """An ENTRYPOINT or a CMD."""

    line: int
    words: tuple[Word, ...] | None
    """None where a shell reads `text`."""
    text: str


class Stage(NamedTuple):
    """One stage so far."""

    image: str
    variables: Variables
    entry: Command | None = None
    command: Command | None = None


def launches(text: str) -> Iterator[Found]:
    """What each stage starts."""
    args = Variables("", {})
    stage = Stage("", args)
    named: dict[str, Stage] = {}
    for line, logical in shell.joined(text):
        found = INSTRUCTION.match(logical)
        if found is None:
            continue
        what, rest = found[1].upper(), found[2]
        if what == "FROM":
            yield from _started(stage)
            stage = _from(rest, args, named)
        elif what in ("ENV", "ARG"):
            stage.variables.at(f"{what} {rest}")
        elif what == "ENTRYPOINT":
            stage = stage._replace(entry=_command(line, rest), command=None)
        else:
            stage = stage._replace(command=_command(line, rest))
        _name(stage, logical, named)
    yield from _started(stage)


def _from(rest: str, args: Variables, named: dict[str, Stage]) -> Stage:
    """A stage begins: another's, or an image."""
    image = FROM.fullmatch(rest)
    base = "" if image is None else image[1]
    if base in named:
        before = named[base]
        return before._replace(variables=Variables("", dict(before.variables.exported)))
    words = shell.split_with(base, args)
    return Stage(words[0].text if len(words) == 1 and words[0].known else "", Variables("", {}))


def _name(stage: Stage, logical: str, named: dict[str, Stage]) -> None:
    """Keep a stage by its name, as it is by now."""
    found = INSTRUCTION.match(logical)
    alias = FROM.fullmatch(found[2]) if found is not None and found[1].upper() == "FROM" else None
    if alias is not None and alias[2]:
        named[alias[2]] = stage
        return
    for name, other in named.items():
        if other.variables is stage.variables:
            named[name] = stage


def _command(line: int, rest: str) -> Command:
    """A list of words, or a text for a shell."""
    try:
        words = json.loads(rest)
    except (ValueError, RecursionError):
        return Command(line, None, rest)
    told = isinstance(words, list) and all(isinstance(word, str) for word in words)
    return Command(line, words_of(words), rest) if told else Command(line, None, rest)


def _started(stage: Stage) -> Iterator[Found]:
    entry, command, own = stage.entry, stage.command, stage.variables.exported
    first = entry or command
    if first is None:
        return
    script = entry if entry is not None and entry.words is None else None
    if script is None and entry is None and command is not None and command.words is None:
        script = command
    if script is not None:
        found = shell.launches(script.text, script.line, dict(own), stage.image)
        yield from (each._replace(line=script.line) for each in found)
        return
    words = (
        entry.words if entry is not None and entry.words is not None else SERVE if serves(stage.image) else ()
    )
    rest = command.words if command is not None and command.words is not None else ()
    whole = (*words, *rest)
    nested = shell.script(whole)
    if nested is not None:
        yield from shell.launches(nested, first.line, dict(own), stage.image)
    elif (start := shell.start(first.line, whole, own)) is not None:
        yield start._replace(release=start.release or release_of(stage.image))
