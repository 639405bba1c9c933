"""Code that a build takes from elsewhere: what a library refuses stands there, not in the release."""

from __future__ import annotations

from msgspec import Struct

from .predicate import Site


class Fetched(Struct, frozen=True, kw_only=True):
    """A repository that a release's build takes at one revision."""

    name: str
    """What the build calls it: `deepgemm`."""
    repository: str
    """Its address, as the build writes it."""
    revision: str
    """A commit or a tag."""
    site: Site
    """Where the revision is written."""

    def __str__(self) -> str:
        where = self.repository.partition("://")[2].removesuffix(".git") or self.repository
        short = self.revision[:12] if len(self.revision) == 40 else self.revision
        return f"{where} at {short}"
