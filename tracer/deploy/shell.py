"""Launch lines in shell text: scripts, Dockerfiles, the strings that `sh -c` is given. Nothing is run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import PurePosixPath

from .found import SERVE, SERVES, UNKNOWN, Found, Word, release_of, serves, starts
from .scanner import LONGEST, Part, Scanner
from .variables import Variables

SHELLS = {"sh", "bash", "zsh", "ash", "dash"}
PROGRAMS = {"docker", "podman", "nerdctl"}
RUNS = {"run", "create"}
QUIET = {"echo", "printf", "grep", "pgrep", "pkill"}
"""Commands that name a server and start none."""


def launches(
    text: str, first: int = 1, environment: Mapping[str, str] | None = None, image: str = ""
) -> Iterator[Found]:
    """Every start of an engine, in order; `first` is the line on which the text begins, `environment` what is
    set around it, `image` what it runs in.
    """
    variables = Variables(text, dict(environment or {}))
    for line, logical in joined(text, first):
        variables.at(logical)
        if "vllm" in logical or "$" in logical:
            for found in of_line(line, logical, variables):
                yield found if found.release else found._replace(release=release_of(image))


def joined(text: str, first: int = 1) -> Iterator[tuple[int, str]]:
    """Lines with those that continue them, each with the number of its first."""
    start, held = first, ""
    for number, line in enumerate(text.split("\n"), first):
        start = start if held else number
        bare = line.rstrip()
        if held and bare.lstrip().startswith("#"):
            continue  # a comment within a continued line
        if bare.endswith("\\"):
            held += f"{bare[:-1]} "
            continue
        yield start, held + line
        held = ""
    if held:
        yield start, held


def of_line(line: int, logical: str, variables: Variables) -> Iterator[Found]:
    """The starts of one line."""
    for command in Scanner(logical, variables.value).read():
        words = split(command)
        nested = script(words)
        if nested is not None:
            own = {**variables.exported, **_assigned(words)}
            inside = launches(nested, line, own, _image(words))
            yield from (found._replace(line=line) for found in inside)
        elif (found := start(line, words, variables.exported)) is not None:
            yield found


def split(command: Sequence[Sequence[Part]]) -> list[Word]:
    """Words as the shell makes them: a value that is not quoted is as many words as it has."""
    out: list[Word] = []
    for parts in command:
        if all(part.known for part in parts):
            whole = "".join(part.text for part in parts)
            bare = not any(part.quoted for part in parts)
            texts = whole.split() if bare else [whole]
            out += (Word(text) for text in texts)
        else:
            text = "".join(part.text for part in parts)[:LONGEST]
            out.append(Word(text, known=False, many=not all(part.known or part.quoted for part in parts)))
    return out


def split_with(text: str, variables: Variables) -> list[Word]:
    """The words of a text in which variables stand."""
    return [word for command in Scanner(text, variables.value).read() for word in split(command)]


def words(text: str, environment: Mapping[str, str] | None = None) -> list[Word]:
    """The words of a command that no shell reads: line ends are blanks."""
    return split_with(text.replace("\n", " "), Variables("", dict(environment or {})))


def start(line: int, words: Sequence[Word], environment: Mapping[str, str]) -> Found | None:
    """The start of an engine that these words are, if they are one."""
    if any(word.text in QUIET for word in words):
        return None
    at = starts(words)
    container = _container(words)
    if container is not None and (at is None or container < at):
        return _contained(line, words, container)
    if at is None:
        return None
    own = {**environment, **_assigned(words[:at])}
    return Found(line, tuple(words[at:]), own)


def _assigned(words: Sequence[Word]) -> dict[str, str]:
    """`NAME=VALUE` before a program, and what `env -u` takes away."""
    out: dict[str, str] = {}
    for before, word in pairwise((Word(""), *words)):
        name, assigned, value = word.text.partition("=")
        if assigned and name.isidentifier():
            out[name] = value if word.known else UNKNOWN
        elif before.text in ("-u", "--unset") and word.text.isidentifier():
            out[word.text] = UNKNOWN
    return out


def _container(words: Sequence[Word]) -> int | None:
    """Where the image of a container that is run stands."""
    texts = [PurePosixPath(word.text).name for word in words]
    program = next((n for n, text in enumerate(texts) if text in PROGRAMS), None)
    if program is None or not RUNS & set(texts[program:]):
        return None
    return next((n for n, word in enumerate(words) if n > program and serves(word.text)), None)


def _contained(line: int, words: Sequence[Word], at: int) -> Found | None:
    """What a container starts; it has no other environment than it is given."""
    before, image, after = words[:at], words[at].text, tuple(words[at + 1 :])
    own = dict(_given(before))
    notes = tuple(f"{one.text} {two.text}" for one, two in pairwise(before) if one.text == "--env-file")
    notes += tuple(word.text for word in before if word.text.startswith("--env-file="))
    entry = next((two for one, two in pairwise(before) if one.text == "--entrypoint"), None)
    entry = entry or next((_value(w) for w in before if w.text.startswith("--entrypoint=")), None)
    whole = (entry, *after) if entry is not None else after if starts(after) == 0 else (*SERVE, *after)
    nested = script(whole)
    if nested is not None:
        found = next(launches(nested, line, own, image), None)
        return None if found is None else found._replace(line=line, notes=notes)
    program = starts(whole)
    if program is None:
        return None
    own |= _assigned(whole[:program])
    return Found(line, tuple(whole[program:]), own, release_of(image), notes)


def _value(word: Word) -> Word:
    return word._replace(text=word.text.partition("=")[2])


def _given(words: Sequence[Word]) -> Iterator[tuple[str, str]]:
    """The environment that a container is given: `-e NAME=VALUE`, `-e NAME`, `--env=NAME=VALUE`."""
    for before, word in pairwise((Word(""), *words)):
        text = word.text.partition("--env=")[2] if word.text.startswith("--env=") else word.text
        if before.text in ("-e", "--env") or text != word.text:
            name, assigned, value = text.partition("=")
            yield name, value if assigned and word.known else UNKNOWN


def _image(words: Sequence[Word]) -> str:
    at = _container(words)
    return "" if at is None else words[at].text


def script(words: Sequence[Word]) -> str | None:
    """What `sh -c` is given."""
    for number, word in enumerate(words[:-2]):
        flag, text = words[number + 1].text, words[number + 2].text
        shell = PurePosixPath(word.text).name in SHELLS and re.fullmatch(r"-\w*c", flag)
        if shell and SERVES.search(text):
            return text
    return None
