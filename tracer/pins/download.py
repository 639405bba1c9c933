"""An archive brought from the index into the cache: whole, of the listed hash, and once."""

from __future__ import annotations

import hashlib
from pathlib import Path

from ...report.errors import SourceError
from ..archive import one_line, refusal
from .addresses import shown
from .cache import Cache, digest
from .index import Sdist
from .pip_settings import Settings
from .talk import Talk
from .transport import opened

MAX_ARCHIVE = 1 << 30


def brought(sdist: Sdist, known: str | None, settings: Settings, cache: Cache, talk: Talk) -> Path:
    """The file of a listed sdist, verified; `known` is the hash of a named pin."""
    wanted = _expected(sdist, known)
    if sdist.path is not None:
        return _on_this_machine(sdist.path, wanted)
    if wanted is None:
        name = sdist.link.filename
        raise SourceError(f"{shown(sdist.link.url)}: the index states no sha256 of {name}; it is not fetched")
    if path := cache.file(wanted):
        return path
    try:
        with cache.locked(wanted):
            return cache.file(wanted) or _fetched(sdist, wanted, settings, cache, talk)
    except OSError as problem:
        raise SourceError(f"{sdist.link.filename}: cannot be kept ({problem.strerror})") from None


def _expected(sdist: Sdist, known: str | None) -> str | None:
    stated, name = sdist.link.sha256, sdist.link.filename
    if known and stated and stated != known:
        raise SourceError(
            f"{name}: the index lists sha256 {stated[:16]}..., and the release is pinned as {known[:16]}...; "
            "fetch the file yourself and name it, if that is meant"
        )
    return known or stated


def _on_this_machine(path: Path, wanted: str | None) -> Path:
    """A file of this machine is read where it lies; its hash counts where one is stated."""
    try:
        if not path.is_file():
            raise FileNotFoundError(2, "no such file")
        found = digest(path) if wanted else None
    except OSError as problem:
        raise refusal(path, f"cannot be read ({problem.strerror})", "mend the index") from None
    if wanted and found:
        _expect(found, wanted, one_line(path, 300))
    return path


def _fetched(sdist: Sdist, wanted: str, settings: Settings, cache: Cache, talk: Talk) -> Path:
    link, whole, done = sdist.link, hashlib.sha256(), 0
    with cache.part(wanted) as part, opened(link.url, settings) as answer, part.open("wb") as out:
        with talk.bar(link.filename, answer.size or link.size) as told:
            for block in answer.blocks(MAX_ARCHIVE):
                whole.update(block)
                out.write(block)
                done += len(block)
                told(done)
        out.flush()
        _expect(whole.hexdigest(), wanted, shown(link.url))
        return cache.keep(part, "files", wanted)


def _expect(found: str, wanted: str, where: str) -> None:
    if found != wanted:
        raise SourceError(
            f"{where}: has sha256 {found[:16]}..., not {wanted[:16]}... as expected; it is not used"
        )
