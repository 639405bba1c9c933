"""The checkpoint's folder as the engine's own file calls see it: its names, and what its JSON files hold.

Where the folder lies is not known and decides nothing; paths into it begin with `FOLDER`.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from ..evaluate.unions import each
from ..evaluate.values import Instance, ListValue, Manager, Native, Unknown, Value
from ..models.stdlib import box_json
from ..scenario import Scenario

if TYPE_CHECKING:
    from ..evaluate.machine import Machine

Args = tuple[Value, ...]
Kwargs = dict[str, Value]

FOLDER = "<checkpoint>"
CONTENT = "<content>"
"""Attribute of an open file under which its JSON is kept."""


def install(m: Machine, scenario: Scenario, model: Value) -> None:
    """Answer `os.path.join`, `os.path.isdir`, `glob.glob`, `open` and `json.load` for paths that begin with
    `model`, the engine's name of the checkpoint.
    """
    held = dict.fromkeys(scenario.names) | scenario.files | {"config.json": scenario.model}
    table, opened = m.world.models.table, m.world.outside_class("a file of the checkpoint")
    joined = table["os.path.join"]

    def is_model(atom: Value) -> bool:
        return atom is model or (isinstance(atom, Unknown) and atom.key == model.key)

    def join(m: Machine, args: Args, kwargs: Kwargs) -> Value:
        return each(m, args[0], lambda a: joined.call(m, (FOLDER if is_model(a) else a, *args[1:]), kwargs))

    def is_folder(m: Machine, args: Args, kwargs: Kwargs) -> Value:
        return each(m, args[0], lambda a: is_model(a) or m.unknown("os.path.isdir()", kind="bool"))

    def listed(m: Machine, args: Args, kwargs: Kwargs) -> Value:
        pattern = _inside(args[0])
        if pattern is None:
            return m.unknown("glob.glob()")
        return ListValue(tuple(f"{FOLDER}/{n}" for n in sorted(held) if fnmatchcase(n, pattern)), m.live)

    def open_(m: Machine, args: Args, kwargs: Kwargs) -> Value:
        name = _inside(args[0])
        if name is None or held.get(name) is None:
            return m.unknown("open()")
        file = Instance(opened, m.live)
        file.attrs[CONTENT] = box_json(m, held[name])
        return Manager(lambda m, body: body(file))

    def load(m: Machine, args: Args, kwargs: Kwargs) -> Value:
        return each(m, args[0], lambda f: _content(m, f))

    for symbol, run in (
        ("os.path.join", join),
        ("os.path.isdir", is_folder),
        ("glob.glob", listed),
        ("builtins.open", open_),
        ("json.load", load),
    ):
        table[symbol] = Native(symbol, run)


def _inside(path: Value) -> str | None:
    """The part of a path below the folder; None for any other."""
    return path.removeprefix(f"{FOLDER}/") if isinstance(path, str) and path.startswith(FOLDER) else None


def _content(m: Machine, file: Value) -> Value:
    known = isinstance(file, Instance) and CONTENT in file.attrs
    return file.attrs[CONTENT] if known else m.unknown("json.load()")
