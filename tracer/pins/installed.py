"""The engine as it is installed: found by its metadata, as pip and uv write it, never by importing it."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from ..archive import MAX_FILE

_FLAVOURS = ("", "-cpu")
"""What distributions of an engine are called besides its own name, in the order they are looked for."""


class Installation(Struct, frozen=True, kw_only=True):
    """An installed engine."""

    distribution: str
    version: str
    root: Path
    """The folder that holds its package: site-packages, or a checkout that was installed editable."""
    editable: bool = False


def installation(engine: str, folders: Sequence[str]) -> Installation | None:
    """The engine's distribution that an interpreter with these folders would use."""
    for distribution in (engine + flavour for flavour in _FLAVOURS):
        for folder in folders:
            for info in _infos(Path(folder), distribution):
                if found := _installed(info, distribution, engine):
                    return found
    return None


def _infos(folder: Path, distribution: str) -> Iterable[Path]:
    """Folders of metadata that bear a distribution's name."""
    name = re.sub(r"[-_.]+", "_", distribution)
    try:
        return sorted(folder.glob(f"{name}-*.dist-info"))
    except OSError:
        return ()


def _installed(info: Path, distribution: str, engine: str) -> Installation | None:
    """The installation that a folder of metadata tells of, if its files are there."""
    from email.parser import HeaderParser  # where nothing is installed, nobody waits for it

    head = HeaderParser().parsestr(_text(info / "METADATA").partition("\n\n")[0])
    name, version = head.get("Name", ""), head.get("Version", "")
    if re.sub(r"[-_.]+", "-", name).lower() != distribution or not version:
        return None
    package = f"{engine}/__init__.py"
    if package in _recorded(info) and (info.parent / package).is_file():
        return Installation(distribution=distribution, version=version, root=info.parent)
    checkout = _editable(info)
    if checkout is None or not (checkout / package).is_file():
        return None  # what an uninstall left behind
    return Installation(distribution=distribution, version=version, root=checkout, editable=True)


def _recorded(info: Path) -> Iterator[str]:
    """The files that the distribution brought."""
    try:
        yield from (row[0] for row in csv.reader(_text(info / "RECORD").splitlines()) if row)
    except csv.Error:
        return


def _editable(info: Path) -> Path | None:
    """The checkout from which the engine was installed to be edited (PEP 610)."""
    try:
        told = json.loads(_text(info / "direct_url.json"))
        parts = urlsplit(told["url"])
        editable = told["dir_info"]["editable"] is True
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return Path(unquote(parts.path)) if editable and parts.scheme == "file" else None


def _text(path: Path) -> str:
    try:
        if not path.is_file():
            return ""
        with path.open("rb") as file:
            return file.read(MAX_FILE).decode("utf-8", "replace")
    except OSError:
        return ""
