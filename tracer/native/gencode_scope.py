"""What a CMake run knows: variables by scope, with text that is open, and ways that part and meet again."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from .gencode_text import UnreadableError, Word

OPEN = "\0"
"""Stands in a value for text that is not known: none, one word or many."""
STEPS = 5_000_000
"""Commands that are run, and characters that are moved, before a run counts as one without an end."""
_REFERENCE = re.compile(r"\\(.)|\$(ENV|CACHE|)\{([^${}\\\s]*)\}", re.S)
_NESTING = re.compile(r"\{[^{}]*\$\{")
_NESTED = re.compile(r"\$(ENV|CACHE|)\{([^${}\\\s]*)\}")
_WRITTEN = {"n": "\n", "t": "\t", "r": "\r", ";": ";"}
_Key = TypeVar("_Key")
NAME = re.compile(r"[A-Za-z_]\w*")

Flow = frozenset[str]
"""How a block may end: `on` to the next command, `break`, `continue` or `return`."""
ON = frozenset({"on"})


class Scope:
    """The state of a run; `facts` is what it found out about files and targets."""

    def __init__(self, known: Mapping[str, str]) -> None:
        self.frames = [dict(known)]
        self.facts: dict[tuple[str, str], str] = {}
        self.bound: list[Mapping[str, str]] = [{}]
        self.own: set[str] = set()
        self._left = STEPS

    def spend(self, steps: int) -> None:
        """Count what a run costs."""
        self._left -= steps
        if self._left < 0:
            raise UnreadableError("a run without an end")

    def value(self, name: str) -> str:
        """A variable's value; one that only this text sets, and has not set yet, is empty."""
        held = self.frames[-1].get(name)
        return self._unset(name) if held is None else held

    def held(self, name: str) -> bool:
        """Tell whether a variable has a value here, be it open."""
        return name in self.frames[-1]

    def defined(self, name: str) -> bool | None:
        """Tell whether a variable is defined, as far as that is known."""
        if not NAME.fullmatch(name):
            return None
        if name in self.frames[-1]:
            return None if OPEN in self.frames[-1][name] else True
        return False if self.value(name) == "" else None

    def set(self, name: str, value: str | None, above: bool = False) -> None:
        """Give a variable a value, or none; `above` in the scope that called this one."""
        if OPEN in name:
            raise UnreadableError("a variable is set whose name is not known")
        self.spend(1 + len(value or ""))
        frame = self.frames[-2] if above and len(self.frames) > 1 else self.frames[-1]
        if value is None:
            frame.pop(name, None)
            self.own.add(name)
        else:
            frame[name] = value

    def forget(self, words: Iterable[Word]) -> None:
        """Open every variable that these words name: a command that is not followed may have set it."""
        for word in words:
            if not word.quoted and NAME.fullmatch(word.text):
                self.set(word.text, OPEN)

    def expanded(self, words: Iterable[Word]) -> list[Word]:
        """Words with each reference in its place; unquoted ones may become none or several."""
        out: list[Word] = []
        for word in words:
            text = self._text(word.text)
            self.spend(1 + len(text))
            if word.quoted:
                out.append(Word(text, quoted=True))
            else:
                out += [Word(item) for item in items(text)]
        return out

    def _text(self, text: str) -> str:
        if "$" not in text and "\\" not in text:
            return text
        done = _REFERENCE.sub(lambda m: self._referred(m[2], m[3]) if m[1] is None else _plain(m[1]), text)
        # A name may itself be made of references: `${${LANG}_ARCHS}`.
        if _NESTING.search(text):
            done = _NESTED.sub(lambda m: self._referred(m[1], m[2]), done)
        return OPEN if "${" in done else done

    def _referred(self, kind: str, name: str) -> str:
        if kind or OPEN in name:
            return OPEN
        bound = self.bound[-1].get(name)
        value = self.value(name) if bound is None else bound
        self.spend(len(value))
        return value

    def perhaps(self, *ways: Callable[[], Flow]) -> Flow:
        """Go each way from here; of what they leave behind only what all that go on agree on is known."""
        frames, facts = self.frames, self.facts
        ends: list[tuple[list[dict[str, str]], dict[tuple[str, str], str]]] = []
        flows: set[str] = set()
        for way in ways:
            self.spend(sum(map(len, frames)) + len(facts))
            self.frames, self.facts = [dict(frame) for frame in frames], dict(facts)
            flow = way()
            flows |= flow
            if flow:
                ends.append((self.frames, self.facts))
        depths = range(len(frames))
        self.frames = [_agreed([end[0][at] for end in ends], self._unset) for at in depths]
        self.facts = _agreed([end[1] for end in ends], lambda _: "")
        return frozenset(flows)

    def _unset(self, name: str) -> str:
        """What a variable is that no scope holds; those of CMake itself, and of its user, are not known."""
        return "" if name in self.own and not name.startswith("CMAKE_") else OPEN


def items(value: str) -> list[str]:
    """A value as a list."""
    return [item for item in value.split(";") if item]


def texts(words: Iterable[Word]) -> list[str]:
    """What words say, those that are lists taken apart."""
    return [item for word in words for item in items(word.text)]


def _plain(character: str) -> str:
    return _WRITTEN.get(character, character)


def _agreed(ends: list[dict[_Key, str]], absent: Callable[[_Key], str]) -> dict[_Key, str]:
    out: dict[_Key, str] = {}
    for key in dict.fromkeys(key for end in ends for key in end):
        values = {end[key] if key in end else absent(key) for end in ends}
        out[key] = values.pop() if len(values) == 1 else OPEN
    return out
