"""What starts an engine, as it stands in a file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

IMAGE = re.compile(r"(?:^|/)vllm-openai[\w.-]*(?::v?(?P<tag>[\w.-]+))?(?:@sha256:[0-9a-f]+)?$")
"""An image whose entry point is the engine's server."""
RELEASE = re.compile(r"\d+\.\d+(?:\.\d+)?(?:\.?(?:rc|post)\d+)?")
SERVER = re.compile(r"vllm\.entrypoints\.(?:openai\.api_server|cli\.main|launchers\.api_server\.entry)")
UNKNOWN = re.compile(r"\$[A-Za-z_{(@*#0-9]|`")
"""What a shell puts a value in the place of."""


class Found(NamedTuple):
    """One start of an engine."""

    line: int
    words: tuple[str, ...]
    """The line as words, without those whose value the file does not say."""
    environment: Mapping[str, str]
    """What the file sets; `?` where it does not say to what."""
    release: str | None = None
    """The release that an image's tag names."""
    unsaid: tuple[str, ...] = ()
    """What was left out: `--quantization $METHOD`."""


def starts(words: Sequence[str]) -> tuple[int, int] | None:
    """Where the program of a server begins, and its arguments; None where the words start none."""
    for number, word in enumerate(words):
        after = words[number + 1 : number + 2]
        if PurePosixPath(word).name == "vllm" and after == ["serve"]:
            return number, number + 2
        if SERVER.fullmatch(word) and number >= 2 and words[number - 1] == "-m":
            served = word.endswith("cli.main") and after == ["serve"]
            return number - 2, number + (2 if served else 1)
    return None


def release_of(image: str) -> str | None:
    """The release that an image's tag names: `vllm/vllm-openai:v0.26.0`."""
    found = IMAGE.search(image)
    tag = found["tag"] if found else None
    named = RELEASE.match(tag) if tag else None
    return named[0] if named else None


def serves(image: str) -> bool:
    """Whether an image starts the engine's server with what it is given."""
    return IMAGE.search(image) is not None


def known(words: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words whose values are there, and what was left out because one is not."""
    out: list[str] = []
    unsaid: list[str] = []
    for word in words:
        if not UNKNOWN.search(word):
            out.append(word)
            continue
        before = out[-1] if out else ""
        if before == "serve" and not word.startswith("-"):
            out.append(word)  # a model that is named elsewhere is still one
        elif before.startswith("-") and "=" not in before and not word.startswith("-"):
            unsaid.append(f"{out.pop()} {word}")
        else:
            unsaid.append(word)
    return tuple(out), tuple(unsaid)
