"""What the stream that we write to can show: how wide, in colour or not, beyond ASCII or not."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple, TextIO

WIDTH = 100
"""Columns where nobody says: files, pipes."""

DIGITS = 4
"""Digits of a width that can be meant."""


class Terminal(NamedTuple):
    """A stream's manners."""

    width: int
    color: bool
    unicode: bool


PLAIN = Terminal(WIDTH, color=False, unicode=True)
"""A file's."""


def terminal(stream: TextIO, env: Mapping[str, str] = os.environ) -> Terminal:
    """The manners of `stream`: COLUMNS, NO_COLOR, TERM and the locale decide before the device does."""
    plain = bool(env.get("NO_COLOR")) or env.get("TERM") == "dumb"
    return Terminal(
        width=_width(stream, env),
        color=stream.isatty() and not plain,
        unicode=_speaks_unicode(stream) and not _plain_locale(env),
    )


def _width(stream: TextIO, env: Mapping[str, str]) -> int:
    columns = env.get("COLUMNS", "")
    if columns.isdecimal() and len(columns) <= DIGITS and int(columns) > 0:
        return int(columns)
    try:
        return os.get_terminal_size(stream.fileno()).columns or WIDTH
    except (OSError, ValueError):
        return WIDTH


def _speaks_unicode(stream: TextIO) -> bool:
    return (stream.encoding or "ascii").lower().replace("-", "").startswith("utf")


def _plain_locale(env: Mapping[str, str]) -> bool:
    """Whether the user asked for the C locale.

    Python itself sets LC_CTYPE=C.UTF-8 under LANG=C (PEP 538), so that value says nothing about the user.
    """
    kind = env.get("LC_CTYPE", "")
    names = (env.get("LC_ALL"), "" if kind.upper().startswith("C.UTF") else kind, env.get("LANG"))
    return next((name for name in names if name), "") in ("C", "POSIX")
