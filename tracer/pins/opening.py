"""From a PIN to the engine's source."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from packaging.version import Version

from ...report.errors import SourceError, UsageError
from ..archive import one_line
from ..snapshot.bundled import bundled
from ..sources import Source, open_source
from .cache import CACHED, Cache, folder
from .grammar import LATEST, Commit, Installed, Place, Release, Request, Revision, exactly, parse, shown
from .installed import Installation, installation
from .interpreter import search_path
from .named import named
from .talk import Talk

HASH_LENGTH = 40


class Ways(NamedTuple):
    """What a source may be brought with."""

    engine: str
    python: str | None
    """The interpreter whose packages count; None for the one that runs qtrace."""
    offline: bool
    cache: Cache
    talk: Talk


class Opened(NamedTuple):
    """A source, and for people where it came from; empty where they said so themselves."""

    source: Source
    where: str = ""


def open_pin(text: str | None, engine: str, python: str | None, offline: bool, talk: Talk) -> Source:
    """Open the engine's source that a PIN means; without one, `default_pin`."""
    with Cache(folder(), talk) as cache:
        ways = Ways(engine, python, offline, cache, talk)
        return opened(meant(text, ways), ways)


def meant(text: str | None, ways: Ways) -> Request:
    """What a PIN asks for; without one, `default_pin`."""
    asked = default_pin(ways) if text is None else parse(text)
    if text is not None and ways.python is not None and not isinstance(asked, Installed):
        raise UsageError(
            f"--python {one_line(ways.python)}: goes with --at installed, not with --at {shown(text)}"
        )
    return asked


def opened(asked: Request, ways: Ways) -> Source:
    """Bring what is asked for, and say where it came from."""
    source, where = _OPENERS[type(asked)](asked, ways)
    if where:
        ways.talk.say(f"{source} {where}")
    return source


def newest(asked: Release, engine: str) -> Version | None:
    """The newest release that is bundled and meant."""
    return next((version for version in bundled(engine) if asked.takes(version)), None)


def default_pin(ways: Ways) -> Request:
    """What is read where nobody says: the engine as it is installed, else the newest bundled release."""
    if ways.python is not None or _found(ways):
        return Installed()
    if (version := newest(LATEST, ways.engine)) is not None:
        return exactly(version)
    raise SourceError(
        f"no source of {ways.engine} is at hand: give --at PIN (a version, a directory, an sdist or wheel, "
        "git+URL@REV), or --python EXE of an environment that has it"
    )


def _found(ways: Ways) -> Installation | None:
    return installation(ways.engine, search_path(ways.python))


def _installed(asked: Installed, ways: Ways) -> Opened:
    found = _found(ways)
    if found is None:
        where = f"in {one_line(ways.python, 200)}" if ways.python else "beside qtrace"
        raise SourceError(
            f"{ways.engine} is not installed {where}; give --python EXE of an environment that has it"
        )
    source = open_source(found.root, ways.engine, found.version)
    return Opened(source, told(found, ways.engine))


def told(found: Installation, engine: str) -> str:
    """Where an installed engine lies, and what its distribution is called if not as the engine is."""
    name = "" if found.distribution == engine else f"({found.distribution}) "
    how = "installed editable from" if found.editable else "installed in"
    return f"{name}{how} {one_line(found.root, 300)}"


def _release(asked: Release, ways: Ways) -> Opened:
    from .releases import release

    archive = release(asked, ways.engine, ways.offline, ways.cache, ways.talk)
    return Opened(open_source(archive.path, ways.engine), archive.where)


def _commit(asked: Commit, ways: Ways) -> Opened:
    """A commit of no stated repository: one that was fetched before, else a word on how to fetch it."""
    from .repository import open_revision

    known = named(ways.engine)
    row = known.commit(asked.hash)
    hash = row.hash if row else asked.hash
    if path := ways.cache.repository(hash):
        return Opened(open_revision(path, hash, ways.engine), CACHED)
    nearest = known.nearest(row)
    beside = "" if nearest is None else f"; the nearest named release is {nearest.version}"
    raise SourceError(
        f"{ways.engine} {hash}: the source of this commit is not at hand; "
        f"`{_bringing(known.repository, hash)}` brings it for --at {ways.engine}.git@{hash[:12]}"
        f"{beside}"
    )


def _bringing(repository: str, hash: str) -> str:
    """The command that brings a commit: alone where its whole hash is known, else with all the others."""
    folder = f"{repository.rpartition('/')[2]}.git"
    if len(hash) < HASH_LENGTH:
        return f"git clone --bare {repository} {folder}"
    return f"git init -q --bare {folder} && git -C {folder} fetch -q --depth 1 {repository} {hash}"


def _revision(asked: Revision, ways: Ways) -> Opened:
    from .remote import fetched
    from .repository import open_revision

    if not asked.remote:
        return Opened(open_revision(Path(asked.repository), asked.name, ways.engine))
    path, where = fetched(asked, ways.offline, ways.cache, ways.talk)
    return Opened(open_revision(path, path.name, ways.engine), where)


def _place(asked: Place, ways: Ways) -> Opened:
    return Opened(open_source(asked.path, ways.engine))


_OPENERS: dict[type[Request], Callable[[Any, Ways], Opened]] = {
    Installed: _installed,
    Release: _release,
    Commit: _commit,
    Place: _place,
    Revision: _revision,
}
