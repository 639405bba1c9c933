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
from .caches import LAYER, asked, cached, same
from .causes import Cause, causes
from .examples import refused, relieved, report

RULE = lookup("QT303")
UNQUANTIZED = ("bfloat16", "float16", "half", "float", "float32")


def check(report: Report) -> Iterator[Finding]:
    """One finding for each refusal that is about the backends, and for each cache that ignores the flag."""
    dtype = asked(report.question)
    for cause in causes(report, RULE.id):
        yield _no_backend(str(dtype), cause)
    for chain in report.chains if dtype not in (None, *UNQUANTIZED) else ():
        if ignored := _ignored(str(dtype), chain):
            yield _unquantized(str(dtype), ignored)


def _ignored(dtype: str, chain: Chain) -> list[Cache]:
    """The caches, where every outcome has one that holds plain numbers under another name than `dtype`."""
    caches = [cache for _, cache in cached(chain)]
    whole = len(caches) == len(chain.outcomes)
    return caches if whole and all(c.plain and not same(dtype, c.format) for c in caches) else []


def _no_backend(dtype: str, cause: Cause) -> Finding:
    turned = {
        c.symbol: c.reason if c.state is CandidateState.REJECTED else f"picked, and then {cause.first}"
        for chain in cause.chains
        for choice in chain.choices
        for c in choice.candidates
    }
    return RULE.finding(
        Verdict.FAIL,
        "--kv-cache-dtype",
        f"No attention backend takes --kv-cache-dtype {dtype}: {len(turned)} were asked.",
        expected=f"a backend that takes {dtype}",
        seen=cause.first.exception,
        site=cause.first.site,
        evidence=[*(f"{symbol}: {reason}" for symbol, reason in turned.items()), *map(str, cause.reliefs)],
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
_REFUSED = refused("no.")
_AUTO = (relieved("kv_cache_dtype", "auto"),)
_PICKED = Choice(
    name="attention backend",
    function="get_valid_backends",
    candidates=(
        *_NONE.candidates,
        Candidate(symbol="TRITON_ATTN", state=CandidateState.TAKEN),
    ),
)
_BY_ITSELF = refused("no.", within=("vllm.v1.attention.backends.triton_attn.TritonAttentionImpl.__init__",))
_PLAIN = Outcome(cache=Cache(format="auto", dtype="bfloat16"))


def _unread(dtype: str, tensor: str) -> Report:
    cache = Cache(format=dtype, dtype=tensor)
    return report(Outcome(cache=cache), asked={"kv_cache_dtype": dtype}, layer=LAYER)


FIRES = (
    report(_REFUSED, asked=_ASKED, layer=LAYER, choices=(_NONE,), reliefs=_AUTO),
    report(_BY_ITSELF, asked=_ASKED, layer=LAYER, choices=(_PICKED,), reliefs=_AUTO),
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
    report(_REFUSED, asked=_ASKED, layer=LAYER, reliefs=_AUTO),
    # No backend takes the layer, whatever its cache holds.
    report(_REFUSED, asked=_ASKED, layer=LAYER, choices=(_NONE,)),
    # How the cache is quantized was not read: releases before `KVQuantMode`.
    _unread("fp8", "uint8"),
    _unread("turboquant_4bit_nc", "uint8"),
    _unread("fp8", "bfloat16"),
)
