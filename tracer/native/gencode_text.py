"""CMake text as a tree: commands with their lines and words, in the blocks that hold them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

DEPTH = 40
"""Blocks and calls within each other that are followed."""

_COMMAND = re.compile(r"^[ \t]*([A-Za-z_]\w*)[ \t]*\(|^[ \t]*#\[(=*)\[", re.M)
_WORD = re.compile(r'#\[(=*)\[|#[^\n]*|"((?:\\.|[^"\\])*)"|([()])|((?:\\.|[^\s()"#\\])+)', re.S)
_ENDS = {name: f"end{name}" for name in ("if", "foreach", "while", "function", "macro")}


class UnreadableError(Exception):
    """The text can't be followed: unbalanced, too deep or too long a run, or it goes where nobody knows."""


class Word(NamedTuple):
    """An argument as it is written: what is quoted is one word, whatever it holds."""

    text: str
    quoted: bool = False


class Command(NamedTuple):
    """One command, its name in lower case."""

    name: str
    words: tuple[Word, ...]
    line: int


class Block(NamedTuple):
    """A command that holds others: `if` has an arm for each condition, the rest have one."""

    arms: list[tuple[Command, list[Command | Block]]]

    @property
    def head(self) -> Command:
        """The command that opens it."""
        return self.arms[0][0]


Body = list[Command | Block]


def tree(text: str) -> Body:
    """Read CMake text; UnreadableError where its blocks or parentheses do not match."""
    whole: Body = []
    open_blocks: list[tuple[Block, Body]] = []
    body = whole
    for command in _commands(text):
        if command.name in _ENDS:
            block = Block([(command, [])])
            body.append(block)
            open_blocks.append((block, body))
            body = block.arms[0][1]
            if len(open_blocks) > DEPTH:
                raise UnreadableError(f"line {command.line}: blocks within blocks")
        elif command.name in ("elseif", "else") and open_blocks and open_blocks[-1][0].head.name == "if":
            body = []
            open_blocks[-1][0].arms.append((command, body))
        elif command.name in ("elseif", "else", *_ENDS.values()):
            if not open_blocks or _ENDS[open_blocks[-1][0].head.name] != command.name:
                raise UnreadableError(f"line {command.line}: {command.name} without its beginning")
            _, body = open_blocks.pop()
        else:
            body.append(command)
    if open_blocks:
        raise UnreadableError(f"line {open_blocks[-1][0].head.line}: a block without its end")
    return whole


def _commands(text: str) -> Iterator[Command]:
    position, line, counted = 0, 1, 0
    while match := _COMMAND.search(text, position):
        line += text.count("\n", counted, match.start())
        counted = match.start()
        if match[1] is None:
            position = _after_bracket(text, match.end(), match[2])
            continue
        words, position = _words(text, match.end())
        yield Command(match[1].lower(), tuple(words), line)


def _words(text: str, position: int) -> tuple[list[Word], int]:
    """The words up to the parenthesis that closes a command, and where it ends."""
    words: list[Word] = []
    depth = 1
    while match := _WORD.search(text, position):
        if text[position : match.start()].strip():
            break
        position = match.end()
        if match[0].startswith("#"):
            if match[1] is not None:
                position = _after_bracket(text, position, match[1])
            continue
        depth += (match[3] == "(") - (match[3] == ")")
        if not depth:
            return words, position
        words.append(Word(match[2], quoted=True) if match[2] is not None else Word(match[0]))
    raise UnreadableError("a command without its end")


def _after_bracket(text: str, position: int, mark: str) -> int:
    """Where a comment in brackets ends."""
    closing = f"]{mark}]"
    found = text.find(closing, position)
    if found < 0:
        raise UnreadableError("a comment without its end")
    return found + len(closing)
