"""What of a source an answer was read from: where none of it is another, neither is the answer.

The evaluator reads a module name by name, so an answer hangs on few of a module's statements. Each thing that
was read is a `Reading`; its print at a source is equal at two sources that say the same there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

if TYPE_CHECKING:
    from .library import Library, LoweredClass, LoweredModule

ALL = "*"
"""In place of a name: which names there are, and in what order."""
PRESENT = ""
"""In place of a name: that the module or the class can be read."""


class Reading(NamedTuple):
    """One thing that was read."""

    kind: str
    """What it is, see `PRINTS`."""
    where: str
    """The path of a module; else what was looked for."""
    scope: str = ""
    """The class at the left margin whose body was read; empty for the module's own."""
    name: str = ""


class Print(Struct, frozen=True, array_like=True):
    """What a reading came to."""

    text: str
    """A digest of what stands there."""
    lines: tuple[tuple[int, int], ...] = ()
    """The first and the last line of each statement of it."""


def print_of(library: Library, reading: Reading) -> Print:
    """What a reading comes to at a source."""
    try:
        return PRINTS[reading.kind](library, reading)
    except (SyntaxError, ValueError):  # a file that is looked through is no Python
        return UNREADABLE


def digest(parts: Iterable[str]) -> str:
    whole = hashlib.blake2b(digest_size=8)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        whole.update(b"%d\0" % len(data) + data)
    return whole.hexdigest()


NOTHING = Print("nothing")
"""Of what is not there."""
UNREADABLE = Print("cannot be read")


def _name(library: Library, reading: Reading) -> Print:
    """The statements that run when a name is asked for, of a class its head alone; and the star imports, for
    a name that has statements may have no value.
    """
    scope = _scope(library, reading)
    if scope is not None and reading.where == f"{library.source.engine}/_version.py":
        return _version(library, reading)  # the build writes it, each time a little otherwise
    if scope is None or reading.name == PRESENT:
        return NOTHING if scope is None else Print("present")
    if reading.name == ALL:
        return Print(digest(scope.outline()))
    spans = [scope.span(number) for number in scope.run_for(reading.name)]
    stars = [scope.cut(*span) for span in scope.starred()]
    return Print(digest([*(scope.cut(*span) for span in spans), "", *stars]), tuple(spans))


def _block(library: Library, reading: Reading) -> Print:
    """A statement that makes no name, by its text."""
    scope = _scope(library, reading)
    spans = () if scope is None else (scope.span(number) for number in range(scope.count))
    found = [span for span in spans if scope is not None and digest([scope.cut(*span)]) == reading.name]
    return Print("present", tuple(found[:1])) if len(found) == 1 else Print(f"{len(found)} times")


def _scope(library: Library, reading: Reading) -> LoweredModule | LoweredClass | None:
    found = library.at(reading.where)
    return found if found is None or not reading.scope else found.class_named(reading.scope)


def _module(library: Library, reading: Reading) -> Print:
    return Print(library.source.module_path(reading.where) or "absent")


def _imports(library: Library, reading: Reading) -> Print:
    """The packages that importing a module needs, always and under conditions."""
    outside, maybe = library.imports.outside(reading.where), library.imports.maybe(reading.where)
    under = (
        f"{some.module} {' '.join(some.needs.inside)} {' '.join(sorted(some.needs.outside))}"
        for some in maybe
    )
    return Print(digest([" ".join(sorted(outside)), *under]))


def _file(library: Library, reading: Reading) -> Print:
    from .engines.build import made

    return Print(str(made(library.source, reading.where)))


def _registrants(library: Library, reading: Reading) -> Print:
    from .engines.native import registrants

    found = registrants(library, reading.where, reading.name)
    return Print(digest(f"{module} {text}" for module, _, text in found))


def _rewritten(library: Library, reading: Reading) -> Print:
    from .engines.rewritten import rewritten

    found = rewritten(library, tuple(reading.where.split("\n")))
    return Print(digest(f"{owner} {' '.join(sorted(names))}" for owner, names in sorted(found.items())))


def _version(library: Library, reading: Reading) -> Print:
    return Print(library.source.release or "unknown")


def _native(library: Library, reading: Reading) -> Print:
    """All that is no module of the engine: its C++ and CUDA, its build, its requirements."""
    return Print(library.source.rest_hash)


def _text(library: Library, reading: Reading) -> Print:
    """All of a module."""
    text = library.source.text(reading.where)
    return NOTHING if text is None else Print(digest([text]))


PRINTS: dict[str, Callable[[Library, Reading], Print]] = {
    "name": _name,
    "block": _block,
    "module": _module,
    "imports": _imports,
    "file": _file,
    "registrants": _registrants,
    "rewritten": _rewritten,
    "version": _version,
    "rest": _native,
    "text": _text,
}
TEXT = "text"
OF_FILES = ("name", "block")
"""Kinds of readings that are the same where the whole module is."""
REST = Reading("rest", "")
"""What every answer hangs on."""
VERSION = Reading("version", "")
