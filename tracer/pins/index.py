"""Releases from the user's own package index: its listing is read, and the sdist that is meant is picked.

No installer is run and nothing is built. As for pip all places count alike: the version decides, then the
order of find-links, the index and the extra ones.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from urllib.parse import urljoin

from msgspec import Struct
from msgspec.structs import replace
from packaging.utils import canonicalize_name, parse_sdist_filename
from packaging.version import Version

from ...report.errors import SourceError
from ..archive import one_line
from .addresses import local_path, same_origin, shown, split
from .grammar import Release
from .listing import ACCEPT, Link, folder_links, links
from .pip_settings import Settings
from .transport import MissingError, opened

MAX_PAGE = 16 << 20


class Sdist(Struct, frozen=True, kw_only=True):
    """A source distribution that a place lists."""

    version: Version
    link: Link

    @property
    def path(self) -> Path | None:
        """Where it lies, if on this machine."""
        return local_path(self.link.url) if self.link.local else None


class Listed(Struct, frozen=True, kw_only=True):
    """What all places together list, and what went wrong on the way."""

    sdists: tuple[Sdist, ...]
    wheels: tuple[Version, ...] = ()
    """Versions of which there are wheels."""
    problems: tuple[SourceError, ...] = ()


def places_of(settings: Settings) -> str:
    """A digest of the places that are asked, secrets left out."""
    places = "\n".join(shown(place) for place in (*settings.find_links, *settings.index_urls))
    return hashlib.sha256(places.encode()).hexdigest()[:32]


def listed(engine: str, settings: Settings) -> Listed:
    """Ask every place for the engine's sdists."""
    if not settings.index_urls and not settings.find_links:
        raise SourceError(
            "no package index is known: there is no pip, which knows one, or it is told no-index; set "
            "PIP_INDEX_URL"
        )
    asked = [(_files, place) for place in settings.find_links]
    asked += [(partial(_project, engine), place) for place in settings.index_urls]
    rows: list[Link] = []
    problems: list[SourceError] = []
    for ask, place in asked:
        try:
            rows += ask(_address(place), settings)
        except MissingError:
            continue  # a place that does not have the project
        except SourceError as problem:
            problems.append(problem)
    return Listed(
        sdists=tuple(_sdists(rows, engine)), wheels=tuple(_wheels(rows, engine)), problems=tuple(problems)
    )


def on_this_machine(settings: Settings) -> Settings:
    """The places that can be asked without a network."""
    return replace(
        settings,
        index_urls=tuple(filter(_is_local, settings.index_urls)),
        find_links=tuple(filter(_is_local, settings.find_links)),
    )


def _is_local(place: str) -> bool:
    return "://" not in place or split(place).scheme == "file"


def picked(release: Release, found: Listed, engine: str) -> Sdist:
    """The sdist that is meant: the first of the newest version that fits."""
    fits = [
        row for row in found.sdists if release.takes(row.version) and (release.exact or not row.link.yanked)
    ]
    if fits:
        newest = max(row.version for row in fits)
        return next(row for row in fits if row.version == newest)
    if found.problems:
        raise found.problems[0]
    only = "; download a wheel of it and name that" if any(map(release.takes, found.wheels)) else ""
    near = only or _instead(found, release)
    raise SourceError(f"{engine} {release}: the package index lists no sdist of it{near}")


def newer_wheel(release: Release, found: Listed, sdist: Sdist) -> Version | None:
    """A version that fits better than the sdist that was picked, and has wheels alone."""
    newest = max(filter(release.takes, found.wheels), default=sdist.version)
    return newest if newest > sdist.version else None


def _instead(found: Listed, release: Release) -> str:
    """The versions next to the one that was asked for."""
    versions = sorted({row.version for row in found.sdists if not row.version.is_prerelease})
    if not versions:
        return " or of any version"
    wanted = Version(release.series or "0")
    below = [version for version in versions if version < wanted][-1:]
    above = [version for version in versions if version > wanted][:1]
    near = list(dict.fromkeys((*below, *above, versions[-1])))
    return f"; it has {', '.join(map(str, near))}"


def _project(engine: str, index: str, settings: Settings) -> list[Link]:
    """An index's page of one project."""
    page = f"{index.rstrip('/')}/{canonicalize_name(engine)}/"
    if split(page).scheme == "file":
        page = urljoin(page, "index.html")
    return _page(page, settings)


def _files(place: str, settings: Settings) -> list[Link]:
    """What a find-links names: a folder of files, or a page of links."""
    if split(place).scheme == "file" and (path := local_path(place)).is_dir():
        return folder_links(path)
    return _page(place, settings)


def _page(page: str, settings: Settings) -> list[Link]:
    with opened(page, settings, ACCEPT) as answer:
        found = links(b"".join(answer.blocks(MAX_PAGE)), answer.kind, answer.url)
    return [_with_credentials(link, page) for link in found]


def _with_credentials(link: Link, page: str) -> Link:
    """Files on the index's own host are asked for with the index's user and password."""
    user, at, _ = split(page).netloc.rpartition("@")
    parts = split(link.url)
    if not at or "@" in parts.netloc or not same_origin(page, link.url):
        return link
    return replace(link, url=parts._replace(netloc=f"{user}@{parts.netloc}").geturl())


def _address(place: str) -> str:
    """A place as an address: pip takes a path for one as well."""
    if "://" in place or place.startswith("file:"):
        return place
    path = Path(place).expanduser()
    if not path.exists():
        raise SourceError(
            f"{one_line(place)}: pip's configuration names it, and there is no such folder or file"
        )
    return path.absolute().as_uri()


def _sdists(rows: list[Link], engine: str) -> Iterator[Sdist]:
    for row in rows:
        try:
            name, version = parse_sdist_filename(row.filename)
        except ValueError:  # InvalidSdistFilename, or a number without end
            continue
        if name == canonicalize_name(engine) and row.filename.endswith(".tar.gz"):
            yield Sdist(version=version, link=row)


def _wheels(rows: list[Link], engine: str) -> Iterator[Version]:
    for row in rows:
        name, _, rest = row.filename.partition("-")
        if row.filename.endswith(".whl") and canonicalize_name(name) == canonicalize_name(engine):
            with suppress(ValueError):
                yield Version(rest.partition("-")[0])
