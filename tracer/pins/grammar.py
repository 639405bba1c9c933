"""What a PIN means by its text alone: `installed`, a version, a commit, a path, a revision of a repository.

The folder at hand decides nothing but where a path ends: a folder that is called `latest` or `0.33` is
written `./latest`.
"""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit

from msgspec import Struct
from packaging.version import InvalidVersion, Version

from ...report.errors import UsageError
from ..archive import one_line
from .addresses import local_path

FORMS = (
    "installed, latest, a version (0.33), a commit, a directory, an sdist, a wheel, REPOSITORY@REV or "
    "git+URL@REV"
)
AT = "--at"
SCHEMES = ("file", "https", "ssh")

_COMMIT = re.compile(r"[0-9a-fA-F]{7,40}|[0-9a-fA-F]{64}")
_VERSION = re.compile(r"(?=.{1,64}$)(v?\d+(\.\d+)+[\w.+!-]*|v\d+)")
# What git's own check of names forbids, besides what asks for more than a name: `:`, `@{`.
_REVISION = re.compile(r"(?![-^])(?!.*(\.\.|@\{))[^\s\x00-\x20\x7f:?*\[\\]{1,200}")


class Installed(Struct, frozen=True):
    """The engine as it is installed in an interpreter."""


class Release(Struct, frozen=True):
    """A version of the package index: an exact one, the newest of a series, or the newest of all."""

    series: str
    """`0.33`; empty for the newest of all. An exact version is its own."""
    exact: bool = False

    def __str__(self) -> str:
        return self.series or "latest"

    def takes(self, version: Version) -> bool:
        """Whether a version is one that is meant."""
        if self.exact:
            return version == Version(self.series)
        wanted = Version(self.series).release if self.series else ()
        return version.release[: len(wanted)] == wanted and not version.is_prerelease


LATEST = Release("")


def exactly(version: Version) -> Release:
    """That version and no other."""
    return Release(str(version), exact=True)


class Commit(Struct, frozen=True):
    """A commit, by its hash or how that begins, of no stated repository."""

    hash: str


class Place(Struct, frozen=True):
    """A directory, an sdist or a wheel."""

    path: str


class Revision(Struct, frozen=True):
    """A commit, branch or tag of a repository."""

    repository: str
    """A folder, or a URL of one of SCHEMES."""
    name: str
    remote: bool


Request = Installed | Release | Commit | Place | Revision


def parse(text: str) -> Request:
    """Tell what a PIN of `--at` asks for; UsageError for one that can mean nothing."""
    if not text:
        raise UsageError(f"{AT} is empty: give {FORMS}")
    if text == "installed":
        return Installed()
    if text == "latest":
        return LATEST
    if text.startswith("git+"):
        return remote(text, AT)
    if _VERSION.fullmatch(text) and (found := _release(text)):
        return found
    return Commit(text.lower()) if _COMMIT.fullmatch(text) else place(text, AT)


def _release(text: str) -> Release | None:
    try:
        version = Version(text)
    except InvalidVersion:
        return None
    plain = ".".join(map(str, version.release))
    return Release(str(version), exact=len(version.release) > 2 or str(version) != plain)


def place(text: str, option: str) -> Place | Revision:
    """A path that is there is meant as it is; else `FOLDER@REV` is a revision. Messages name the option."""
    folder, at, name = text.rpartition("@")
    try:
        split = bool(at and folder) and not Path(text).exists() and Path(folder).is_dir()
    except (OSError, ValueError):
        split = False
    return Revision(folder, _name(text, name, option), remote=False) if split else Place(text)


def remote(text: str, option: str) -> Revision:
    """`git+URL@REV`."""
    url, told = text.removeprefix("git+"), shown(text)
    try:
        parts = urlsplit(url)
        path, at, name = parts.path.rpartition("@")
        host = parts.hostname or ""
    except ValueError as problem:
        raise UsageError(f"{option} {told}: {one_line(problem)}") from None
    if parts.scheme not in SCHEMES:
        raise UsageError(
            f"{option} {told}: git is used over {', '.join(SCHEMES)} only; write git+https://...@REV"
        )
    if not at or not path.strip("/") or parts.query or parts.fragment:
        raise UsageError(f"{option} {told}: write git+URL@REV, with REV a commit, a branch or a tag")
    if host.startswith("-") or (parts.username or "").startswith("-") or not _plain(url):
        raise UsageError(f"{option} {told}: that is no address")
    if parts.scheme == "file":
        folder = local_path(parts._replace(path=path).geturl())
        return Revision(str(folder), _name(told, name, option), remote=False)
    return Revision(parts._replace(path=path).geturl(), _name(told, name, option), remote=True)


def _name(text: str, name: str, option: str) -> str:
    if not _REVISION.fullmatch(name):
        raise UsageError(f"{option} {one_line(text, 200)}: {one_line(name)!r} is no commit, branch or tag")
    return name


def _plain(url: str) -> bool:
    return url.isprintable() and not re.search(r"\s", url)


def shown(text: str) -> str:
    """A URL as it may be printed: without the user and the password in it."""
    return one_line(re.sub(r"//[^/]*@(?=[^/]+/)", "//", text), 200)
