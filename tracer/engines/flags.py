"""What vLLM's own parser knows and does: its options, and what it makes of a line before argparse sees it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from msgspec import Struct

from ...report.errors import UsageError
from ..evaluate import attributes
from ..evaluate.calls import call_value
from ..evaluate.containers import items_of
from ..evaluate.expressions import evaluate
from ..evaluate.fields import Field, fields_of
from ..evaluate.machine import Dead, OutOfBudget
from ..evaluate.operators import union_of
from ..evaluate.unions import settle
from ..evaluate.values import ClassValue, DictValue, Instance, ListValue, Native, NativeClass, Value
from ..guards import GuardBudget
from ..library import Library
from ..scenario import Scenario
from ..tree import Binary, Display, Index, Node
from . import entering, platform as facts, vllm
from .command_line import CommandLine, Option

if TYPE_CHECKING:
    from ..evaluate.machine import Machine

SERVE = "vllm.entrypoints.cli.serve"
"""The module of the subcommand that starts a server; it names the parser's class and what fills it."""
PARSER = f"{SERVE}.FlexibleArgumentParser"
ARGUMENTS = "vllm.engine.arg_utils.AsyncEngineArgs"
UNTOLD = "the line after --: what the release's parser makes of it cannot be told"
HELP = Option(names=("-h", "--help"), dest="help", nargs=0)
"""What argparse brings along."""


class Registered(Struct, frozen=True, kw_only=True):
    """The options of a release's server."""

    version: str
    options: tuple[Option, ...]
    engine: frozenset[str]
    """Those that the engine has a field for, by the name of the field; all others are the server's own."""
    whole: bool
    """Whether these are all options."""


def registered(library: Library, platform: str) -> Registered:
    """The options that the release's parser has, read once a source."""
    return library.once(f"options on {platform}", lambda: _registered(library, platform))


def _registered(library: Library, platform: str) -> Registered:
    with _standing_at(library, platform, ("serve",)) as m:
        line = CommandLine(m)
        try:
            _called(m, f"{SERVE}.make_arg_parser", _called(m, PARSER))
        except (Dead, OutOfBudget, GuardBudget):
            line.whole = False
        fields = fields_of(m, facts.engine_value(m, ARGUMENTS))
    return Registered(
        version=library.source.version or "(version unknown)",
        options=(*line.found.values(), HELP),
        engine=frozenset(field.name for field in fields),
        whole=line.whole,
    )


def handed_on(library: Library, argv: tuple[str, ...], platform: str) -> tuple[str, ...]:
    """`argv` after everything that the release's parser does to it before argparse; UsageError for what it
    refuses.
    """
    with _standing_at(library, platform, argv) as m:
        CommandLine(m)
        return _handed_on(m, _called(m, PARSER), argv)


@contextmanager
def _standing_at(library: Library, platform: str, argv: tuple[str, ...]) -> Iterator[Machine]:
    """A machine in the module of the subcommand, started with these arguments."""
    from ..answer import roomy

    with roomy():
        m = vllm.machine(library, Scenario(platform=platform, profile="bare"))
        _facts(m, argv)
        with entering.inside(m, SERVE):
            yield m


def _called(m: Machine, symbol: str, *args: Value) -> Value:
    return settle(m, call_value(m, facts.engine_value(m, symbol), args, {}))


def _handed_on(m: Machine, parser: Value, argv: tuple[str, ...]) -> tuple[str, ...]:
    """`argv` after everything that the release's parser does to it first."""
    with _refusals(m):
        parse = attributes.get(m, parser, "parse_args", None)
        done = settle(m, call_value(m, parse, (ListValue(argv, m.live),), {}))
    words = items_of(m, done, None) if isinstance(done, ListValue) else None
    if not isinstance(words, tuple) or not all(isinstance(word, str) for word in words):
        raise UsageError(UNTOLD)
    return words


@contextmanager
def _refusals(m: Machine) -> Iterator[None]:
    """What the release's parser raises is the user's to mend."""
    try:
        yield
    except Dead:
        said = m.raised[-1][-1][1].attrs.get("args", ()) if m.raised[-1] else ()
        message = said[0] if said and isinstance(said[0], str) else "refused by the release's parser"
        raise UsageError(f"the line after --: {' '.join(message.split())}") from None
    except (OutOfBudget, GuardBudget) as stop:
        raise UsageError(f"{UNTOLD}: {stop}") from None


def _facts(m: Machine, argv: tuple[str, ...]) -> None:
    """The process as it would be: its arguments, no plugins. Nobody asks for the defaults of options."""
    table = m.world.models.table
    table["dataclasses.fields"] = Native("fields", lambda m, args, kwargs: _fields(m, args[0]))
    table["pathlib.Path"] = m.world.outside_class("pathlib.Path")
    m.world.settings["sys.argv"] = ListValue(("vllm", *argv), m.space.true)
    m.world.settings["sys.modules"] = DictValue(m.space.true)
    m.facts["vllm.plugins.load_general_plugins"] = facts.always(None)


def _fields(m: Machine, cls: ClassValue) -> tuple[Value, ...]:
    """`dataclasses.fields`, with types and without defaults, which may be whole configurations."""
    return tuple(_field(m, cls, field) for field in fields_of(m, cls) if not field.passed)


def _field(m: Machine, cls: ClassValue, field: Field) -> Instance:
    made = Instance(m.world.models.classes["builtins.object"], m.space.true)
    nothing = m.world.models.table["dataclasses.MISSING"]
    with entering.inside(m, cls.module.name), m.aside():
        hint = None if field.annotation is None else _hint(m, field.annotation)
    made.attrs |= {"name": field.name, "type": hint, "default": None, "default_factory": nothing}
    return made


def _hint(m: Machine, node: Node) -> Value:
    """A type as `typing` would tell it: containers keep what they are of."""
    if isinstance(node, Binary) and node.op == "|":
        return union_of(_hint(m, node.left), _hint(m, node.right))
    if isinstance(node, Index):
        outer = settle(m, evaluate(m, node.value))
        if isinstance(outer, NativeClass) and outer.name in ("list", "tuple", "set"):
            inner = node.key.items if isinstance(node.key, Display) else (node.key,)
            return Instance(outer, m.space.true, tuple(_hint(m, item) for item in inner))
    return settle(m, evaluate(m, node))
