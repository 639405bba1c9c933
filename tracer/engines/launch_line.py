"""A launch line of vLLM as its release reads it: Python's argparse with the options that it registers."""

from __future__ import annotations

import argparse
import difflib
from typing import Any, NoReturn

from msgspec import Struct

from ...report.errors import UsageError
from ..library import Library
from .flags import SERVE, Registered, handed_on, registered


class Line(Struct, frozen=True, kw_only=True):
    """What a line says."""

    model: str | None
    given: dict[str, Any]
    """Values by the name of the engine's field; of switches whether they are on."""
    names: dict[str, str]
    """By the name of the field what the option is called."""
    server: frozenset[str]
    """Fields that the engine has no argument for."""


def read_line(library: Library, argv: tuple[str, ...], platform: str) -> Line:
    """What `vllm ARGV` says; UsageError for what the release would refuse."""
    if library.module(SERVE) is None:
        raise UsageError(f"{library.source} has no module {SERVE}: its command line cannot be read")
    words = handed_on(library, argv, platform)
    return _Parser(registered(library, platform)).line(words)


class _Given(argparse.Action):
    """Notes that an option was given, with what."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option: str | None = None) -> None:
        namespace.seen.append((option, values))


class _Parser(argparse.ArgumentParser):
    def __init__(self, known: Registered) -> None:
        super().__init__(add_help=False, conflict_handler="resolve")
        self.known = known
        self.options = {name: option for option in known.options for name in option.names}
        self.add_argument("model_tag", nargs="?")
        for option in known.options:
            self.add_argument(
                *option.names,
                dest=option.dest,
                nargs=option.nargs,
                action=_Given,
                choices=option.choices or None,
            )

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"the line after --: {message}")

    def line(self, words: tuple[str, ...]) -> Line:
        """What the words say; a word that the release does not know is an error."""
        rest_of = words[1:] if words[:1] == ("serve",) else words
        space, strange = self.parse_known_args(rest_of, argparse.Namespace(seen=[]))
        if strange:
            self.error(self._stranger(strange[0]))
        given: dict[str, Any] = {}
        names: dict[str, str] = {}
        for name, values in space.seen:
            option = self.options[name]
            given[option.dest] = name not in option.negatives if option.nargs == 0 else values
            names[option.dest] = option.names[0]
        model = given.pop("model", None) or space.model_tag
        server = frozenset(given) - self.known.engine
        return Line(model=model, given=given, names=names, server=server)

    def _stranger(self, word: str) -> str:
        name = word.partition("=")[0]
        if not name.startswith("-"):
            return f"vllm {self.known.version} takes one model, and {name} stands where no value belongs"
        near = difflib.get_close_matches(name, self.options, n=1)
        hint = f"; the nearest it has is {near[0]}" if near else ""
        sure = "has no" if self.known.whole else "has, as far as it could be read, no"
        return f"vllm {self.known.version} {sure} {name}{hint}"
