"""QT301: an FP8 E4M3 cache whose scale is the engine's default, since nothing gives one."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from ..report.model import Cache, Finding, Level, Outcome, Report, Scale, ScaleSource, Verdict
from ..report.predicate import Always, Member, Not, Opaque
from ..report.registry import lookup
from .caches import E4M3, LAYER, cached
from .examples import report
from .layers import everywhere, only_where

RULE = lookup("QT301")


def check(report: Report) -> Iterator[Finding]:
    """One finding for each chain: certain where a scale is the default, open where the checkpoint decides."""
    for chain in report.chains:
        without = {outcome: found for outcome, cache in cached(chain) if (found := list(_defaults(cache)))}
        certain = {o: found for o, scales in without.items() if (found := _certain(scales))}
        if certain:
            made = _finding(chain.layer, next(iter(certain.values())))
            yield made if everywhere(chain, certain.__contains__) else only_where(made, list(certain))
        elif without:
            yield _open(chain.layer, [scale for scales in without.values() for scale in scales])


def _defaults(cache: Cache) -> Iterator[Scale]:
    scales = cache.scales if cache.format in E4M3 else ()
    return (scale for scale in scales if scale.source is ScaleSource.DEFAULT)


def _certain(scales: list[Scale]) -> list[Scale]:
    return [scale for scale in scales if scale.guard == Always()]


def _finding(layer: str, scales: list[Scale]) -> Finding:
    names = " and ".join(dict.fromkeys(scale.name for scale in scales))
    return RULE.finding(
        Verdict.FAIL,
        layer,
        f"The KV cache is FP8 E4M3 with scale 1.0: nothing loads or computes {names}.",
        expected="a scale from the checkpoint",
        seen="1.0",
        evidence=map(str, scales),
    )


def _open(layer: str, scales: list[Scale]) -> Finding:
    return RULE.finding(
        Verdict.OPEN,
        layer,
        "The KV cache is FP8 E4M3, and its scale is 1.0 unless the checkpoint has one: its tensors are not "
        "at hand.",
        evidence=(f"{scale} when {scale.guard}" for scale in scales),
        fix="Give --model a folder that holds the checkpoint's safetensors files.",
        level=Level.NOTE,
    )


_HAS = Opaque("the checkpoint has k_scale and v_scale for this layer")
_DEFAULT = Scale(name="k_scale", source=ScaleSource.DEFAULT, value=1.0)
_LOADED = Scale(name="k_scale", source=ScaleSource.CHECKPOINT)


def _with(format: str, *scales: Scale) -> Report:
    cache = Cache(format=format, mode="FP8_PER_TENSOR", dtype="uint8", scales=scales)
    return report(Outcome(cache=cache), asked={"kv_cache_dtype": format}, layer=LAYER)


_HOPPER = Member("capability", (90,))
_ON = tuple(
    Outcome(guard=guard, cache=Cache(format=name, mode=mode, dtype=name, scales=scales))
    for guard, name, mode, scales in (
        (_HOPPER, "fp8", "FP8_PER_TENSOR", (_DEFAULT,)),
        (Not(_HOPPER), "bfloat16", None, ()),
    )
)
FIRES = (
    report(*_ON, asked={}, layer=LAYER),
    _with("fp8", _DEFAULT),
    _with("fp8_e4m3", _DEFAULT),
    _with("fp8", replace(_DEFAULT, guard=Not(_HAS)), replace(_LOADED, guard=_HAS)),
)
SILENT = (
    _with("fp8", _LOADED),
    # E5M2 has the range of the values themselves.
    _with("fp8_e5m2", _DEFAULT),
    _with("fp8_per_token_head", replace(_DEFAULT, source=ScaleSource.COMPUTED, value=None)),
    _with("bfloat16"),
)
