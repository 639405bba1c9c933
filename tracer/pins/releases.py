"""A release by its version: from the cache, a folder of this machine, or the index."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct
from packaging.utils import parse_sdist_filename
from packaging.version import Version

from ...report.errors import SourceError
from ..archive import one_line
from .cache import CACHED, Cache, Kept
from .download import brought
from .grammar import Release
from .index import Listed, Sdist, listed, newer_wheel, on_this_machine, picked, places_of
from .named import named
from .pip_settings import Settings, settings
from .talk import Talk

FETCHED = "from the package index"


class Archive(Struct, frozen=True):
    """An sdist at hand."""

    version: Version
    path: Path
    where: str
    """For people: where it came from."""


def release(asked: Release, engine: str, offline: bool, cache: Cache, talk: Talk) -> Archive:
    """Bring the sdist of a release; SourceError says why that cannot be."""
    known = named(engine).release(asked.series) if asked.exact else None
    if known is not None and (path := cache.file(known.sha256)):
        return Archive(Version(known.version), path, CACHED)
    pip = settings()
    if asked.exact and (kept := newest_kept(asked, engine, cache, places_of(pip))):
        return kept
    if offline:
        return _without_network(asked, engine, on_this_machine(pip), cache, talk)
    found = listed(engine, pip)
    fitting = any(asked.takes(row.version) for row in found.sdists)
    if found.problems and not fitting:
        return _last_known(asked, engine, found.problems[0], cache, talk)
    for problem in found.problems:
        talk.say(str(problem))
    sdist = picked(asked, found, engine)
    if newer := newer_wheel(asked, found, sdist):
        talk.say(f"{engine} {newer} has wheels only; {sdist.version} is the newest sdist that fits")
    return _brought(sdist, engine, pip, cache, talk)


def _brought(sdist: Sdist, engine: str, pip: Settings, cache: Cache, talk: Talk) -> Archive:
    known = named(engine).release(str(sdist.version))
    if sdist.link.yanked:
        talk.say(f"{sdist.link.filename} was yanked from the index")
    path = brought(sdist, known.sha256 if known else None, pip, cache, talk)
    if sdist.path is not None:
        return Archive(sdist.version, path, f"from {one_line(path.parent)}")
    cache.remember(Kept(name=sdist.link.filename, key=path.name, places=places_of(pip)))
    return Archive(sdist.version, path, FETCHED)


def _without_network(asked: Release, engine: str, pip: Settings, cache: Cache, talk: Talk) -> Archive:
    """The newest that fits of what is on this machine: the cache, and pip's places that are folders here."""
    found = listed(engine, pip) if pip.index_urls or pip.find_links else Listed(sdists=())
    kept = newest_kept(asked, engine, cache)
    fitting = [row.version for row in found.sdists if asked.takes(row.version) and row.link.local]
    if fitting and (kept is None or max(fitting) > kept.version):
        here = Listed(sdists=tuple(row for row in found.sdists if row.link.local))
        return _brought(picked(asked, here, engine), engine, pip, cache, talk)
    if kept is None:
        raise SourceError(
            f"{engine} {asked} is not in the cache, and --offline forbids fetching it "
            "(`qtrace pins` lists what there is)"
        )
    return kept


def _last_known(asked: Release, engine: str, problem: SourceError, cache: Cache, talk: Talk) -> Archive:
    """Where the index cannot be reached: the newest that fits of what was fetched before."""
    if (kept := newest_kept(asked, engine, cache)) is None:
        raise problem
    talk.say(f"{problem}; the newest in the cache is used")
    return kept


def newest_kept(asked: Release, engine: str, cache: Cache, places: str | None = None) -> Archive | None:
    """The newest archive in the cache that fits; with `places`, of those that came from there."""
    rows = [row for row in cache.names() if places in (None, row.places)]
    fits = [
        (version, row.key) for row in rows if (version := _version(row.name, engine)) and asked.takes(version)
    ]
    for version, key in sorted(fits, reverse=True):
        if path := cache.file(key):
            return Archive(version, path, CACHED)
    return None


def _version(filename: str, engine: str) -> Version | None:
    try:
        name, version = parse_sdist_filename(filename)
    except ValueError:
        return None
    return version if name == engine else None
