"""A choice on the page: every candidate in the order asked, and what became of it."""

from __future__ import annotations

from ..model import Candidate, CandidateState, Choice
from ..names import short
from .page import Page, Tone

MARKS = {
    CandidateState.TAKEN: ("✓", Tone.GOOD),
    CandidateState.REJECTED: ("✗", Tone.BAD),
    CandidateState.NOT_REACHED: ("·", Tone.DIM),
    CandidateState.POSSIBLE: ("?", Tone.DOUBT),
}


def choice(page: Page, choice: Choice) -> None:
    """The choice's name and place, then a row a candidate."""
    origin = f" from {choice.registry}" if choice.registry else ""
    head = f"  choice: {choice.name}"
    page.line(
        (head, Tone.HEAD),
        (f"{origin} in {short(choice.function)}", Tone.DIM),
        right=(page.site(choice.site, page.width // 2), Tone.DIM),
    )
    names = [short(candidate.symbol) for candidate in choice.candidates]
    column = min(max(map(len, names), default=0), page.width // 2 - 8)
    for name, candidate in zip(names, choice.candidates, strict=True):
        mark, tone = MARKS[candidate.state]
        label = f"    {mark} {page.name(name, column):<{column}}  "
        page.wrap(_fate(page, candidate), label, first_tone=tone)


def _fate(page: Page, candidate: Candidate) -> str:
    text = candidate.state.replace("_", " ")
    if candidate.state is CandidateState.POSSIBLE:
        text = f"{text} when {candidate.guard}"
    if candidate.reason:
        text = f"{text}: {candidate.reason}"
    return f"{text} ({page.site(candidate.site, page.width // 2 - 4)})" if candidate.site else text
