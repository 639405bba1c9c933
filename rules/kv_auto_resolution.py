"""QT304: the cache holds another format than the flag says, or one that no flag asked for."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from ..report.model import Cache, Finding, Level, Outcome, Report, Verdict
from ..report.registry import lookup
from .caches import LAYER, asked, cached, same
from .examples import report

RULE = lookup("QT304")
FP8_SINCE = 89
"""Compute capability from which CUDA devices convert FP8 in hardware (PTX ISA, `cvt` with `.e4m3x2`)."""


def check(report: Report) -> Iterator[Finding]:
    """One finding for each format that an attention chain ends with unasked."""
    wanted = asked(report.question)
    found = {c.format: c for chain in report.chains for _, c in cached(chain) if c.mode is not None}
    for cache in found.values():
        if wanted is None:
            yield _unasked(report, cache)
        elif not same(wanted, cache.format):
            yield _overridden(wanted, cache)


def _overridden(wanted: str, cache: Cache) -> Finding:
    return RULE.finding(
        Verdict.FAIL,
        "--kv-cache-dtype",
        f"--kv-cache-dtype {wanted} is ignored: the cache holds {cache.format}, as the checkpoint says.",
        expected=wanted,
        seen=cache.format,
        evidence=(str(cache),),
    )


def _unasked(report: Report, cache: Cache) -> Finding:
    software = _in_software(report)
    more = " This device has no FP8: each value is converted in software." if software else ""
    found = RULE.finding(
        Verdict.FAIL,
        "--kv-cache-dtype",
        f"The cache holds {cache.format} without the flag: the checkpoint's quantization config asks for it."
        + more,
        expected="the dtype of the activations",
        seen=cache.format,
        evidence=(str(cache),),
        fix="Give --kv-cache-dtype bfloat16 to keep the cache as the activations are.",
    )
    return found if software else replace(found, level=Level.NOTE)


def _in_software(report: Report) -> bool:
    capability = report.question.resolved.get("capability")
    return isinstance(capability, int) and capability < FP8_SINCE


def _with(cache: Cache, dtype: str | None, capability: int = 90) -> Report:
    given = {} if dtype is None else {"kv_cache_dtype": dtype}
    return report(Outcome(cache=cache), asked=given, resolved={"capability": capability}, layer=LAYER)


_FP8 = Cache(format="fp8", mode="FP8_PER_TENSOR", dtype="uint8")
_PLAIN = Cache(format="bfloat16", dtype="bfloat16")
FIRES = (_with(_FP8, "bfloat16"), _with(_FP8, "auto", 86), _with(_FP8, None), _with(_FP8, "fp8_e5m2"))
SILENT = (
    _with(_FP8, "fp8"),
    _with(_FP8, "fp8_e4m3"),
    # The engine's own layout of FP8 for latent attention.
    _with(replace(_FP8, format="fp8_ds_mla"), "fp8"),
    _with(_PLAIN, "bfloat16"),
    _with(_PLAIN, None, 86),
    report(Outcome(), asked={"kv_cache_dtype": "fp8"}, layer=LAYER),
)
