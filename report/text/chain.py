"""A chain on the page: where it ends, the hops that lead there, the choices on the way, the parameters."""

from __future__ import annotations

from ..model import Chain, Elsewhere, Outcome, Parameter
from ..names import binary_size, counted, short
from ..outcome import NOWHERE
from ..predicate import Always
from ..standing import Standing, of_outcome
from .cache import caches
from .choice import choice
from .fits import fits
from .hops import hops
from .page import Page, Tone

MARKS = {
    Standing.ACCEPTED: ("✓", Tone.GOOD),
    Standing.REFUSED: ("✗", Tone.BAD),
    Standing.OPEN: ("?", Tone.DOUBT),
}
LABEL = max(map(len, Standing))


def chain(page: Page, chain: Chain) -> None:
    """One chain, its outcomes first."""
    page.line((chain.layer, Tone.HEAD))
    if chain.layers:
        page.wrap(", ".join(chain.layers), f"  {counted(len(chain.layers), 'layer')}  ")
    if chain.premises:
        page.wrap("; or ".join(chain.premises), "  checkpoint  ", Tone.DOUBT)
    for number, outcome in enumerate(chain.outcomes, 1):
        _outcome(page, outcome, f" {number}" if len(chain.outcomes) > 1 else "")
    page.blank()
    hops(page, chain.hops)
    for each in chain.choices:
        page.blank()
        choice(page, each)
    fits(page, chain.fits)
    _parameters(page, chain.outcomes)
    caches(page, chain.outcomes)
    _elsewhere(page, chain.elsewhere)


def _outcome(page: Page, outcome: Outcome, number: str) -> None:
    standing = of_outcome(outcome)
    mark, tone = MARKS[standing]
    steps = " → ".join(short(step) for step in outcome.steps()) or NOWHERE
    told = str(outcome.refusal) if outcome.refusal else steps
    page.wrap(told, f"  {mark} {f'{standing}{number}':<{LABEL + len(number)}}  ", first_tone=tone)
    if outcome.guard != Always():
        page.wrap(str(outcome.guard), "      when      ", Tone.DOUBT)
    if outcome.ops:
        page.wrap(", ".join(outcome.ops), "      runs      ")
    if outcome.refusal and outcome.refusal.site:
        page.wrap(page.site(outcome.refusal.site, page.width - 16), "      at        ", Tone.DIM)


def _parameters(page: Page, outcomes: tuple[Outcome, ...]) -> None:
    """One table for all outcomes that give the layer the same parameters."""
    tables: dict[tuple[Parameter, ...], list[int]] = {}
    for number, outcome in enumerate(outcomes, 1):
        if outcome.parameters:
            tables.setdefault(outcome.parameters, []).append(number)
    for parameters, numbers in tables.items():
        page.blank()
        of = f" of outcome {', '.join(map(str, numbers))}" if len(outcomes) > 1 else ""
        page.line((f"  parameters{of}", Tone.HEAD))
        _table(page, parameters)


def _table(page: Page, parameters: tuple[Parameter, ...]) -> None:
    names = min(max(len(p.name) for p in parameters), page.width // 3)
    dtypes = min(max(len(p.dtype) for p in parameters), page.width // 4)
    for p in parameters:
        size = p.size()
        bytes_ = "" if size is None else f"  {binary_size(size)}"
        shape = f"[{', '.join(map(str, p.shape))}]{bytes_}"
        row = f"{page.name(p.name, names):<{names}}  {page.name(p.dtype, dtypes):<{dtypes}}  "
        page.wrap(shape, f"    {row}", first_tone=Tone.PLAIN)


def _elsewhere(page: Page, hops: tuple[Elsewhere, ...]) -> None:
    if not hops:
        return
    page.blank()
    page.line(("  at other pins", Tone.HEAD))
    for hop in hops:
        text = f"    {hop.version}  {short(hop.symbol)}  {hop.change}"
        page.line((text, Tone.PLAIN), right=(page.site(hop.site, page.width // 2), Tone.DIM))
