"""QT301: an FP8 E4M3 cache whose scale is the engine's default, since nothing gives one."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from ..report.model import Cache, Finding, Level, Outcome, Report, Scale, ScaleSource, Verdict
from ..report.predicate import Always, Not, Opaque
from ..report.registry import lookup
from .caches import E4M3, LAYER, cached
from .examples import report

RULE = lookup("QT301")


def check(report: Report) -> Iterator[Finding]:
    """One finding for each chain: certain where a scale is the default, open where the checkpoint decides."""
    for chain in report.chains:
        left = [s for _, cache in cached(chain) if cache.format in E4M3 for s in _defaults(cache)]
        certain = [scale for scale in left if scale.guard == Always()]
        if certain:
            yield _finding(chain.layer, certain)
        elif left:
            yield replace(_open(chain.layer, left), level=Level.NOTE)


def _defaults(cache: Cache) -> Iterator[Scale]:
    return (scale for scale in cache.scales if scale.source is ScaleSource.DEFAULT)


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
    )


_HAS = Opaque("the checkpoint has k_scale and v_scale for this layer")
_DEFAULT = Scale(name="k_scale", source=ScaleSource.DEFAULT, value=1.0)
_LOADED = Scale(name="k_scale", source=ScaleSource.CHECKPOINT)


def _with(format: str, *scales: Scale) -> Report:
    cache = Cache(format=format, mode="FP8_PER_TENSOR", dtype="uint8", scales=scales)
    return report(Outcome(cache=cache), asked={"kv_cache_dtype": format}, layer=LAYER)


FIRES = (
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
