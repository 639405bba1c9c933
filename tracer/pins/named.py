"""The named pins: releases with the hash of their sdist, and commits, each with its day."""

from __future__ import annotations

from datetime import date
from functools import cache
from importlib.resources import files

import msgspec
from msgspec import Struct


class NamedRelease(Struct, frozen=True, kw_only=True):
    """A release whose sdist is known by its hash."""

    version: str
    date: date
    """When it came out."""
    sha256: str


class NamedCommit(Struct, frozen=True, kw_only=True):
    """A commit that people speak of."""

    hash: str
    date: date


class Named(Struct, frozen=True, kw_only=True):
    """What is named of one engine."""

    repository: str
    releases: tuple[NamedRelease, ...]
    commits: tuple[NamedCommit, ...] = ()

    def release(self, version: str) -> NamedRelease | None:
        return next((row for row in self.releases if row.version == version), None)

    def commit(self, hash: str) -> NamedCommit | None:
        """The named commit whose hash begins so."""
        return next((row for row in self.commits if row.hash.startswith(hash)), None)

    def nearest(self, commit: NamedCommit | None) -> NamedRelease | None:
        """The release next to a commit by day; the newest for a commit that has no name here."""
        if commit is None:
            return max(self.releases, key=lambda row: row.date, default=None)
        return min(self.releases, key=lambda row: abs(row.date - commit.date), default=None)


@cache
def named(engine: str) -> Named:
    """What is named of an engine."""
    text = files(__package__).joinpath("named.json").read_bytes()
    return msgspec.json.decode(text, type=dict[str, Named])[engine]
