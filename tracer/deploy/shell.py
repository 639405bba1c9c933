"""Launch lines in shell text: scripts, Dockerfiles, the strings that `sh -c` is given. Nothing is run."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from .found import SERVER, UNKNOWN, Found, known, release_of, serves, starts

ASSIGNED = re.compile(
    r"\s*(?P<how>export\s+|ENV\s+|ARG\s+|readonly\s+|local\s+)?(?P<name>[A-Za-z_]\w*)[= ](?P<value>.*)"
)
VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)(?::?-([^}]*))?\})")
REDIRECT = re.compile(r"(?:^|\s)(?:\d?>>?|&>>?|<)\s*(?:&\d|[^\s;|&]+)")
INSTRUCTION = re.compile(r"\s*(?:CMD|ENTRYPOINT|RUN)\s+")
FROM = re.compile(r"\s*FROM\s+(?:--\S+\s+)?(\S+)")
LISTED = re.compile(r"\s*(?:CMD|ENTRYPOINT)\s*(\[.*\])\s*$")
OPERATORS = set("();<>|&")
PROGRAM = re.compile(r"(?:.*/)?(?:docker|podman|nerdctl)")
RUNS = {"run", "create"}
QUIET = {"echo", "printf", "grep", "pgrep", "pkill"}
"""Commands that name a server and start none."""
SHELLS = ("sh", "bash", "/bin/sh", "/bin/bash")


class Set:
    """What a file assigned so far."""

    def __init__(self) -> None:
        self.values: dict[str, str | None] = {}
        """None where it is assigned more than once, to different values."""
        self.exported: dict[str, str] = {}
        self.base = ""
        """The image that a Dockerfile begins with."""


def launches(text: str, first: int = 1) -> Iterator[Found]:
    """Every start of an engine, in order; `first` is the line on which the text begins."""
    known_here = Set()
    for line, logical in _logical(text, first):
        if (base := FROM.match(logical)) is not None:
            known_here.base = base[1]
        _assign(logical, known_here)
        if "vllm" in logical or (serves(known_here.base) and LISTED.match(logical)):
            yield from _of_line(line, logical, known_here)


def _logical(text: str, first: int) -> Iterator[tuple[int, str]]:
    """Lines with those that continue them, each with the number of its first."""
    start, held = first, ""
    for number, line in enumerate(text.splitlines(), first):
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


def _assign(line: str, known_here: Set) -> None:
    found = ASSIGNED.fullmatch(line)
    if found is None or (" " in line[: found.start("value")].strip() and not found["how"]):
        return
    words = _words(found["value"])
    if words is None or len(words) > 1:
        return  # `NAME=value command`, or a value made of several
    value = _replaced(words[0] if words else "", known_here.values)
    name = found["name"]
    if known_here.values.get(name, value) != value:
        known_here.values[name] = None
    else:
        known_here.values[name] = value
    if found["how"] and found["how"].split()[0] in ("export", "ENV"):
        known_here.exported[name] = "?" if UNKNOWN.search(value) else value


def _of_line(line: int, logical: str, known_here: Set) -> Iterator[Found]:
    listed = LISTED.fullmatch(logical)
    if listed is not None:
        words = re.findall(r'"((?:[^"\\]|\\.)*)"', listed[1])
        served = serves(known_here.base) and words[:1] and words[0].startswith("-")
        yield from _commands(line, [["vllm", "serve", *words] if served else words], known_here)
        return
    text = REDIRECT.sub(" ", logical)
    instruction = INSTRUCTION.match(text)
    found = _words(text[instruction.end() :] if instruction else text, operators=True)
    yield from _commands(line, _split(found or []), known_here)


def _commands(line: int, commands: Sequence[Sequence[str]], known_here: Set) -> Iterator[Found]:
    for words in commands:
        nested = _script(words)
        if nested is not None:
            yield from (found._replace(line=line) for found in launches(nested, line))
            continue
        replaced = [_replaced(word, known_here.values) for word in words]
        found = start(line, replaced, known_here.exported)
        if found is not None:
            yield found if found.release else found._replace(release=release_of(known_here.base))


def start(line: int, words: Sequence[str], environment: Mapping[str, str]) -> Found | None:
    """The start of an engine that these words are, if they are one."""
    if any(word in QUIET for word in words):
        return None
    own = dict(environment)
    at = starts(words)
    if at is not None:
        for word in words[: at[0]]:
            name, assigned, value = word.partition("=")
            if assigned and name.isidentifier():
                own[name] = "?" if UNKNOWN.search(value) else value
        whole, unsaid = known(words[at[0] :])
        return Found(line, whole, own, None, unsaid)
    image = next((n for n, word in enumerate(words) if serves(word)), None)
    before = words[: image or 0]
    if image is None or not any(map(PROGRAM.fullmatch, before)) or not RUNS & set(before):
        return None
    own = dict(_given(words[:image]))  # a container has no other
    whole, unsaid = known(("vllm", "serve", *words[image + 1 :]))
    return Found(line, whole, own, release_of(words[image]), unsaid)


def _given(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The environment that a container is given: `-e NAME=VALUE`."""
    for before, word in pairwise(("", *words)):
        given = word if before in ("-e", "--env") else word.partition("--env=")[2]
        name, assigned, value = given.partition("=")
        if assigned:
            yield name, "?" if UNKNOWN.search(value) else value


def _script(words: Sequence[str]) -> str | None:
    """What `sh -c` is given."""
    for number, word in enumerate(words[:-2]):
        if word in SHELLS and re.fullmatch(r"-\w*c", words[number + 1]) and SERVES.search(words[number + 2]):
            return words[number + 2]
    return None


SERVES = re.compile(rf"\bvllm\s+serve\b|{SERVER.pattern}")


def words(text: str) -> list[str]:
    """The words of a command."""
    return _words(text) or []


def _words(text: str, operators: bool = False) -> list[str] | None:
    """The words of a line; None where its quotes do not close."""
    lexer = shlex.shlex(text, posix=True, punctuation_chars=operators)
    lexer.whitespace_split = True
    lexer.commenters = "#"
    try:
        return list(lexer)
    except ValueError:
        return None


def _split(words: Sequence[str]) -> list[list[str]]:
    """Commands between operators."""
    out: list[list[str]] = [[]]
    for word in words:
        if word and set(word) <= OPERATORS:
            out.append([])
        else:
            out[-1].append(word)
    return out


def _replaced(word: str, values: Mapping[str, str | None]) -> str:
    """A word with the variables that the file assigns; one that it does not stays, but for its default."""

    def value(found: re.Match[str]) -> str:
        known_value = values.get(found[1] or found[2])
        if known_value is not None:
            return known_value
        return found[0] if found[3] is None or (found[2] in values) else found[3]

    return VARIABLE.sub(value, word)
