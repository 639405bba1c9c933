"""Ordered choices: the candidates that the engine asks in turn, and what became of each."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from .predicate import Always, Predicate, Site


class CandidateState(StrEnum):
    """What became of a candidate under the scenario."""

    TAKEN = "taken"
    REJECTED = "rejected"
    NOT_REACHED = "not_reached"
    """A candidate before it was taken."""
    POSSIBLE = "possible"
    """Taken or not by something unknown: its guard says what."""


class Candidate(Struct, frozen=True, kw_only=True):
    """One entry of an ordered candidate list."""

    symbol: str
    state: CandidateState
    reason: str | None = None
    """The engine's own words, or the failed condition."""
    site: Site | None = None
    """The statement that decided."""
    guard: Predicate = Always()

    def __str__(self) -> str:
        return f"{self.symbol} {self.state.replace('_', ' ')}" + (f": {self.reason}" if self.reason else "")


class Choice(Struct, frozen=True, kw_only=True):
    """A place where the engine picks the first candidate that fits."""

    name: str
    """What was chosen, in words: `fp8 linear kernel`."""
    function: str
    """The symbol of the function that chooses."""
    site: Site | None = None
    registry: str | None = None
    """The list it chooses from: `_POSSIBLE_FP8_KERNELS[CUDA]`."""
    candidates: tuple[Candidate, ...]
    """In the order in which the engine asks them."""

    def taken(self) -> Candidate | None:
        """The candidate that was taken without condition, if there is one."""
        return next((c for c in self.candidates if c.state is CandidateState.TAKEN), None)
