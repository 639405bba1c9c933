"""CMake text: its commands, and in three values whether the conditions around them hold."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

Truth = bool | None

_COMMAND = re.compile(r"^[ \t]*(\w+)\s*\(", re.M)
_WORD = re.compile(r'#[^\n]*|"((?:\\.|[^"\\])*)"|([()])|([^\s()"#]+)', re.S)


def commands(text: str, known: Mapping[str, str]) -> Iterator[tuple[Truth, str, list[str]]]:
    """Give every command with its words, and whether the conditions around it hold."""
    frames: list[tuple[Truth, Truth]] = []
    for command, words in _split(text):
        if command == "if":
            test = _Condition(words, known).holds()
            frames.append((test, test))
        elif command in ("elseif", "else") and frames:
            seen = frames[-1][1]
            test = _Condition(words, known).holds() if command == "elseif" else True
            frames[-1] = (_both(_not(seen), test), _not(_both(_not(seen), _not(test))))
        elif command == "endif" and frames:
            frames.pop()
        else:
            alive: Truth = True
            for held, _ in frames:
                alive = _both(alive, held)
            yield alive, command, words


def _split(text: str) -> Iterator[tuple[str, list[str]]]:
    """Split CMake text into commands and their words; quotes are dropped, parentheses are words."""
    position = 0
    while match := _COMMAND.search(text, position):
        words: list[str] = []
        depth = 1
        position = match.end()
        while depth and (word := _WORD.search(text, position)):
            position = word.end()
            if word[0].startswith("#"):
                continue
            depth += (word[2] == "(") - (word[2] == ")")
            words.append(word[1] if word[1] is not None else word[0])
        yield match.group(1).lower(), words[:-1]


def any_of(states: list[Truth]) -> Truth:
    """Tell whether any of these holds."""
    if True in states:
        return True
    return None if None in states else False


def _both(a: Truth, b: Truth) -> Truth:
    if a is False or b is False:
        return False
    return None if a is None or b is None else True


def _not(a: Truth) -> Truth:
    return None if a is None else not a


class _Condition:
    """A CMake condition in three values: language and version are known, every architecture is built."""

    def __init__(self, words: list[str], known: Mapping[str, str]) -> None:
        self._words = words
        self._known = known
        self._next = 0

    def holds(self) -> Truth:
        """Evaluate the whole of it; words left over, or too many, make it open."""
        if len(self._words) > 200:
            return None
        value = self._any()
        return value if self._next == len(self._words) else None

    def _take(self, *words: str) -> str | None:
        if self._next < len(self._words) and (not words or self._words[self._next] in words):
            self._next += 1
            return self._words[self._next - 1]
        return None

    def _any(self) -> Truth:
        value = self._all()
        while self._take("OR"):
            value = _not(_both(_not(value), _not(self._all())))
        return value

    def _all(self) -> Truth:
        value = self._one()
        while self._take("AND"):
            value = _both(value, self._one())
        return value

    def _one(self) -> Truth:
        if self._take("NOT"):
            return _not(self._one())
        if self._take("("):
            value = self._any()
            self._take(")")
            return value
        left = self._take()
        if left in ("DEFINED", "EXISTS", "TARGET", "COMMAND"):
            name = self._take()
            return True if left == "DEFINED" and name in self._known else None
        if left is None:
            return None
        operator = self._take("STREQUAL", "MATCHES", "IN_LIST", "EQUAL", *_ORDERS)
        if operator == "MATCHES":
            pattern = self._take()
            known = self._known.get(left)
            return None if known is None or pattern is None else re.search(pattern, known) is not None
        if operator:
            return self._compared(self._resolved(left), operator, self._resolved(self._take()))
        if left in self._known and self._known[left] in ("ON", "OFF"):
            return self._known[left] == "ON"
        # `MACHETE_ARCHS` and its kind hold what is left of the architectures to build for: all of them.
        is_archs = left is not None and re.fullmatch(r"\w+_ARCHS", left)
        return True if is_archs and self._known.get("VLLM_GPU_LANG") == "CUDA" else None

    def _resolved(self, word: str | None) -> str | None:
        if word is None:
            return None
        name = re.sub(r"^\$\{(\w+)\}$", r"\1", word)
        if name in self._known:
            return self._known[name]
        return None if name != word or re.search(r"\$\{|^[A-Z_]+_[A-Z_]+$", word) else word

    def _compared(self, left: str | None, operator: str, right: str | None) -> Truth:
        if left is None or right is None:
            return None
        if operator == "STREQUAL":
            return left == right
        orders = _ORDERS.get(operator)
        if orders is None or not all(re.fullmatch(r"[\d.]+", side) for side in (left, right)):
            return None
        a, b = ([int(part) for part in side.split(".") if part] for side in (left, right))
        width = max(len(a), len(b))
        a, b = a + [0] * (width - len(a)), b + [0] * (width - len(b))
        return ((a > b) - (a < b)) in orders


_ORDERS = {
    "VERSION_LESS": (-1,),
    "VERSION_LESS_EQUAL": (-1, 0),
    "VERSION_EQUAL": (0,),
    "VERSION_GREATER_EQUAL": (0, 1),
    "VERSION_GREATER": (1,),
}
