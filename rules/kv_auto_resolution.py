"""QT304: the cache holds another format than the flag says, or one that no flag asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from ..report.model import Cache, Finding, Level, Outcome, Report, Verdict
from ..report.predicate import Member, Not
from ..report.registry import lookup
from .caches import LAYER, asked, cached, same
from .examples import report
from .layers import everywhere, only_where

RULE = lookup("QT304")
FP8_SINCE = 89
"""Compute capability from which CUDA devices convert FP8 in hardware (PTX ISA, `cvt` with `.e4m3x2`)."""

FP8_TARGETS = re.compile(r"gfx9(4|5)\w|gfx12\w\w")
"""Compiler targets of AMD's devices that convert FP8 in hardware: those with `v_cvt_pk_fp8_f32` in the
instruction set guides of CDNA3, CDNA4 and RDNA4; RDNA2 and RDNA3 have none.
"""


def check(report: Report) -> Iterator[Finding]:
    """One finding for each format that an attention chain ends with unasked."""
    wanted = asked(report.question)
    told: set[str] = set()
    for chain in report.chains:
        for made in [cache for _, cache in cached(chain) if cache.mode is not None]:
            if made.format not in told and (wanted is None or not same(wanted, made.format)):
                told.add(made.format)
                ends = [end for end, cache in cached(chain) if cache.format == made.format]
                found = _unasked(report, made) if wanted is None else _overridden(wanted, made)
                yield found if everywhere(chain, ends.__contains__) else only_where(found, ends)


def _overridden(wanted: str, cache: Cache) -> Finding:
    return RULE.finding(
        Verdict.FAIL,
        "--kv-cache-dtype",
        f"--kv-cache-dtype {wanted} is ignored: the cache holds {cache.format}.",
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
        f"The cache holds {cache.format}, which no flag asks for.{more}",
        expected="the dtype of the activations",
        seen=cache.format,
        evidence=(str(cache),),
        fix="Give --kv-cache-dtype bfloat16 to keep the cache as the activations are.",
    )
    return found if software else replace(found, level=Level.NOTE)


def _in_software(report: Report) -> bool:
    has = report.question.resolved
    capability, arch = has.get("capability"), has.get("arch")
    if isinstance(arch, str):
        return not FP8_TARGETS.fullmatch(arch)
    return isinstance(capability, int) and capability < FP8_SINCE


def _with(cache: Cache, dtype: str | None, device: int | str = 90) -> Report:
    given = {} if dtype is None else {"kv_cache_dtype": dtype}
    has = {"arch" if isinstance(device, str) else "capability": device}
    return report(Outcome(cache=cache), asked=given, resolved=has, layer=LAYER)


_FP8 = Cache(format="fp8", mode="FP8_PER_TENSOR", dtype="uint8")
_PLAIN = Cache(format="bfloat16", dtype="bfloat16")
_HOPPER = Member("capability", (90,))
_ON = (Outcome(cache=_FP8, guard=_HOPPER), Outcome(cache=_PLAIN, guard=Not(_HOPPER)))
FIRES = (
    _with(_FP8, "bfloat16"),
    _with(_FP8, "auto", 86),
    _with(_FP8, "auto", "gfx1100"),
    _with(_FP8, None),
    _with(_FP8, "fp8_e5m2"),
    _with(replace(_FP8, format="fp8_e5m2"), "fp8"),
    report(*_ON, asked={"kv_cache_dtype": "bfloat16"}, layer=LAYER),
)
SILENT = (
    _with(_FP8, "fp8"),
    _with(_FP8, "fp8_e4m3"),
    # The engine's own layout of FP8 for latent attention.
    _with(replace(_FP8, format="fp8_ds_mla"), "fp8"),
    _with(replace(_FP8, format="fp8_ds_mla"), "fp8_e4m3"),
    _with(_PLAIN, "bfloat16"),
    _with(_PLAIN, None, 86),
    report(Outcome(), asked={"kv_cache_dtype": "fp8"}, layer=LAYER),
)
