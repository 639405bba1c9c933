"""Who reads a name: where it is declared, then every reader, those that decide first."""

from __future__ import annotations

from itertools import groupby

from ..names import counted, short
from ..readers import Behind, Reader, Readers, Role
from .page import Page, Tone

MARKS = {True: ("\u2713", Tone.GOOD), False: ("\u2717", Tone.BAD), None: ("?", Tone.DOUBT)}
DECIDES = {
    True: "the answer to this question hangs on it",
    False: "the answer to this question does not hang on it",
}


def readers(page: Page, told: Readers) -> None:
    """The page of a name."""
    page.blank()
    for defined in told.defined:
        page.line(
            (f"{defined.source}  ", Tone.DIM),
            (short(defined.symbol), Tone.HEAD),
            right=(page.site(defined.site, page.width // 2), Tone.DIM),
        )
    if told.decides is not None:
        page.wrap(DECIDES[told.decides], "", Tone.PLAIN)
    for role in Role:
        _of_role(page, role, [reader for reader in told.readers if reader.role is role])
    if any(reader.reached for reader in told.readers):
        page.blank()
        page.wrap("\u25cf on the way of this question", tone=Tone.DIM)
    if told.others:
        page.blank()
        page.wrap(
            f"{counted(told.others, 'other place')} may read it, or something else of that name",
            tone=Tone.DIM,
        )


def _of_role(page: Page, role: Role, found: list[Reader]) -> None:
    if not found:
        return
    page.blank()
    page.line((role, Tone.HEAD), (f"  {counted(len(found), 'place')}", Tone.DIM))
    for function, some in groupby(found, key=lambda reader: reader.function):
        _function(page, function, list(some))


def _function(page: Page, function: str, some: list[Reader]) -> None:
    first = some[0]
    lines = ", ".join(str(reader.site.line) for reader in some[1:])
    reached = "\u25cf" if first.reached else " "
    name = page.name(short(function), page.width // 2)
    place = page.place(first.site, page.width - len(name) - 8 - len(lines))
    page.line(
        (f"  {reached} {name}", Tone.PLAIN), right=(f"{place}{f', {lines}' if lines else ''}", Tone.DIM)
    )
    for behind in first.behind:
        _behind(page, behind)


def _behind(page: Page, behind: Behind) -> None:
    mark, tone = MARKS[behind.holds]
    said = {True: "holds", False: "does not hold", None: "open"}[behind.holds]
    asks = f", asks for {', '.join(behind.asks)}" if behind.asks else ""
    page.wrap(f"{behind.condition}: {said}{asks} ({behind.site})", f"      {mark} built where ", tone, tone)
