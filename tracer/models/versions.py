"""packaging.version: versions of packages, compared as the library does.

A version that nobody knows is taken to be as new as the engine asks for, where the package is known to be
there: that is what installing the release brings. Reports say so.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from packaging.version import InvalidVersion, Version

from ..evaluate.atoms import describe, plain
from ..evaluate.unions import each
from ..evaluate.values import MISSING, Instance, Native, NativeClass, Unknown, Value
from ..packages import import_name
from .native import Args, Kwargs, Table

if TYPE_CHECKING:
    from ..evaluate.machine import Machine

table = Table()

CLASS = NativeClass("packaging.version.Version")
LABEL = "version of "
"""How an unknown version of a package reads; its name follows."""

ORDER: dict[str, tuple[Callable[[Any, Any], bool], bool, bool]] = {
    "__lt__": (operator.lt, False, True),
    "__le__": (operator.le, False, True),
    "__gt__": (operator.gt, True, False),
    "__ge__": (operator.ge, True, False),
    "__eq__": (operator.eq, False, False),
    "__ne__": (operator.ne, True, True),
}
"""What compares; and the answer where the left, or the right, is a version as new as anyone asks for."""


def of_module(m: Machine, symbol: str) -> Value:
    """What `package.__version__` gives; MISSING for any other symbol."""
    package, _, last = symbol.rpartition(".")
    return of_package(m, package) if last == "__version__" and "." not in package else MISSING


def of_package(m: Machine, name: str) -> Value:
    """The version of a package: what the release's requirements pin it to, else a text that nobody knows."""
    known = m.world.packages.version(name)
    return Unknown(f"{LABEL}{name}", f"{LABEL}{name}", None, "str") if known is None else known


@table("packaging.version.parse", "packaging.version.Version")
def _parse(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return each(m, args[0], lambda atom: _made(m, plain(atom)))


@table("importlib.metadata.version", "importlib_metadata.version")
def _version(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    def find(name: Value) -> Value:
        if not isinstance(name, str):
            return m.unknown(f"{LABEL}{describe(name)}", kind="str")
        package = import_name(name)
        missing = partial(m.fail, "ModuleNotFoundError", f"No package metadata was found for {name}")
        return m.branch(m.world.has(m, package), lambda: of_package(m, package), missing)

    return each(m, args[0], find)


def _made(m: Machine, text: Value) -> Value:
    out = Instance(CLASS, m.live)
    if isinstance(text, str):
        try:
            version = Version(text)
        except InvalidVersion:
            return m.fail("ValueError", f"Invalid version: {text!r}")
        out.attrs |= {name: getattr(version, name) for name in ("major", "minor", "micro", "release")}
        out.attrs |= {"base_version": version.base_version, "public": version.public, "text": text}
        return out
    out.attrs["text"] = text
    return out


def _compares(name: str) -> Native:
    run, left_new, right_new = ORDER[name]

    def compare(m: Machine, args: Args, kwargs: Kwargs) -> Value:
        def both(a: Value, b: Value) -> Value:
            if not isinstance(b, Instance) or b.cls is not CLASS:
                return m.unknown(f"a version {name} something else", kind="bool")
            x, y = a.attrs["text"], b.attrs["text"]
            if isinstance(x, str) and isinstance(y, str):
                return run(Version(x), Version(y))
            if _new(m, x) and isinstance(y, str):
                return left_new
            if _new(m, y) and isinstance(x, str):
                return right_new
            return m.unknown("versions compare", kind="bool")

        return each(m, args[1], lambda b: both(args[0], b))

    return Native(f"Version.{name}", compare)


def _new(m: Machine, text: Value) -> bool:
    """Whether a text is the version of a package that is there, and is not known otherwise."""
    label = text.label if isinstance(text, Unknown) else ""
    return label.startswith(LABEL) and m.world.packages.present(label.removeprefix(LABEL)) is True


for _name in ORDER:
    CLASS.attrs[_name] = _compares(_name)
