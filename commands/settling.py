"""What of a launch line its file says, and whether the answer hangs on the rest."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ..report.errors import UsageError
from .launch import USED

if TYPE_CHECKING:
    from ..tracer.deploy.found import Word
    from ..tracer.engines.command_line import Option

MODEL = re.compile(r"^\$\{?\w*(?:MODEL|REPO|CHECKPOINT|WEIGHTS)\w*\}?$", re.I)
"""A variable that by its name is one model."""
EVERY = re.compile(r"\$[@*]|\[[@*]\]|\$TEMPLATE$")
"""What may be any number of arguments."""


class UnsaidError(UsageError):
    """The answer hangs on what a file does not say."""


def settled(words: Sequence[Word], options: Mapping[str, Option]) -> tuple[list[str], dict[str, str]]:
    """The words that the file says, and the options whose value it does not, with their fields; UnsaidError
    where the answer hangs on what is not said.
    """
    out: list[str] = []
    unsaid: dict[str, str] = {}
    for word in words:
        before = out[-1] if out else ""
        if word.text.partition("=")[0] == "--config":
            raise UnsaidError("the answer hangs on the file that --config names, which is not read")
        if word.known:
            out.append(word.text)
        elif (
            before == "serve" and not word.text.startswith("-") and (not word.many or MODEL.search(word.text))
        ):
            out.append(word.text)  # a model that is named elsewhere is still one
        else:
            name, pair = _option_of(before, word, options)
            field = options[name].dest if name in options else ""
            if field == "model" and name == before:
                out.append(word.text)
                continue
            if not field or field in USED or EVERY.search(word.text):
                raise UnsaidError(f"the answer hangs on {pair}, which the file does not say")
            unsaid[name] = field
            if name == before:
                out.pop()
    return out, unsaid


def _option_of(before: str, word: Word, options: Mapping[str, Option]) -> tuple[str, str]:
    """The option that a word which is not said is the value of, and both as they stand; none where it may be
    anything.
    """
    name, assigned, _ = word.text.partition("=")
    if word.text.startswith("-"):
        return (name if assigned else ""), word.text
    takes = before in options and options[before].nargs != 0
    return (before, f"{before} {word.text}") if takes else ("", word.text)
