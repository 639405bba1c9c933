"""The command table: a row a command, naming its module without importing it.

A command module has `configure(parser)`, which adds its arguments, and `run(args)`, which returns an exit
code. Its docstring is the description in its own `--help`.
"""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import NamedTuple, Protocol


class Module(Protocol):
    """What every command module offers."""

    __doc__: str | None

    def configure(self, parser: argparse.ArgumentParser) -> None: ...

    def run(self, args: argparse.Namespace) -> int: ...


class Command(NamedTuple):
    """A row of the table."""

    name: str
    module: str
    """Relative to this package."""
    help: str
    line: bool = False
    """Whether it takes a command line after `--`, as `args.line` (None where there is none)."""

    def load(self) -> Module:
        """The module; nothing is imported before a command is invoked or asked for its own help."""
        module: Module = import_module(self.module, __name__)
        return module


COMMANDS = (
    Command(
        "static", ".static", "the chain from a quantization flag to the kernel, read from source", line=True
    ),
    Command("diff", ".diff", "what changed between two pins: outcomes first, then every hop"),
    Command("review", ".review", "what a change to an engine, or to files that start one, comes to"),
    Command("flag", ".flag", "who reads a flag, a field or a variable, and what hangs on it"),
    Command("tui", ".tui", "explore a report, or put questions, on the whole screen"),
    Command("pins", ".pins", "the pins that have a name, what is in the cache, what is installed"),
    Command("snapshot", ".snapshot", "record what a pin answers over the standard grid, or verify that"),
    Command("show", ".show", "a saved report in another voice"),
    Command("devices", ".devices", "what is known of a device by its name"),
    Command("rule", ".rule", "what a rule means, why it matters, what to do"),
    Command("schema", ".schema", "the JSON Schema of a report"),
)
