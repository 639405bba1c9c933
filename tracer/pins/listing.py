"""What an index lists of a project: a page in JSON (PEP 691) or HTML (PEP 503), or a folder of files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urljoin

import msgspec
from msgspec import Struct

from ...report.errors import SourceError
from ..archive import one_line
from .addresses import HTTP, shown, split

ACCEPT = "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.01"
MAX_LISTED = 100_000

_SHA256 = re.compile(r"[0-9a-f]{64}")


class Link(Struct, frozen=True, kw_only=True):
    """A file that an index lists."""

    filename: str
    url: str
    sha256: str | None = None
    size: int | None = None
    yanked: bool = False

    @property
    def local(self) -> bool:
        """Whether it lies on this machine."""
        return split(self.url).scheme == "file"


def links(page: bytes, kind: str, url: str) -> list[Link]:
    """The files that a page lists, in its order; `url` is where the page itself was found."""
    rows = _json(page, url) if kind.endswith("json") else _html(page, url)
    out: list[Link] = []
    for row in rows:
        if len(out) >= MAX_LISTED:
            raise SourceError(f"{shown(url)}: lists over {MAX_LISTED:,} files")
        if _follows(url, row.url):
            out.append(row)
    return out


def folder_links(folder: Path) -> list[Link]:
    """The files of a folder, as pip takes it with find-links; no hash is stated of any."""
    try:
        paths = sorted(path for path in folder.iterdir() if path.is_file())
    except OSError as problem:
        raise SourceError(f"{one_line(folder)}: cannot be listed ({problem.strerror})") from None
    return [Link(filename=path.name, url=path.absolute().as_uri()) for path in paths]


def _follows(page: str, url: str) -> bool:
    """Whether a page may name that address: only a page of this machine names files of this machine."""
    try:
        scheme = split(url).scheme
    except SourceError:
        return False
    return scheme in HTTP or (scheme == "file" and split(page).scheme == "file")


def _json(page: bytes, url: str) -> Iterator[Link]:
    try:
        rows = msgspec.json.decode(page)["files"]
        for row in rows:
            yield _row(row, url)
    except (msgspec.DecodeError, TypeError, KeyError, ValueError, AttributeError, RecursionError):
        raise SourceError(f"{shown(url)}: is no listing of a package index") from None


def _row(row: dict[str, Any], url: str) -> Link:
    sha256, size, yanked = row.get("hashes", {}).get("sha256"), row.get("size"), row.get("yanked", False)
    return Link(
        filename=str(row["filename"]),
        url=urljoin(url, str(row["url"])),
        sha256=_hash(sha256),
        size=size if isinstance(size, int) else None,
        yanked=yanked is not False,
    )


def _hash(text: object) -> str | None:
    lower = text.lower() if isinstance(text, str) else ""
    return lower if _SHA256.fullmatch(lower) else None


def _html(page: bytes, url: str) -> Iterator[Link]:
    anchors = _Anchors(url)
    anchors.feed(page.decode("utf-8", "replace"))
    anchors.close()
    yield from anchors.found


class _Anchors(HTMLParser):
    """`<a href="NAME#sha256=...">`, with `<base href>` and `data-yanked`."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self._base = url
        self.found: list[Link] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        href = given.get("href") or ""
        try:
            if tag == "base" and href:
                self._base = urljoin(self._base, href)
            elif tag == "a" and href:
                self.found.append(self._link(href, "data-yanked" in given))
        except ValueError:
            return  # an address that is none

    def _link(self, href: str, yanked: bool) -> Link:
        url, _, fragment = urljoin(self._base, href).partition("#")
        return Link(
            filename=unquote(url.partition("?")[0].rpartition("/")[2]),
            url=url,
            sha256=_hash(dict(parse_qsl(fragment)).get("sha256")),
            yanked=yanked,
        )
