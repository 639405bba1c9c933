"""What rules ask of an attention chain: the dtype asked for, what is allocated, what a refusal is about."""

from __future__ import annotations

from collections.abc import Iterator

from ..report.model import Cache, CandidateState, Chain, Outcome, Question, Refusal

LAYER = "attention"
ALIASES = {"fp8": "fp8_e4m3", "fp8_e4m3": "fp8_e4m3"}
"""Values of the flag that mean one format."""
LAYOUT = "_ds_mla"
"""Ends the name of a format whose bytes lie as sparse latent attention reads them."""
E4M3 = frozenset(ALIASES)
LEFT_OPEN = (None, "auto")
"""Values that leave the dtype to the engine."""
NATIVE = "csrc/"
"""The folder of the engine's own kernels."""
SIZE = "qk_rope_head_dim"
"""The rotary dimensions of latent attention."""
FITS = (CandidateState.TAKEN, CandidateState.POSSIBLE, CandidateState.NOT_REACHED)


def asked(question: Question) -> str | None:
    """The dtype that the flag asks for; None where it leaves that to the engine."""
    given = question.asked.get("kv_cache_dtype")
    return None if given in LEFT_OPEN else str(given)


def same(a: str, b: str) -> bool:
    """Whether a cache of the format `b` is what the flag's value `a` asks for: itself, or a layout of it."""
    a, b = (ALIASES.get(name, name) for name in (a, b))
    base = b.removesuffix(LAYOUT)
    return a in (b, ALIASES.get(base, base))


def cached(chain: Chain) -> Iterator[tuple[Outcome, Cache]]:
    """The outcomes of an attention chain that allocate a cache."""
    for outcome in chain.outcomes if chain.layer == LAYER else ():
        if outcome.cache is not None:
            yield outcome, outcome.cache


def refused_by_guard(chain: Chain) -> bool:
    """Whether an attention layer is refused over the dtype of its cache, though a backend would take that."""
    return _refused_over_dtype(chain) and bool(takers(chain))


def refused_by_backends(chain: Chain) -> bool:
    """Whether an attention layer is refused since no backend takes its cache."""
    return _refused_over_dtype(chain) and bool(chain.choices) and not takers(chain)


def refused_by_size(chain: Chain) -> bool:
    """Whether an attention layer is refused over the model's sizes: it would be accepted with others."""
    return chain.layer == LAYER and chain.refused() and any(relief.name == SIZE for relief in chain.reliefs)


def in_kernel(refusal: Refusal | None) -> bool:
    """Whether it is C++ that raises."""
    return refusal is not None and refusal.site is not None and refusal.site.path.startswith(NATIVE)


def takers(chain: Chain) -> list[str]:
    """The backends that take the layer: not one that was picked and then refuses by itself."""
    candidates = (c for choice in chain.choices for c in choice.candidates)
    return [c.symbol for c in candidates if c.state in FITS and not refuses_itself(chain, c.symbol)]


def refuses_itself(chain: Chain, backend: str) -> bool:
    """Whether a constructor of the backend is under way where the layer is refused: classes and modules of a
    backend begin with its name.
    """
    within = (symbol for o in chain.outcomes if o.refusal for symbol in o.refusal.within)
    makes = (symbol.split(".")[:-1] for symbol in within if symbol.endswith(".__init__"))
    return any(_squeezed(part).startswith(_squeezed(backend)) for parts in makes for part in parts)


def _squeezed(name: str) -> str:
    return name.replace("_", "").lower()


def _refused_over_dtype(chain: Chain) -> bool:
    """Whether it would be accepted with the dtype left to the engine."""
    over = any(relief.name == "kv_cache_dtype" for relief in chain.reliefs)
    return chain.layer == LAYER and chain.refused() and over
