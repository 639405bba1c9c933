"""A chain: where it ends, in the open; the way there, the choices and the sizes, folded away."""

from __future__ import annotations

from collections.abc import Iterator

from ..model import Chain, Outcome
from ..predicate import Always
from ..standing import Standing, of_outcome
from .hops import hops
from .links import Links
from .pieces import Piece
from .tables import caches, choices, elsewhere, gates, parameters
from .verdict import end
from .words import code, prose

MARKS = {Standing.ACCEPTED: "✓", Standing.REFUSED: "✗", Standing.OPEN: "?"}


def outcomes(chain: Chain, links: Links) -> Piece:
    """Each end with its condition and the operators that run."""
    named = chain.layers if chain.layers != (chain.layer,) else ()
    layers = ": " + ", ".join(map(code, named)) if named else ""
    several = len(chain.outcomes) > 1
    rows = (
        "".join(_outcome(outcome, f" {number}" if several else "", links))
        for number, outcome in enumerate(chain.outcomes, 1)
    )
    premises = "; or ".join(chain.premises)
    given = f"{prose(f'If the checkpoint is {premises}:')}\n\n" if premises else ""
    return Piece(f"outcomes of {chain.layer}", f"\n### {prose(chain.layer)}{layers}\n\n{given}", tuple(rows))


def details(chain: Chain, links: Links) -> Iterator[Piece]:
    """Everything else that is known of a chain, a fold each."""
    of = ", ".join(chain.layers) or chain.layer
    yield from hops(chain.hops, of, links)
    yield from choices(chain.choices, of, links)
    yield from gates(chain.fits, of, links)
    yield from parameters(chain.outcomes, of)
    yield from caches(chain.outcomes, of)
    yield from elsewhere(chain.elsewhere, of, links)


def _outcome(outcome: Outcome, number: str, links: Links) -> Iterator[str]:
    standing = of_outcome(outcome)
    told = prose(str(outcome.refusal)) if outcome.refusal else end(outcome)
    place = links.site(outcome.refusal.site) if outcome.refusal else ""
    yield f"- {MARKS[standing]} **{standing}{number}** {told}{f' ({place})' if place else ''}\n"
    if outcome.guard != Always():
        yield f"  - when {code(str(outcome.guard))}\n"
    if outcome.ops:
        yield f"  - runs {', '.join(map(code, outcome.ops))}\n"
