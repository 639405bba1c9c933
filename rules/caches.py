"""What rules ask of an attention chain: the dtype asked for, what is allocated, what a refusal is about."""

from __future__ import annotations

from collections.abc import Iterator

from ..report.model import Cache, CandidateState, Chain, Outcome, Question

LAYER = "attention"
ALIASES = {"fp8": "fp8_e4m3", "fp8_e4m3": "fp8_e4m3"}
"""Values of the flag that mean one format."""
LAYOUT = "_ds_mla"
"""Ends the name of a format whose bytes lie as sparse latent attention reads them."""
E4M3 = frozenset(ALIASES)
LEFT_OPEN = (None, "auto")
"""Values that leave the dtype to the engine."""
FITS = (CandidateState.TAKEN, CandidateState.POSSIBLE, CandidateState.NOT_REACHED)


def asked(question: Question) -> str | None:
    """The dtype that the flag asks for; None where it leaves that to the engine."""
    given = question.asked.get("kv_cache_dtype")
    return None if given in LEFT_OPEN else str(given)


def same(a: str, b: str) -> bool:
    """Whether a cache of the format `b` is what the flag's value `a` asks for: itself, or a layout of it."""
    a, b = (ALIASES.get(name, name) for name in (a, b))
    return a == b or (b.endswith(LAYOUT) and ALIASES.get(b.removesuffix(LAYOUT), b) == a)


def cached(chain: Chain) -> Iterator[tuple[Outcome, Cache]]:
    """The outcomes of an attention chain that allocate a cache."""
    for outcome in chain.outcomes if chain.layer == LAYER else ():
        if outcome.cache is not None:
            yield outcome, outcome.cache


def refused_by_guard(chain: Chain, question: Question) -> bool:
    """Whether all that refuses an attention layer is about its cache, though a backend would take that."""
    return _refused_over_dtype(chain, question) and _some_fit(chain)


def refused_by_backends(chain: Chain, question: Question) -> bool:
    """Whether an attention layer is refused since no backend takes its cache."""
    return _refused_over_dtype(chain, question) and bool(chain.choices) and not _some_fit(chain)


def _some_fit(chain: Chain) -> bool:
    return any(c.state in FITS for choice in chain.choices for c in choice.candidates)


def _refused_over_dtype(chain: Chain, question: Question) -> bool:
    dtype = asked(question)
    if chain.layer != LAYER or dtype is None or not chain.refused():
        return False
    texts = [outcome.refusal.message.lower() for outcome in chain.outcomes if outcome.refusal]
    return all(dtype in text and ("kv" in text or "cache" in text) for text in texts)
