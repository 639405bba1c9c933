"""How an answer stands in one word: accepted, refused, or open."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .chain import Chain
    from .model import Report
    from .outcome import Outcome


class Standing(StrEnum):
    """What becomes of a scenario, or of one way it can go."""

    ACCEPTED = "accepted"
    REFUSED = "refused"
    OPEN = "open"
    """Something unknown decides, or it was not followed to its end; never shown as clean."""


def of_outcome(outcome: Outcome) -> Standing:
    """How one end stands where its guard holds; with no more than a config it was not followed to its end."""
    if outcome.refusal:
        return Standing.REFUSED
    return Standing.ACCEPTED if outcome.method or outcome.kernels else Standing.OPEN


def of_chain(chain: Chain) -> Standing:
    """How the layers of a chain stand: accepted only where nothing unknown has a say."""
    if chain.refused():
        return Standing.REFUSED
    return of_outcome(chain.outcomes[0]) if chain.decided() else Standing.OPEN


def of_report(report: Report) -> Standing:
    """How the question stands: one refused layer refuses it, and one open layer leaves it open, as does a
    checkpoint that decides and is not known.
    """
    under = premises(report.chains) or ("",)
    found = {_of_chains([c for c in report.chains if not c.premises or p in c.premises]) for p in under}
    return found.pop() if len(found) == 1 else Standing.OPEN


def premises(chains: Iterable[Chain]) -> tuple[str, ...]:
    """What is supposed of the checkpoint, in order."""
    return tuple(dict.fromkeys(premise for chain in chains for premise in chain.premises))


def _of_chains(chains: Sequence[Chain]) -> Standing:
    standings = {of_chain(chain) for chain in chains} or {Standing.OPEN}
    order = (Standing.REFUSED, Standing.OPEN, Standing.ACCEPTED)
    return next(standing for standing in order if standing in standings)
