"""argparse as an engine's own parser uses it: what is registered is written down instead of parsed.

The parser itself, with all that it does to an argument before argparse sees it, is the
engine's own and evaluated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from ..evaluate.atoms import plain
from ..evaluate.calls import call_value
from ..evaluate.containers import items_of
from ..evaluate.unions import settle
from ..evaluate.values import MISSING, ClassValue, Instance, ListValue, Native, NativeClass, SetValue, Value

if TYPE_CHECKING:
    from ..evaluate.machine import Machine

Args = tuple[Value, ...]
Kwargs = dict[str, Value]

SWITCHES = ("store_true", "store_false", "store_const", "append_const", "count", "help", "version")
"""Actions of argparse that take no value."""


class Option(Struct, frozen=True, kw_only=True):
    """An option that a parser knows."""

    names: tuple[str, ...]
    """`--tensor-parallel-size`, `-tp`, ..."""
    dest: str
    nargs: str | int | None
    """As argparse has it: None for one value, 0 for a switch."""
    negatives: frozenset[str] = frozenset()
    """Those of `names` that turn a switch off."""
    choices: tuple[Any, ...] = ()


class CommandLine:
    """A machine's argparse, with what was registered so far."""

    def __init__(self, m: Machine) -> None:
        self.found: dict[tuple[str, ...], Option] = {}
        self.whole = True
        """Whether every option could be read."""
        self._replaced: dict[str, Value] = {}
        parser, group = (
            m.world.outside_class(f"argparse.{name}") for name in ("ArgumentParser", "_ArgumentGroup")
        )
        self._switch = m.world.outside_class("argparse.BooleanOptionalAction")
        self._action = m.world.outside_class("argparse.Action")
        self._switch.attrs["__init__"] = Native("BooleanOptionalAction.__init__", _init_switch)
        methods = {"__init__": _init_parser, "register": self._register, "add_argument": self._add}
        for cls in (parser, group):
            cls.attrs |= {name: Native(f"{cls.symbol}.{name}", run) for name, run in methods.items()}
        parser.attrs["add_argument_group"] = Native(
            "add_argument_group", lambda m, a, k: Instance(group, m.live)
        )
        parser.attrs["parse_args"] = Native("parse_args", lambda m, args, kwargs: args[1])

    def _register(self, m: Machine, args: Args, kwargs: Kwargs) -> Value:
        """`parser.register("action", argparse's class, another)`: the other is taken for it from now on."""
        self._replaced[args[2].symbol] = args[3]

    def _add(self, m: Machine, args: Args, kwargs: Kwargs) -> Value:
        names = tuple(settle(m, name) for name in args[1:])
        action = self._made(m, names, kwargs)
        known = _texts(m, action.attrs["option_strings"])
        if known is None or not names:
            self.whole = False
        elif known[0].startswith("-"):
            self._note(m, known, action, kwargs)
        return action

    def _made(self, m: Machine, names: Args, kwargs: Kwargs) -> Instance:
        """The action object; one of the engine's own kinds of switch makes its names itself."""
        asked = kwargs.get("action")
        cls = self._replaced.get(getattr(asked, "symbol", ""), asked)
        given = ListValue(names, m.live)
        if getattr(cls, "symbol", "") == self._switch.symbol:
            cls = self._switch
        if isinstance(cls, ClassValue | NativeClass) and self._switch in cls.mro:
            made = settle(m, call_value(m, cls, (given, _dest(names, kwargs)), {}))
            if isinstance(made, Instance):
                return made
        made = Instance(self._action, m.live)
        made.attrs |= {"option_strings": given, "dest": _dest(names, kwargs)}
        return made

    def _note(self, m: Machine, names: tuple[str, ...], action: Instance, kwargs: Kwargs) -> None:
        switch = self._switch in action.cls.mro or kwargs.get("action") in SWITCHES
        nargs = 0 if switch else settle(m, kwargs.get("nargs"))
        if not isinstance(nargs, str | int | None):
            self.whole, nargs = False, None
        self.found[names] = Option(
            names=names,
            dest=str(action.attrs["dest"]),
            nargs=nargs,
            negatives=_negatives(m, action, names) if switch else frozenset(),
            choices=self._choices(m, kwargs),
        )

    def _choices(self, m: Machine, kwargs: Kwargs) -> tuple[Any, ...]:
        """The texts that are taken, where nothing changes a text before it is compared."""
        plainly = kwargs.get("type") in (None, m.world.models.classes["builtins.str"])
        found = _constants(m, kwargs.get("choices"))
        return found if plainly and all(isinstance(item, str) for item in found) else ()


def _init_parser(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    args[0].attrs |= {"prog": "", "_subparsers": None, "_action_groups": ListValue((), m.live)}


def _init_switch(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    """`--x` brings `--no-x`."""
    made, names = args[0], _texts(m, args[1]) or ()
    off = tuple(f"--no-{name[2:]}" for name in names if name.startswith("--"))
    made.attrs |= {"option_strings": ListValue((*names, *off), m.live), "dest": args[2]}


def _dest(names: Args, kwargs: Kwargs) -> str:
    """Where argparse keeps the value: as said, else by the first long name."""
    given = kwargs.get("dest")
    long = next((name for name in names if str(name).startswith("--")), names[0] if names else "")
    return given if isinstance(given, str) else str(long).lstrip("-").replace("-", "_")


def _negatives(m: Machine, action: Instance, names: tuple[str, ...]) -> frozenset[str]:
    told = settle(m, action.attrs.get("negative_option_strings", MISSING))
    if isinstance(told, SetValue):
        return frozenset(name for name in names if ("constant", name) in told.entries)
    return frozenset(name for name in names if name.startswith("--no-"))


def _texts(m: Machine, value: Value) -> tuple[str, ...] | None:
    found = _constants(m, value)
    return found if found and all(isinstance(item, str) for item in found) else None


def _constants(m: Machine, value: Value) -> tuple[Any, ...]:
    """The items of a list of constants; none where not all are known."""
    held = settle(m, value)
    items = (
        held if isinstance(held, tuple) else items_of(m, held, None) if isinstance(held, ListValue) else ()
    )
    known = tuple(plain(settle(m, item)) for item in items) if isinstance(items, tuple) else ()
    return known if all(isinstance(item, str | int | None) for item in known) else ()
