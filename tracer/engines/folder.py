"""The checkpoint's folder as the engine's own file calls see it: its names, and what its JSON files hold.

Where the folder lies is not known: the engine is given its own name, as if it lay where the engine runs.
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

CONTENT = "<content>"
"""Attribute of an open file under which its JSON is kept."""


def install(m: Machine, scenario: Scenario) -> None:
    """Answer what file calls say of the checkpoint's folder and the files in it."""
    held = dict.fromkeys(scenario.names) | scenario.files | {"config.json": scenario.model}
    table, opened = m.world.models.table, m.world.outside_class("a file of the checkpoint")
    root = scenario.name

    def inside(path: Value) -> str | None:
        """The part of a path below the folder; None for any other."""
        return (
            path.removeprefix(f"{root}/") if isinstance(path, str) and path.startswith(f"{root}/") else None
        )

    def is_folder(m: Machine, args: Args, kwargs: Kwargs) -> Value:
        return each(m, args[0], lambda a: a == root or m.unknown("os.path.isdir()", kind="bool"))

    def listed(m: Machine, args: Args, kwargs: Kwargs) -> Value:
        pattern = inside(args[0])
        if pattern is None:
            return m.unknown("glob.glob()")
        return ListValue(tuple(f"{root}/{n}" for n in sorted(held) if fnmatchcase(n, pattern)), m.live)

    def open_(m: Machine, args: Args, kwargs: Kwargs) -> Value:
        name = inside(args[0])
        if name is None or held.get(name) is None:
            return m.unknown("open()")
        file = Instance(opened, m.live)
        file.attrs[CONTENT] = box_json(m, held[name])
        return Manager(lambda m, body: body(file))

    def load(m: Machine, args: Args, kwargs: Kwargs) -> Value:
        return each(m, args[0], lambda f: _content(m, f))

    def path(m: Machine, args: Args, kwargs: Kwargs) -> Value:
        return each(m, args[0], lambda a: _path(m, a, root))

    for symbol, run in (
        ("os.path.isdir", is_folder),
        ("glob.glob", listed),
        ("builtins.open", open_),
        ("json.load", load),
        ("pathlib.Path", path),
    ):
        table[symbol] = Native(symbol, run)


def _path(m: Machine, name: Value, root: str) -> Value:
    """A path object: of the folder it is known that it is one."""
    if name != root:
        return m.unknown("pathlib.Path()")
    out = Unknown("the checkpoint's path", "the checkpoint's path")
    for ask, answer in (("is_file", False), ("is_dir", True), ("exists", True)):
        m.outside[out.key, ask] = Native(f"Path.{ask}", lambda m, args, kwargs, answer=answer: answer)
    m.outside[out.key, "suffix"] = "".join(root.rpartition(".")[1:]) if "." in root.strip(".") else ""
    m.outside[out.key, "name"] = root
    return out


def _content(m: Machine, file: Value) -> Value:
    known = isinstance(file, Instance) and CONTENT in file.attrs
    return file.attrs[CONTENT] if known else m.unknown("json.load()")
