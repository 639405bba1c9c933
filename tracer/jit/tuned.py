"""The tuned configurations that an engine ships, and the file it would use for a device and shape."""

from __future__ import annotations

import ast
import math
import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
from typing import Any

from msgspec import Struct

from ...report.predicate import Site
from ..sources import Source
from .marks import dotted
from .naming import Naming, NamingFile
from .straight import Straight, UnreadableError

NEAREST = 5
"""How many files are named in place of one that is not shipped."""
_MAX_DEVICE = 120


class Tuned(Struct, frozen=True, kw_only=True):
    """A file with tuned configurations."""

    path: str
    kind: str | None = None
    """The function that opens it, by its symbol; None where no rule was read that makes its name."""
    fields: dict[str, int | str] = {}
    """What its name says: `{"E": 16, "N": 1536, "device_name": ...}`."""

    @property
    def device(self) -> str | None:
        """The device's name as it stands in the file's name."""
        found = [value for key, value in self.fields.items() if "device" in key]
        return str(found[0]) if found else None


class Kind(Struct, frozen=True, kw_only=True):
    """One sort of files."""

    symbol: str
    """The function that opens them."""
    site: Site
    parameters: tuple[str, ...]
    """What that function is asked with: the fields of `would_use`."""
    fields: tuple[str, ...]
    """What a file's name holds."""
    folder: str
    """Where they are shipped."""


class Use(Struct, frozen=True, kw_only=True):
    """What the engine looks for, for a device and shape, and what is there."""

    kind: str
    wanted: str | None = None
    """The name of the file that it looks for; None where that could not be computed."""
    file: Tuned | None = None
    nearest: tuple[Tuned, ...] = ()
    """Where there is none: those shipped for the device that differ least, best first."""
    unless: tuple[str, ...] = ()
    """Tests of the source under which it looks for none."""
    unread: str | None = None
    """Why `wanted` is not there."""


class TunedFiles:
    """The tuned configurations of one source."""

    def __init__(self, source: Source) -> None:
        self._source = source

    @cached_property
    def kinds(self) -> tuple[Kind, ...]:
        """The sorts of files that a rule was read for."""
        return tuple(
            Kind(
                symbol=naming.symbol,
                site=Site(naming.file.path, naming.opener.lineno),
                parameters=naming.parameters,
                fields=naming.fields,
                folder=folder,
            )
            for folder, namings in self._namings.items()
            for naming in namings
        )

    @cached_property
    def shipped(self) -> tuple[Tuned, ...]:
        """Every JSON file of a folder named `configs`, or below one."""
        return tuple(self._tuned(path) for path in self._paths)

    def would_use(self, kind: str, device: str, **fields: Any) -> Use:
        """The file for a device, by torch's name for it, and the arguments of the function that opens it.

        `kind` is that function's symbol or the end of it. Raises `KeyError` for a kind that is not there.
        """
        folder, naming = self._named(kind)
        straight = Straight(device[:_MAX_DEVICE], naming.file.find)
        try:
            name = straight.run(naming.opener, fields, naming.made)
        except (UnreadableError, RecursionError) as problem:
            return Use(kind=naming.symbol, unread=str(problem))
        if not isinstance(name, str):
            return Use(kind=naming.symbol, unread=f"{naming.symbol} gives no name")
        path, unless = f"{folder}/{name}", tuple(straight.unless)
        file = next((each for each in self.shipped if each.path == path), None)
        nearest = () if file else self._nearest(naming, name)
        return Use(kind=naming.symbol, wanted=name, file=file, nearest=nearest, unless=unless)

    def environment(self, kind: str) -> tuple[str, ...]:
        """The variables that the function which opens files of a kind reads: they may lead it elsewhere."""
        _, naming = self._named(kind)
        reads = (node for node in ast.walk(naming.opener) if isinstance(node, ast.Attribute))
        return tuple(dict.fromkeys(node.attr for node in reads if dotted(node.value) == "envs"))

    def callers(self, kind: str) -> tuple[str, ...]:
        """The functions of its file that call the function which opens files of a kind."""
        _, naming = self._named(kind)
        calls = naming.file.calling(naming.opener.name)
        return tuple(f"{naming.file.module}.{name}" for name in calls)

    # --- rules

    @cached_property
    def _paths(self) -> tuple[str, ...]:
        paths = self._source.files(f"{self._source.engine}/", ".json")
        return tuple(path for path in paths if "configs" in path.split("/")[:-1])

    @cached_property
    def _folders(self) -> frozenset[str]:
        return frozenset(path.rpartition("/")[0] for path in self._paths)

    @cached_property
    def _namings(self) -> dict[str, list[Naming]]:
        """By the folder that the rules' files are in."""
        found: dict[str, list[Naming]] = defaultdict(list)
        for path in self._near():
            file = NamingFile(self._source, path)
            folders = sorted(self._folders.intersection(file.folders()))
            for folder in folders[:1]:
                with suppress(RecursionError, re.error):  # a rule that nobody would write
                    found[folder] += file.namings()
        return dict(found)

    def _near(self) -> Iterator[str]:
        """The modules next to such a folder, or above it, that name JSON files."""
        for path in self._source.files(f"{self._source.engine}/", ".py"):
            here = path.rpartition("/")[0] + "/"
            if any(folder.startswith(here) for folder in self._folders):
                data = self._source.read(path) or b""
                if b".json" in data and b"__file__" in data:
                    yield path

    def _named(self, kind: str) -> tuple[str, Naming]:
        for folder, namings in self._namings.items():
            for naming in namings:
                if naming.symbol == kind or naming.symbol.endswith(f".{kind}"):
                    return folder, naming
        raise KeyError(kind)

    def _tuned(self, path: str) -> Tuned:
        folder, _, name = path.rpartition("/")
        matches = [(each, given) for each in self._namings.get(folder, ()) if (given := each.matched(name))]
        if not matches:
            return Tuned(path=path)
        # Of several rules the one that leaves least to its fields: what others swallow it spells out.
        naming, fields = min(matches, key=lambda match: sum(len(str(value)) for value in match[1].values()))
        return Tuned(path=path, kind=naming.symbol, fields=fields)

    def _nearest(self, naming: Naming, name: str) -> tuple[Tuned, ...]:
        wanted = naming.matched(name)
        if wanted is None:
            return ()
        device = Tuned(path="", fields=wanted).device
        same = [each for each in self.shipped if each.kind == naming.symbol and each.device == device]
        return tuple(sorted(same, key=lambda each: _distance(each, wanted)))[:NEAREST]


def _distance(file: Tuned, wanted: dict[str, int | str]) -> tuple[int, int, float, str]:
    """Texts that differ, numbers that differ, by how much, and the name."""
    names = file.fields.keys() | wanted.keys()
    pairs = [(file.fields.get(name), wanted.get(name)) for name in names]
    differ = [(a, b) for a, b in pairs if a != b]
    numbers = [(a, b) for a, b in differ if isinstance(a, int) and isinstance(b, int)]
    apart = sum(abs(math.log((a + 1) / (b + 1))) for a, b in numbers)
    return len(differ) - len(numbers), len(numbers), round(apart, 9), file.path
