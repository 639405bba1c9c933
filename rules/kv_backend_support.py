"""QT303: no backend takes the dtype of the cache, or the cache is not quantized though that was asked."""

from __future__ import annotations

from collections.abc import Iterator

from ..report.model import (
    Cache,
    Candidate,
    CandidateState,
    Chain,
    Choice,
    Finding,
    Outcome,
    Report,
    Verdict,
)
from ..report.registry import lookup
from .caches import LAYER, asked, cached, refused_by_backends, same
from .examples import refused, report

RULE = lookup("QT303")
UNQUANTIZED = ("bfloat16", "float16", "half", "float", "float32")


def check(report: Report) -> Iterator[Finding]:
    """One finding for each attention chain."""
    dtype = asked(report.question)
    for chain in report.chains if dtype is not None else ():
        if refused_by_backends(chain, report.question):
            yield _no_backend(str(dtype), chain)
        elif dtype not in UNQUANTIZED and (ignored := _ignored(str(dtype), chain)):
            yield _unquantized(str(dtype), ignored)


def _ignored(dtype: str, chain: Chain) -> list[Cache]:
    """The caches, where every outcome has one that holds plain numbers under another name than `dtype`."""
    caches = [cache for _, cache in cached(chain)]
    whole = len(caches) == len(chain.outcomes)
    return caches if whole and all(c.plain and not same(dtype, c.format) for c in caches) else []


def _no_backend(dtype: str, chain: Chain) -> Finding:
    refusal = next(outcome.refusal for outcome in chain.outcomes if outcome.refusal)
    turned = {c.symbol: c.reason for choice in chain.choices for c in choice.candidates}
    return RULE.finding(
        Verdict.FAIL,
        "--kv-cache-dtype",
        f"No attention backend takes --kv-cache-dtype {dtype}: {len(turned)} were asked.",
        expected=f"a backend that takes {dtype}",
        seen=refusal.exception,
        site=refusal.site,
        evidence=(f"{symbol}: {reason}" for symbol, reason in turned.items()),
    )


def _unquantized(dtype: str, caches: list[Cache]) -> Finding:
    return RULE.finding(
        Verdict.FAIL,
        "--kv-cache-dtype",
        f"--kv-cache-dtype {dtype} is ignored: the cache that is allocated is not quantized.",
        expected=dtype,
        seen=caches[0].dtype,
        evidence=map(str, caches),
    )


_NONE = Choice(
    name="attention backend",
    function="get_valid_backends",
    candidates=(
        Candidate(symbol="FLASH_ATTN", state=CandidateState.REJECTED, reason="kv_cache_dtype not supported"),
    ),
)
_ASKED = {"kv_cache_dtype": "fp8_inc"}
_REFUSED = refused("No valid attention backend found for cuda with kv_cache_dtype=fp8_inc.")
_PLAIN = Outcome(cache=Cache(format="auto", dtype="bfloat16"))


def _unread(dtype: str, tensor: str) -> Report:
    cache = Cache(format=dtype, dtype=tensor)
    return report(Outcome(cache=cache), asked={"kv_cache_dtype": dtype}, layer=LAYER)


FIRES = (
    report(_REFUSED, asked=_ASKED, layer=LAYER, choices=(_NONE,)),
    report(_PLAIN, asked={"kv_cache_dtype": "fp8"}, layer=LAYER),
)
SILENT = (
    report(
        Outcome(cache=Cache(format="fp8", mode="FP8_PER_TENSOR", dtype="uint8")),
        asked={"kv_cache_dtype": "fp8"},
        layer=LAYER,
    ),
    report(_PLAIN, asked={"kv_cache_dtype": "auto"}, layer=LAYER),
    report(_PLAIN, asked={"kv_cache_dtype": "bfloat16"}, layer=LAYER),
    report(_REFUSED, asked=_ASKED, layer=LAYER),
    # How the cache is quantized was not read: releases before `KVQuantMode`.
    _unread("fp8", "uint8"),
    _unread("turboquant_4bit_nc", "uint8"),
    _unread("fp8", "bfloat16"),
)
