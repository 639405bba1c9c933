"""Tuned configurations: the file that each layer looks for, and whether the release has it."""

from __future__ import annotations

from collections.abc import Sequence

from ..names import counted
from ..predicate import Always
from ..tuned import Tuned
from .page import Page, Tone


def tuned(page: Page, found: Sequence[Tuned]) -> None:
    """A section with a few lines for each file."""
    if not found:
        return
    page.blank()
    files = counted(len(found), "file")
    page.line(("tuned configurations", Tone.HEAD), (f"  {files} that kernels look for", Tone.DIM))
    for one in found:
        _tuned(page, one)


def _tuned(page: Page, one: Tuned) -> None:
    page.blank()
    page.wrap(
        one.wanted, "  ✓ " if one.shipped else "  ✗ ", first_tone=Tone.GOOD if one.shipped else Tone.DOUBT
    )
    page.wrap(one.layer, "    layer    ")
    if one.shipped is None:
        page.wrap("not shipped: defaults are used", "    file     ", Tone.DOUBT)
        for path in one.nearest[:1]:
            page.wrap(path, "    nearest  ")
    else:
        page.wrap(one.shipped, "    file     ")
    if one.spelt is not None:
        page.wrap(one.spelt, "    but      ", Tone.DOUBT)
    if one.guard != Always():
        page.wrap(str(one.guard), "    when     ")
    for test in one.unless:
        page.wrap(test, "    unless   ")
