"""QT202: weights are unpacked to 16 bits where checkpoint and device could multiply in fewer."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from ..report.model import Chain, Checkpoint, Finding, Level, Outcome, Parameter, Report, Verdict
from ..report.names import short
from ..report.predicate import Compare, Not
from ..report.registry import lookup
from .examples import ACCEPTED, chain, reported, weights
from .layers import folded, plain_name

RULE = lookup("QT202")

CAPABLE = {"int8": 75, "float8_e4m3fn": 89, "uint8": 100}
"""The dtype in which weights are kept (uint8: two float4), and the compute capability from which tensor cores
multiply it with its like: PTX ISA, `mma` (s8 from 7.5, e4m3 from 8.9, e2m1 from 10.0).
"""
NARROW = frozenset({"int8", "uint8", "float8_e4m3fn", "float8_e5m2", "float4_e2m1fn_x2"})
"""What quantized activations are kept in."""


def check(report: Report) -> Iterator[Finding]:
    """One finding for each chain whose weights alone are in few bits."""
    asks = report.checkpoint.activations if report.checkpoint else None
    capability = report.question.resolved.get("capability")
    if asks is None or not isinstance(capability, int):
        return
    for made in report.chains:
        ends = made.outcomes if _one_way(made) else ()
        if ends and _could(ends[0], capability) and all(map(_weight_only, ends)):
            yield _lost(made, ends[0]) if asks else _as_asked(made, ends[0])


def _one_way(made: Chain) -> bool:
    """Whether one method and kernel is taken, whatever is unknown; rows may pick other operators of it."""
    return made.decided() or (len(made.outcomes) > 1 and len(folded(list(made.outcomes))) == 1)


def _could(end: Outcome, capability: int) -> bool:
    """Whether the device multiplies in the dtype that the weights are kept in."""
    kept = [p.dtype for p in end.parameters if _is_weight(p)]
    return bool(kept) and all(capability >= CAPABLE.get(dtype, capability + 1) for dtype in kept)


def _is_weight(parameter: Parameter) -> bool:
    name = plain_name(parameter)
    return name.startswith("weight") and "scale" not in name and "zero" not in name and "shape" not in name


def _weight_only(end: Outcome) -> bool:
    """Whether a forward was followed to its end, in torch's own words, and makes no narrow tensor."""
    if end.dtypes is None or not end.ops or not all(op.startswith("torch.") for op in end.ops):
        return False
    return not NARROW & set(end.dtypes)


def _lost(made: Chain, end: Outcome) -> Finding:
    candidates = (candidate for choice in made.choices for candidate in choice.candidates)
    turned = [f"{short(c.symbol)}: {c.reason}" for c in candidates if c.reason]
    return RULE.finding(
        Verdict.FAIL,
        ", ".join(made.layers),
        f"{_kernel(end)} unpacks the weights and multiplies in 16 bits; the checkpoint quantizes "
        "activations and this device multiplies them as they are.",
        expected="quantized activations",
        seen=_kernel(end),
        evidence=turned,
    )


def _as_asked(made: Chain, end: Outcome) -> Finding:
    return RULE.finding(
        Verdict.PASS,
        ", ".join(made.layers),
        f"{_kernel(end)} unpacks the weights and multiplies in 16 bits, as the checkpoint declares: it "
        "does not quantize activations. A line in the log about missing support is no loss.",
        level=Level.NOTE,
        fix="Nothing to mend.",
    )


def _kernel(end: Outcome) -> str:
    return short(end.kernels[-1].symbol if end.kernels else end.scheme or end.method or "")


_BOTH, _WEIGHTS = Checkpoint(activations=True), Checkpoint(activations=False)
_MARLIN = replace(
    ACCEPTED,
    parameters=weights(("weight", "float8_e4m3fn"), ("weight_scale", "float32")),
    ops=("torch.ops._C.marlin_gemm",),
    dtypes=("bfloat16",),
)
_CUTLASS = replace(_MARLIN, ops=("torch.ops._C.cutlass_scaled_mm",), dtypes=("float8_e4m3fn", "bfloat16"))


_FEW = Compare("M", "<", "32")
_ROWS = (replace(_MARLIN, guard=_FEW, ops=("torch.ops._C.gemv",)), replace(_MARLIN, guard=Not(_FEW)))


def _on(capability: int, end: Outcome, checkpoint: Checkpoint, *more: Outcome) -> Report:
    held = chain(end, *more, layers=("down_proj",))
    return reported(held, resolved={"capability": capability}, checkpoint=checkpoint)


FIRES = (
    _on(90, _MARLIN, _BOTH),
    _on(90, _MARLIN, _WEIGHTS),
    _on(90, _ROWS[0], _BOTH, _ROWS[1]),
)
SILENT = (
    _on(90, _CUTLASS, _BOTH),
    # The device has no 8-bit floats: weights alone is all it can.
    _on(80, _MARLIN, _BOTH),
    # What a forward does was not followed to its end, or leaves for a library.
    _on(90, replace(_MARLIN, dtypes=None), _BOTH),
    _on(90, replace(_MARLIN, ops=("humming.gemm",)), _BOTH),
    _on(90, _MARLIN, Checkpoint()),
    # Many rows are multiplied in 8 bits.
    _on(90, _ROWS[0], _BOTH, replace(_CUTLASS, guard=Not(_FEW))),
)
