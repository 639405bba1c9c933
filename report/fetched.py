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


class Code(Struct, frozen=True, kw_only=True):
    """The source of a library that was read, to tell what it launches and refuses."""

    name: str
    """What the build calls it: `deepgemm`."""
    where: str
    """A repository's address, or the last name of a folder."""
    commit: str | None = None
    """Of a revision, or checked out in the folder; None where nothing says it."""
    as_it_is: bool = False
    """Whether a folder's files were read, which need not be those of the commit."""
    taken: tuple[Fetched, ...] = ()
    """What the release's build takes under that name, as far as it says."""

    def is_taken(self) -> bool | None:
        """Whether it is what the release's build takes; None where that is not known."""
        if self.as_it_is:
            return None
        known = {one.revision for one in self.taken if len(one.revision) == len(self.commit or "")}
        return self.commit in known if known else None

    def __str__(self) -> str:
        how = ", checked out" if self.as_it_is else ""
        at = f"{how} at {self.commit[:12]}" if self.commit else ""
        return f"{self.name} from {self.where}{at}"

    def compared(self) -> str:
        """How it stands to the release, as a sentence."""
        if self.is_taken():
            return f"{self}: the revision that the release's build takes"
        others = " or ".join(map(str, self.taken)) or "none that it names"
        return f"{self}; the release's build takes {others}"
