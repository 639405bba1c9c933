"""Words from elsewhere made safe: Markdown and HTML show them as they are and find nothing in them.

Messages of the engine, conditions and names may hold anything that Markdown gives a meaning: pipes end a
cell, backticks begin code, `<` begins a tag, `@name` calls somebody and `#12` links to another thread.
"""

from __future__ import annotations

import re

from ..names import one_line

LONGEST = 1000
"""Characters of one text; the rest is counted."""

LIVE = re.compile(r"@|#\w|\$|://|www\.|:\w+:|^:\w|\bGH-\d|\b[0-9a-f]{7,40}\b", re.I)
"""What GitHub makes live in a word: mentions, threads, mathematics, addresses, commits, emoji; what begins
like one may be followed by a colon.
"""
ESCAPED = {
    "\\": "&#92;",
    "|": "&#124;",
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    **{mark: f"\\{mark}" for mark in "`*[]~"},
}
"""Entities where a backslash is not enough: how many of them count before a pipe, parsers disagree."""
EMPHASIS = re.compile(r"(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
"""Underscores that are not inside a word."""


def prose(text: str, longest: int = LONGEST) -> str:
    """`text` as a sentence on one line; a word that would become live is shown as code."""
    return " ".join(map(_word, _cut(text, longest).split()))


def code(text: str) -> str:
    """`text` as code on one line: between backticks where that is safe in a table, else as an element."""
    text = _cut(text, LONGEST)
    if text and text.isascii() and text == text.strip() and not set(text) & {"`", "|"}:
        return f"`{text}`"
    return _element(text)


def summary(text: str) -> str:
    """`text` between two HTML tags, where Markdown is not read but words become live all the same."""
    words = _cut(text, LONGEST).split()
    return " ".join(
        _element(word) if LIVE.search(word) else re.sub(r"[&<>]", _entity, word) for word in words
    )


def _word(word: str) -> str:
    if LIVE.search(word):
        return code(word)
    return EMPHASIS.sub(r"\\_", "".join(ESCAPED.get(c, c) for c in word))


def _element(text: str) -> str:
    return f"<code>{re.sub(r'[!-,:-@[-`{-~]', _entity, text)}</code>"


def _entity(found: re.Match[str]) -> str:
    return f"&#{ord(found[0])};"


def _cut(text: str, longest: int) -> str:
    """`text` on one line; what is too long ends in how much is missing."""
    text = one_line(text)
    more = len(text) - longest
    return text if more <= 0 else f"{text[:longest]}… ({more:,} more characters)"
