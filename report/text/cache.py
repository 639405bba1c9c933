"""The KV cache of an attention layer on the page: what is allocated, what a token costs, and its scales."""

from __future__ import annotations

from ..cache import Cache
from ..outcome import Outcome
from ..told import cache_rows
from .page import Page, Tone


def caches(page: Page, outcomes: tuple[Outcome, ...]) -> None:
    """One table for all outcomes that keep keys and values in the same cache."""
    tables: dict[Cache, list[int]] = {}
    for number, outcome in enumerate(outcomes, 1):
        if outcome.cache is not None:
            tables.setdefault(outcome.cache, []).append(number)
    for cache, numbers in tables.items():
        page.blank()
        of = f" of outcome {', '.join(map(str, numbers))}" if len(outcomes) > 1 else ""
        page.line((f"  cache{of}", Tone.HEAD))
        for label, text in cache_rows(cache):
            page.wrap(text, f"    {label:<9}")
