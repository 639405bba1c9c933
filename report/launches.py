"""What starts an engine in a repository of deployments, and what each start comes to."""

from __future__ import annotations

from msgspec import Struct

from .chain import Change
from .predicate import Site
from .standing import Standing


class LaunchEnd(Struct, frozen=True, kw_only=True):
    """Where a start may end."""

    layer: str
    """The kind of layer: `linear`, `attention`, `experts`."""
    standing: Standing
    reaches: str
    """Kernels, or the engine's refusal in its own words."""
    premises: tuple[str, ...] = ()
    """The checkpoints for which it does, where the checkpoint is not known."""
    guard: str = ""
    """On what condition; empty for none."""

    def __str__(self) -> str:
        when = f" when {self.guard}" if self.guard else ""
        return f"{self.layer} {self.standing}: {self.reaches}{when}"


class Launch(Struct, frozen=True, kw_only=True):
    """One start of an engine."""

    site: Site
    """Where it stands in the repository."""
    change: Change
    """Whether the line is the same as before, another, new or gone."""
    line: str
    """The line in words: `vllm serve M --quantization fp8`."""
    release: str = ""
    """What it was asked of: `vllm 0.26.0`."""
    ends: tuple[LaunchEnd, ...] = ()
    problem: str | None = None
    """Why there are no ends."""
    refused: bool = False
    """Whether it is that the release's command line does not take the line; else nobody can tell."""
    unsaid: tuple[str, ...] = ()
    """What the file does not say: `--quantization $METHOD`."""
    was: str | None = None
    """The line before, where it was another."""
    was_release: str = ""
    was_ends: tuple[LaunchEnd, ...] = ()
    was_problem: str | None = None

    @property
    def turned(self) -> bool:
        """Whether it ended otherwise before; the same ends under conditions in other words are the same."""
        return self.change is Change.CHANGED and _reached(self.ends) != _reached(self.was_ends)


def _reached(ends: tuple[LaunchEnd, ...]) -> frozenset[tuple[str, ...]]:
    return frozenset((end.layer, end.standing, end.reaches, *end.premises) for end in ends)


class Launches(Struct, frozen=True, kw_only=True):
    """Every start in a repository at a revision, held against those at another."""

    files: int
    """How many files were read at the second revision."""
    launches: tuple[Launch, ...]
    unread: tuple[str, ...] = ()
    """Files that could not be read, with the reason."""
