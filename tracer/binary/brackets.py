"""Template arguments in mangled names (Itanium C++ ABI): not understood, but stepped over.

Names say their length, and whatever else nests ends with an `E`. So a list of what is open suffices; there is
no recursion, and every step goes forward.
"""

from __future__ import annotations

import re

_LENGTH = re.compile(r"\d{1,6}", re.ASCII)
_OPENING = re.compile(r"D[TtO]|Dw|Ul|[NIJXFZ]")
_OPENED = {"DT": "X", "Dt": "X", "DO": "X", "Dw": "I", "Ul": "U"}
"""What an opening counts as, where that is not its own letter: X an expression, U a lambda."""

# In an expression: operators whose operands an E ends, those that a type follows, and all others.
_LIST = re.compile(r"(?:cl|il|sP|nw|na|tl[PKVRO]*[a-z]?)")
_TYPED = re.compile(r"(?:cv|s[tc]|at|ti|dc|cc|rc)[PKVRO]*[a-z]?")
_OPERATOR = re.compile(r"[a-z][a-zA-Z]")
_PARAMETER = re.compile(r"f(?:L\d+)?p[rVK]*\d*_", re.ASCII)

_LITERAL = re.compile(r"L[PKVRO]*")
_LITERAL_TYPE = re.compile(r"St(?=\d)|T(?:L\d*_)?\d*_|S[0-9A-Z]*_|D[a-zA-Z]|[a-z]", re.ASCII)
_VALUE = re.compile(r"n?[0-9a-f_]*E", re.ASCII)
_LAMBDA_END = re.compile(r"\d*_", re.ASCII)
_ATOM = re.compile(
    r"T(?:L\d*_)?\d*_|S[0-9A-Z]*_|S[a-z]|A\d*_|Ut\d*_|Dv\d*_|DF\d+[_bx]|[CD]\d|D[a-zA-Z]|__\d+_|_\d+|[A-Za-z_]",
    re.ASCII,
)
"""Everything else: parameters, substitutions, built-in types, qualifiers, numbers that tell locals apart."""


class UnreadError(Exception):
    """Not in the part of the grammar that is read here, or broken."""


def after_name(text: str, at: int) -> int:
    """Where a `6marlin` ends; UnreadError where there is none."""
    length = _LENGTH.match(text, at)
    if length is None or not 0 < int(length[0]) <= len(text) - length.end():
        raise UnreadError
    return length.end() + int(length[0])


def after_arguments(text: str, at: int) -> int:
    """Where template arguments end, behind their `E`; `at` is behind the `I`. UnreadError if they do not."""
    within = ["I"]  # what is open; besides letters of _OPENING: V, the type of a value
    while within:
        at = _step(text, at, within)
    return at


def _step(text: str, at: int, within: list[str]) -> int:
    if text[at : at + 1].isdigit():
        return after_name(text, at)
    if text.startswith("E", at):
        return _close(text, at + 1, within.pop())
    if literal := _LITERAL.match(text, at):
        return _literal(text, literal.end(), within)
    if within[-1] == "X" and (end := _expression(text, at, within)):
        return end
    if opening := _OPENING.match(text, at):
        within.append(_OPENED.get(opening[0], opening[0]))
        return opening.end()
    return _end(_ATOM, text, at)


def _close(text: str, at: int, closed: str) -> int:
    ending = {"V": _VALUE, "U": _LAMBDA_END}.get(closed)
    return _end(ending, text, at) if ending else at


def _literal(text: str, at: int, within: list[str]) -> int:
    """Step over the value of a simple type, or into the name of a type or of what an address is of."""
    for sign, opened in (("_Z", "Z"), ("N", "V")):
        if text.startswith(sign, at):
            within.append(opened)
            return at + len(sign)
    if simple := _LITERAL_TYPE.match(text, at):
        at = simple.end()
    if simple is None or simple[0] == "St":
        at = after_name(text, at)
    return _end(_VALUE, text, at)


def _expression(text: str, at: int, within: list[str]) -> int:
    """Step over an operator; 0 where there is none."""
    if listed := _LIST.match(text, at):
        within.append("X")
        return listed.end()
    operator = _PARAMETER.match(text, at) or _TYPED.match(text, at) or _OPERATOR.match(text, at)
    return operator.end() if operator else 0


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    if found is None:
        raise UnreadError
    return found.end()
