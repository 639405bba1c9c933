"""What a literal token means: numbers, and strings with their prefix, quotes and escapes.

`ast.literal_eval` would do, at ten times the cost and with a warning for every unknown escape.
"""

from __future__ import annotations

import re
import unicodedata

_OPENING = re.compile(r"""([A-Za-z]*)('''|\"\"\"|'|")""")
_ESCAPE = re.compile(
    r"\\(?:(?P<simple>[\n\\'\"abfnrtv])|(?P<octal>[0-7]{1,3})|x(?P<hex>[0-9a-fA-F]{2})"
    r"|u(?P<short>[0-9a-fA-F]{4})|U(?P<long>[0-9a-fA-F]{8})|N\{(?P<name>[^}]+)\})"
)
_BYTES_ESCAPE = re.compile(
    r"\\(?:(?P<simple>[\n\\'\"abfnrtv])|(?P<octal>[0-7]{1,3})|x(?P<hex>[0-9a-fA-F]{2}))"
)
_SIMPLE = {
    "\n": "",
    "\\": "\\",
    "'": "'",
    '"': '"',
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
}
_BASES = {"octal": 8, "hex": 16, "short": 16, "long": 16}


def string(token: str) -> str | bytes:
    """The value of one string or bytes token."""
    opening = _OPENING.match(token)
    assert opening is not None, token
    prefix, quotes = opening[1].lower(), opening[2]
    text = token[opening.end() : -len(quotes)]
    if "b" in prefix:
        return (text if "r" in prefix else _BYTES_ESCAPE.sub(_byte, text)).encode("latin-1")
    return text if "r" in prefix else unescape(text)


def unescape(text: str) -> str:
    """The characters that a string's escapes stand for; an unknown escape stays as written."""
    return _ESCAPE.sub(_character, text) if "\\" in text else text


def fstring_text(text: str, start: str) -> str:
    """The characters of a literal part of an f-string that opens with `start` (prefix and quotes)."""
    text = text.replace("{{", "{").replace("}}", "}")
    return text if "r" in start.lower() else unescape(text)


def imaginary(token: str) -> complex:
    """The value of a number that ends in `j`."""
    return complex(0.0, float(token[:-1]))


def integer(token: str) -> int:
    """The value of an integer in any base."""
    return int(token, 0)


def _character(escape: re.Match[str]) -> str:
    kind = escape.lastgroup
    assert kind is not None, escape
    if kind == "simple":
        return _SIMPLE[escape[kind]]
    if kind == "name":
        return unicodedata.lookup(escape[kind])
    return chr(int(escape[kind], _BASES[kind]))


def _byte(escape: re.Match[str]) -> str:
    character = _character(escape)
    return chr(ord(character) & 0xFF) if character else ""
