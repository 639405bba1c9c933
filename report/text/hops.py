"""The hop tree: symbols as a tree at the left, why and sight in columns, sites at the right edge."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..model import Compatibility, Hop, HopKind, Sight
from ..names import short
from ..predicate import Always
from .page import Page, Span, Tone

NOUNS = {
    HopKind.HOST_FUNCTION: "C++",
    HopKind.GLOBAL_KERNEL: "__global__",
    HopKind.TRITON_KERNEL: "Triton",
    HopKind.EXTERNAL: "library",
}
"""Kinds that the symbol's own name does not tell."""

SITE = 30
"""Columns kept for sites before the other columns grow."""

TONES: dict[Compatibility | None, Tone] = {Compatibility.MISSING: Tone.BAD, Compatibility.JIT: Tone.DOUBT}
"""What a device makes of a kernel's code, where it is worth a look."""

SIGHTS: dict[Sight, Span] = {
    Sight.SOURCE: ("", Tone.PLAIN),
    Sight.SEEN: ("● seen", Tone.GOOD),
    Sight.CONTRADICTED: ("✗ contradicted", Tone.BAD),
    Sight.NOT_OBSERVED: ("○ not observed", Tone.DOUBT),
    Sight.UNRESOLVED: ("? unresolved", Tone.DOUBT),
}


class Columns(NamedTuple):
    """How wide the columns left of the site are."""

    name: int
    why: int
    sight: int


def hops(page: Page, hops: Sequence[Hop]) -> None:
    """The tree; a hop's condition and note stand under it."""
    trees = _trees([hop.depth for hop in hops], page.width)
    names = [tree + short(hop.symbol) for tree, hop in zip(trees, hops, strict=True)]
    columns = _columns(page.width, names, hops)
    for tree, name, hop in zip(trees, names, hops, strict=True):
        _hop(page, hop, name, columns)
        _under(page, hop, " " * (len(tree) + 4))


def _columns(width: int, names: Sequence[str], hops: Sequence[Hop]) -> Columns:
    """Names may take what the other columns leave; a longer one pushes only its own row."""
    why = _widest(len(_why(hop)) for hop in hops)
    sight = _widest(len(SIGHTS[hop.sight][0]) for hop in hops)
    room = width - why - sight - SITE - 8
    return Columns(min(_widest(map(len, names)), max(room, width // 3)), why, sight)


def _hop(page: Page, hop: Hop, name: str, columns: Columns) -> None:
    sight, tone = SIGHTS[hop.sight]
    name = page.name(name, max(columns.name, page.width - columns.why - columns.sight - 8))
    spans = [(f"  {name:<{columns.name}}", Tone.PLAIN), (f"  {_why(hop):<{columns.why}}", Tone.DIM)]
    if columns.sight:
        spans.append((f"  {sight:<{columns.sight}}", tone))
    room = page.width - 2 - sum(len(text) for text, _ in spans)
    page.line(*spans, right=(page.place(hop.site, room), Tone.DIM))


def _widest(widths: Iterable[int]) -> int:
    return max(widths, default=0)


def _why(hop: Hop) -> str:
    return f"{hop.why.replace('_', ' ')} {NOUNS.get(hop.kind, '')}".rstrip()


def _under(page: Page, hop: Hop, indent: str) -> None:
    if hop.guard != Always():
        page.wrap(str(hop.guard), f"{indent}when  ", Tone.DOUBT)
    if hop.defined is not None and hop.kind is HopKind.GLOBAL_KERNEL:
        page.wrap(str(hop.defined), f"{indent}at    ", Tone.DIM)
    if hop.image is not None:
        tone = TONES.get(hop.image.compatibility, Tone.DIM)
        page.wrap(str(hop.image), f"{indent}code  ", tone)
    if hop.note:
        page.wrap(hop.note, f"{indent}note  ")


def _trees(depths: Sequence[int], width: int) -> list[str]:
    """The connectors before each name; a tree too deep for a third of the page is drawn half as wide."""
    step = 2 if 2 * max(depths, default=0) <= width // 3 else 1
    drawn = [min(depth, width // 3 // step) for depth in depths]
    return [_tree(drawn, place, step) for place in range(len(drawn))]


def _tree(depths: Sequence[int], place: int, step: int) -> str:
    depth, rest = depths[place], depths[place + 1 :]
    glyphs = ["│" if _goes_on(rest, level) else " " for level in range(1, depth)]
    if depth:
        glyphs.append("├" if _goes_on(rest, depth) else "└")
    return "".join(f"{glyph:<{step}}" for glyph in glyphs)


def _goes_on(rest: Sequence[int], level: int) -> bool:
    """Whether a later hop stands on `level` before the tree goes back above it."""
    for depth in rest:
        if depth <= level:
            return depth == level
    return False
