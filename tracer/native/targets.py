"""The extension modules of a CPU build, and the macros that the options of each define."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ..cpus import cpus, with_all
from .cmake import commands

if TYPE_CHECKING:
    from ..sources import Source
    from .values import Facts

SCRIPT = "cmake/cpu_extension.cmake"
TARGET, OPTIONS = "define_extension_target", "COMPILE_FLAGS"
_KEYWORD = re.compile(r"[A-Z][A-Z_]+")
_NAMED = re.compile(r"\$\{(\w+)\}")


Word = tuple[str, bool]
"""A word of CMake, and whether it certainly stands there."""


def cpu_facts(source: Source, machine: str, extension: str) -> Facts:
    """Say what the preprocessor knows where an extension is compiled: macros by value, None where undefined.

    A macro that only an option may define, which the build may leave out, is open.
    """
    table = cpus()
    foreign = (names for other, names in table.optional.items() if other != machine)
    absent = (*table.machines.values(), *foreign, table.absent)
    known: dict[str, int | None] = dict.fromkeys(name for names in absent for name in names)
    built = extensions(source, table.feature_machine)
    known |= dict.fromkeys(_macros(word for words in built.values() for word, _ in words))
    known |= dict.fromkeys(table.machines[machine], 1)
    if machine == table.feature_machine:
        own = built.get(extension, [])
        certain = _macros(word for word, surely in own if surely)
        for macro in _macros(word for word, _ in own) - certain:
            del known[macro]
        known |= dict.fromkeys(certain, 1)
    return known


def extensions(source: Source, machine: str) -> dict[str, list[Word]]:
    """The options that each extension module is compiled with, by its name."""
    known = {"CMAKE_SYSTEM_PROCESSOR": machine}
    lists: dict[str, list[Word]] = {}
    found: dict[str, list[Word]] = {}
    for alive, command, words in commands(source.text(SCRIPT) or "", known):
        if alive is False or not words:
            continue
        if command == "list" and words[0] == "APPEND" and len(words) > 1:
            lists.setdefault(words[1], []).extend(_expanded(words[2:], lists, alive is True))
        elif command == "set":
            lists[words[0]] = _expanded(words[1:], lists, alive is True)
            if alive and words[1:2] in (["ON"], ["OFF"]):
                known[words[0]] = words[1]
        elif command == TARGET:
            found[words[0]] = _expanded(_under(words, OPTIONS), lists, alive is True)
    return found


def _expanded(words: list[str], lists: Mapping[str, list[Word]], surely: bool) -> list[Word]:
    """Words with each variable in its place; one that was never set is nothing, as in CMake."""
    out: list[Word] = []
    for word in words:
        name = _NAMED.fullmatch(word)
        out += [(w, c and surely) for w, c in lists.get(name[1], [])] if name else [(word, surely)]
    return out


def _under(words: list[str], keyword: str) -> list[str]:
    """The words that follow a keyword, up to the next one."""
    if keyword not in words:
        return []
    rest = words[words.index(keyword) + 1 :]
    end = next((at for at, word in enumerate(rest) if _KEYWORD.fullmatch(word)), len(rest))
    return rest[:end]


def _macros(options: Iterable[str]) -> frozenset[str]:
    """Macros of the compiler that options such as -mavx512f define, with those that come with them."""
    plain = (option[2:] for option in options if option.startswith("-m") and "=" not in option)
    return with_all((f"__{name.replace('-', '_').upper()}__" for name in plain), cpus().macros)
