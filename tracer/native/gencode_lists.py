"""The commands of CMake that work on lists and strings, as far as builds choose architectures with them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import chain

from .gencode_conditions import LONGEST, pattern
from .gencode_scope import OPEN, Scope, items, texts
from .gencode_text import Word

_NATURAL = ["COMPARE", "NATURAL", "ORDER", "ASCENDING"]


def list_command(words: Sequence[Word], scope: Scope) -> None:
    """`list(APPEND NAME ...)` and its kind; one that is not known opens what it names."""
    _one_of(_LISTS, words, scope)


def string_command(words: Sequence[Word], scope: Scope) -> None:
    """`string(REPLACE ...)` and its kind; one that is not known opens what it names."""
    _one_of(_STRINGS, words, scope)


_Edit = Callable[[Sequence[Word], Scope], None]


def _one_of(table: Mapping[tuple[str, int], _Edit], words: Sequence[Word], scope: Scope) -> None:
    for (name, least), run in table.items():
        if words and words[0].text == name and len(words) >= least:
            run(words[1:], scope)
            return
    scope.forget(words[1:])


def _append(words: Sequence[Word], scope: Scope) -> None:
    name = words[0].text
    scope.set(name, ";".join([*items(scope.value(name)), *texts(words[1:])]))


def _prepend(words: Sequence[Word], scope: Scope) -> None:
    name = words[0].text
    scope.set(name, ";".join([*texts(words[1:]), *items(scope.value(name))]))


def _remove_item(words: Sequence[Word], scope: Scope) -> None:
    name, gone = words[0].text, set(texts(words[1:]))
    held = items(scope.value(name))
    scope.spend(len(held))
    is_open = any(OPEN in item for item in gone)
    scope.set(name, OPEN if is_open and held else ";".join(item for item in held if item not in gone))


def _remove_duplicates(words: Sequence[Word], scope: Scope) -> None:
    name = words[0].text
    scope.set(name, ";".join(dict.fromkeys(items(scope.value(name)))))


def _sort(words: Sequence[Word], scope: Scope) -> None:
    name, value = words[0].text, scope.value(words[0].text)
    if OPEN in value or [word.text for word in words[1:]] != _NATURAL:
        scope.set(name, OPEN)
    else:
        scope.set(name, ";".join(sorted(items(value), key=_natural)))


def _natural(item: str) -> list[tuple[int, str]]:
    """Numbers by what they count, the text between them as text."""
    return [
        (len(part.lstrip("0")), part.lstrip("0")) if part.isdigit() else (0, part) for part in _PARTS(item)
    ]


_PARTS = re.compile(r"[0-9]+|[^0-9]+").findall


def _get(words: Sequence[Word], scope: Scope) -> None:
    value, at = scope.value(words[0].text), words[1].text
    held = items(value)
    is_there = re.fullmatch(r"-?[0-9]{1,6}", at) and OPEN not in value and -len(held) <= int(at) < len(held)
    scope.set(words[-1].text, held[int(at)] if is_there and len(words) == 3 else OPEN)


def _read(words: Sequence[Word], scope: Scope) -> None:
    """A command that reads its first list and writes its last word."""
    scope.set(words[-1].text, OPEN)


def _find(words: Sequence[Word], scope: Scope) -> None:
    text, part, out = (word.text for word in words[:3])
    known = len(words) == 3 and OPEN not in text + part
    scope.set(out, str(text.find(part)) if known else OPEN)


def _replace(words: Sequence[Word], scope: Scope) -> None:
    part, new, out = (word.text for word in words[:3])
    text = "".join(word.text for word in words[3:])
    scope.spend(len(text) * (1 + len(new)))
    scope.set(out, text.replace(part, new) if part and OPEN not in text + part + new else OPEN)


def _regex_replace(words: Sequence[Word], scope: Scope) -> None:
    asked, new, out = pattern(words[1].text), words[2].text, words[3].text
    text = "".join(word.text for word in words[4:])
    if words[0].text != "REPLACE" or asked is None or OPEN in text + new or len(text + new) > LONGEST:
        scope.forget(words[2:])
        return
    scope.spend(LONGEST)
    try:
        scope.set(out, asked.sub(new, text))
    except (re.error, IndexError):
        scope.set(out, OPEN)


_LISTS: Mapping[tuple[str, int], _Edit] = {
    ("APPEND", 2): _append,
    ("PREPEND", 2): _prepend,
    ("REMOVE_ITEM", 2): _remove_item,
    ("REMOVE_DUPLICATES", 2): _remove_duplicates,
    ("SORT", 2): _sort,
    ("GET", 4): _get,
    **{(name, 3): _read for name in ("JOIN", "LENGTH", "FIND", "SUBLIST")},
}
"""By name, with the fewest words that it takes."""

_STRINGS: Mapping[tuple[str, int], _Edit] = {
    ("FIND", 4): _find,
    ("REPLACE", 4): _replace,
    ("REGEX", 5): _regex_replace,
}


def parsed_arguments(words: Sequence[Word], scope: Scope) -> None:
    """`cmake_parse_arguments`: keywords with what follows each, as variables."""
    plain = [word.text for word in words]
    if plain[:1] == ["PARSE_ARGV"] and len(plain) >= 6:
        all_given = items(scope.value("ARGV"))
        skipped = int(plain[1]) if re.fullmatch(r"[0-9]{1,3}", plain[1]) else 0
        prefix, *kinds, given = plain[2], *plain[3:6], all_given[skipped:]
    elif len(plain) >= 4:
        prefix, *kinds, given = plain[0], *plain[1:4], texts(words[4:])
    else:
        return
    options, ones, many = (items(kind) for kind in kinds)
    under = keyworded(given, {*options, *ones, *many})
    for name in chain(options, ones, many):
        found = under.get(name)
        value = None if found is None else ";".join(found[:1] if name in ones else found)
        scope.set(f"{prefix}_{name}", ("FALSE" if found is None else "TRUE") if name in options else value)


def keyworded(given: Sequence[str], keywords: set[str]) -> dict[str, list[str]]:
    """The words that follow each keyword, up to the next."""
    found: dict[str, list[str]] = {}
    at: list[str] = []
    for word in given:
        if word in keywords:
            at = found.setdefault(word, [])
        else:
            at.append(word)
    return found
