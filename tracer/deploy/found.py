"""What starts an engine, as it stands in a file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import PurePosixPath
from typing import NamedTuple

IMAGE = re.compile(r"(?:^|/)vllm-openai[\w.-]*(?::v?(?P<tag>[\w.${}():-]+))?(?:@sha256:[0-9a-f]+)?$")
"""An image whose entry point is the engine's server."""
RELEASE = re.compile(r"\d+\.\d+(?:\.\d+)?(?:\.?(?:rc|post)\d+)?")
SERVER = re.compile(r"vllm\.entrypoints\.(?:openai\.api_server|cli\.main|launchers\.api_server\.entry)")
SERVES = re.compile(rf"\bvllm\s+serve\b|{SERVER.pattern}")
PYTHON = re.compile(r"python[\d.]*")
UNKNOWN = "?"
"""The value of a variable that is set, to what the file does not say."""


class Word(NamedTuple):
    """One word of a command."""

    text: str
    known: bool = True
    """Whether the file says it; else `text` is how it is written."""
    many: bool = False
    """Whether it may be any number of words."""


class Found(NamedTuple):
    """One start of an engine."""

    line: int
    words: tuple[Word, ...]
    """Program and arguments."""
    environment: Mapping[str, str]
    """What the file sets; `?` where it does not say to what."""
    release: str | None = None
    """The release that an image's tag names."""
    notes: tuple[str, ...] = ()
    """What else may set the environment: `env_file .env`."""

    @property
    def unsaid(self) -> tuple[str, ...]:
        """What of the line the file does not say: `--quantization $METHOD`."""
        out = []
        for before, word in pairwise((Word(""), *self.words)):
            if not word.known:
                flag = before.text.startswith("-") and not word.text.startswith("-")
                out.append(f"{before.text} {word.text}" if flag else word.text)
        return tuple(out)


def words_of(texts: Sequence[str]) -> tuple[Word, ...]:
    """Words that are what they are."""
    return tuple(map(Word, texts))


SERVE = words_of(("vllm", "serve"))


def starts(words: Sequence[Word]) -> int | None:
    """Where the program of a server stands; None where the words start none."""
    for number, word in enumerate(words):
        after = words[number + 1].text if number + 1 < len(words) else ""
        if PurePosixPath(word.text).name == "vllm" and after == "serve":
            return number
        if SERVER.fullmatch(word.text) and number >= 2 and words[number - 1].text == "-m":
            return _python(words, number - 2)
    return None


def _python(words: Sequence[Word], number: int) -> int | None:
    """The interpreter before its options."""
    while number > 0 and words[number].text.startswith("-"):
        number -= 1
    return number if PYTHON.fullmatch(PurePosixPath(words[number].text).name) else None


def release_of(image: str) -> str | None:
    """The release that an image's tag names: `vllm/vllm-openai:v0.26.0`."""
    found = IMAGE.search(image)
    tag = found["tag"] if found else None
    named = RELEASE.match(tag) if tag else None
    return named[0] if named else None


def serves(image: str) -> bool:
    """Whether an image starts the engine's server with what it is given."""
    return IMAGE.search(image) is not None
