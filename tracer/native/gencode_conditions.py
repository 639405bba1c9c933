"""Whether a CMake condition holds for what a run knows; what it asks is put to the reader of cmake.py."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from .cmake import Truth, commands
from .gencode_scope import NAME, OPEN, Scope, items
from .gencode_text import Word

_SWITCHES = {"ON": "ON", "OFF": "OFF"}
_WORDS = {True: "ON", False: "OFF", None: "OPEN"}
_UNARY = (
    "COMMAND", "POLICY", "TARGET", "TEST", "EXISTS", "IS_READABLE", "IS_WRITABLE", "IS_EXECUTABLE",
    "IS_DIRECTORY", "IS_SYMLINK", "IS_ABSOLUTE",
)  # fmt: skip
_TRUE = re.compile(r"1|ON|YES|TRUE|Y", re.I)
_FALSE = re.compile(r"|0|OFF|NO|FALSE|N|IGNORE|NOTFOUND|.*-NOTFOUND", re.I | re.S)
_NUMBER = re.compile(r"-?\d{1,18}(?:\.\d{0,18})?", re.ASCII)
_VERSION = re.compile(r"\d{1,9}(?:\.\d{1,9}){0,8}", re.ASCII)
_REPEATED = re.compile(r"[*+?]")
_FOREIGN = re.compile(r"\)[*+?]|\(\?|\[\[|[*+?][+?]|[{}]|\\[A-Za-z0-9]")
LONGEST = 200
"""Characters of a text that a pattern is tried on."""


def holds(words: Sequence[Word], scope: Scope) -> Truth:
    """Tell whether the words of an `if` hold; None where that is not known."""
    asked = " ".join(_atoms(scope.expanded(words), scope)) or "OFF"
    scope.spend(len(asked))
    probe = commands(f"if({asked})\nreached()\nendif()", _SWITCHES)
    return next((alive for alive, command, _ in probe if command == "reached"), None)


def pattern(text: str) -> re.Pattern[str] | None:
    """A pattern of CMake's as Python's; None for one that takes too long or means something else."""
    repeats = len(_REPEATED.findall(text))
    if OPEN in text or len(text) > LONGEST or repeats > 2 or _FOREIGN.search(text):
        return None
    try:
        return re.compile(text)
    except re.error:
        return None


def _atoms(words: Sequence[Word], scope: Scope) -> Iterator[str]:
    """The condition again, each question that can be answered put as its answer."""
    at = 0
    while at < len(words):
        word, following = words[at], words[at + 1 : at + 3]
        if not word.quoted and word.text in ("(", ")", "AND", "OR", "NOT"):
            yield word.text
            at += 1
        elif not word.quoted and word.text in (*_UNARY, "DEFINED") and following:
            known = scope.defined(following[0].text) if word.text == "DEFINED" else None
            yield _WORDS[known]
            at += 2
        elif len(following) == 2 and not following[0].quoted and following[0].text in _BINARY:
            yield _BINARY[following[0].text](word, following[1], scope)
            at += 3
        else:
            yield _WORDS[_true(word, scope)]
            at += 1


def _true(word: Word, scope: Scope) -> Truth:
    """Tell what a word by itself says: a constant, or the name of a variable that is not empty."""
    if OPEN in word.text:
        return None
    if _TRUE.fullmatch(word.text):
        return True
    if _NUMBER.fullmatch(word.text):
        return float(word.text) != 0
    if word.quoted or _FALSE.fullmatch(word.text):
        return False
    value = scope.value(word.text)
    if OPEN in value:
        # One item that is known is enough: no list of more than one word is a constant that says no.
        return True if len(items(value.replace(OPEN, ""))) > 1 else None
    return not _FALSE.fullmatch(value)


def _operand(word: Word, scope: Scope) -> str | None:
    """A variable's value where a word names one, else the word; None where that is not known."""
    text = word.text
    if not word.quoted and (scope.held(text) or ("_" in text and NAME.fullmatch(text))):
        # One that is surely not set stands for itself, as in CMake.
        text = scope.value(text) or (text if not scope.held(text) else "")
    return None if OPEN in text else text


def _compared(test: Callable[[str, str, Scope], Truth]) -> Callable[[Word, Word, Scope], str]:
    def ask(left: Word, right: Word, scope: Scope) -> str:
        a, b = _operand(left, scope), _operand(right, scope)
        return _WORDS[None if a is None or b is None else test(a, b, scope)]

    return ask


def _numeric(test: Callable[[float, float], bool]) -> Callable[[Word, Word, Scope], str]:
    return _compared(
        lambda a, b, _: test(float(a), float(b)) if _NUMBER.fullmatch(a) and _NUMBER.fullmatch(b) else None
    )


def _version(operator: str) -> Callable[[Word, Word, Scope], str]:
    """What follows the numbers of a version is not compared, as in CMake."""

    def ask(left: Word, right: Word, scope: Scope) -> str:
        found = [_VERSION.match(_operand(word, scope) or "") for word in (left, right)]
        return f"{found[0][0]} {operator} {found[1][0]}" if found[0] and found[1] else "OPEN"

    return ask


def _in_list(left: Word, right: Word, scope: Scope) -> str:
    item, value = _operand(left, scope), scope.value(right.text)
    held = items(value)
    if OPEN in right.text or (item is None and held):
        return "OPEN"
    return _WORDS[True if item in held else None if OPEN in value else False]


def _matches(left: Word, right: Word, scope: Scope) -> str:
    text, asked = _operand(left, scope), pattern(right.text)
    if text is None or asked is None or len(text) > LONGEST or "\n" in text:
        return "OPEN"
    return _WORDS[asked.search(text) is not None]


def _unknown(left: Word, right: Word, scope: Scope) -> str:
    return "OPEN"


_OPERATORS: Mapping[str, Callable[[float, float], bool]] = {
    "EQUAL": lambda a, b: a == b,
    "LESS": lambda a, b: a < b,
    "LESS_EQUAL": lambda a, b: a <= b,
    "GREATER": lambda a, b: a > b,
    "GREATER_EQUAL": lambda a, b: a >= b,
}
_BINARY: Mapping[str, Callable[[Word, Word, Scope], str]] = {
    "STREQUAL": _compared(lambda a, b, _: a == b),
    "IN_LIST": _in_list,
    "MATCHES": _matches,
    **{name: _numeric(test) for name, test in _OPERATORS.items()},
    **{f"VERSION_{name}": _version(f"VERSION_{name}") for name in _OPERATORS},
    **{f"STR{name}": _unknown for name in _OPERATORS if name != "EQUAL"},
    **dict.fromkeys(("PATH_EQUAL", "IS_NEWER_THAN"), _unknown),
}
