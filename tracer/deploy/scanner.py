"""Shell text as commands of words, with what is put in the place of a variable left as it is written.

One pass, no backtracking: the text is a stranger's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

LONGEST = 10_000
"""Characters of a word; a longer one is not known."""
BLANK = " \t\n\r"
ENDS = ";|&()\n"
Value = Callable[[str], str | None]
"""What a name or `name:-default` is replaced by; None where nobody knows."""


class Part(NamedTuple):
    """A part of a word."""

    text: str
    known: bool
    quoted: bool


class Scanner:
    """Reads one text."""

    def __init__(self, text: str, value: Value) -> None:
        self._text, self._value, self._at = text, value, 0
        self.commands: list[list[list[Part]]] = [[]]
        """Commands, each with its words."""
        self._word: list[Part] | None = None
        self._skips = False
        """Whether the next word is where a redirection leads."""

    def read(self) -> list[list[list[Part]]]:
        """Every command."""
        while self._at < len(self._text):
            self._step(self._text[self._at])
        self._end()
        return [words for words in self.commands if words]

    def _step(self, sign: str) -> None:
        if sign in BLANK and sign != "\n":
            self._end()
            self._at += 1
        elif sign == "#" and self._word is None:
            self._at = self._until("\n", self._at)
        elif sign in "<>":
            self._redirect()
        elif sign in ENDS:
            self._end()
            self.commands.append([])
            self._at += 1
        elif sign == "'":
            self._single()
        elif sign == '"':
            self._double()
        elif sign == "\\":
            self._put(self._text[self._at + 1 : self._at + 2], True, True)
            self._at += 2
        elif sign in "$`":
            self._expansion(False)
        else:
            self._put(sign, True, False)
            self._at += 1

    def _until(self, sign: str, start: int) -> int:
        found = self._text.find(sign, start)
        return len(self._text) if found < 0 else found

    def _put(self, text: str, known: bool, quoted: bool) -> None:
        self._word = [] if self._word is None else self._word
        if self._word and self._word[-1][1:] == (known, quoted) and known:
            self._word[-1] = Part(self._word[-1].text + text, known, quoted)
        else:
            self._word.append(Part(text, known, quoted))

    def _end(self) -> None:
        if self._word is not None and not self._skips:
            self.commands[-1].append(self._word)
        if self._word is not None:
            self._skips = False
        self._word = None

    def _redirect(self) -> None:
        """`2>&1`, `> log`, `<<EOF`: neither the number before nor the word behind is an argument."""
        if self._word is not None and len(self._word) == 1 and self._word[0].text.isdigit():
            self._word = None
        self._end()
        while self._at < len(self._text) and self._text[self._at] in "<>&|-":
            self._at += 1
        self._skips = True

    def _single(self) -> None:
        end = self._until("'", self._at + 1)
        self._put(self._text[self._at + 1 : end], True, True)
        self._at = end + 1

    def _double(self) -> None:
        self._put("", True, True)
        self._at += 1
        while self._at < len(self._text) and self._text[self._at] != '"':
            sign = self._text[self._at]
            if sign in "$`":
                self._expansion(True)
            elif sign == "\\" and self._text[self._at + 1 : self._at + 2] in ('"', "\\", "$", "`"):
                self._put(self._text[self._at + 1], True, True)
                self._at += 2
            else:
                self._put(sign, True, True)
                self._at += 1
        self._at += 1

    def _expansion(self, quoted: bool) -> None:
        """`$NAME`, `${...}`, `$(...)`, backticks; a lone `$` is itself."""
        start = self._at
        opened = self._text[start : start + 2]
        if self._text[start] == "`":
            self._at = self._until("`", start + 1) + 1
            self._put(self._text[start : self._at], False, quoted)
        elif opened in ("$(", "${"):
            self._at = self._closing(start + 1)
            inner = self._text[start + 2 : self._at - 1]
            self._value_of(self._text[start : self._at], inner if opened == "${" else None, quoted)
        else:
            end = start + 1
            while end < len(self._text) and (self._text[end].isalnum() or self._text[end] == "_"):
                end += 1
            if end == start + 1 and self._text[end : end + 1] in ("@", "*", "#", "?", "!", "-"):
                end += 1
            self._at = end
            named = self._text[start + 1 : end]
            if named:
                self._value_of(self._text[start:end], named, quoted)
            else:
                self._put("$", True, quoted)

    def _closing(self, start: int) -> int:
        """Behind the bracket that closes the one at `start`."""
        opened = self._text[start]
        closed, depth = {"(": ")", "{": "}"}[opened], 0
        for at in range(start, len(self._text)):
            depth += (self._text[at] == opened) - (self._text[at] == closed)
            if depth == 0:
                return at + 1
        return len(self._text)

    def _value_of(self, written: str, named: str | None, quoted: bool) -> None:
        value = None if named is None else self._value(named)
        if value is None or len(value) > LONGEST:
            self._put(written[:LONGEST], False, quoted and named not in ("@",) and "[@]" not in written)
        else:
            self._put(value, True, quoted)
