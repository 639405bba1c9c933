"""QT204: Python takes a kernel whose C++ refuses the layer's tensors on the device."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from ..report.chain import LAST
from ..report.finding import Confidence
from ..report.model import Chain, Finding, Hop, HopKind, Operator, Outcome, Report, Verdict, Why
from ..report.names import short
from ..report.predicate import AllOf, Always, AnyOf, Compare, Predicate, Site
from ..report.registry import lookup
from .dispatch import refusals, without_code
from .examples import ALWAYS, chain, reported, weights

RULE = lookup("QT204")


def check(report: Report) -> Iterator[Finding]:
    """One finding for each operator of a chain that C++ refuses."""
    if not isinstance(report.question.resolved.get("capability"), int):
        return  # which ways of an operator there are is then not known
    known = {operator.symbol: operator for operator in report.operators}
    for made in report.chains:
        told: set[str] = set()
        for outcome in made.outcomes:
            for name in outcome.ops if outcome.refusal is None else ():
                found = refusals(known[name], outcome) if name in known and name not in told else ()
                if found:
                    told.add(name)
                    yield _finding(made, outcome, known[name], found)
                elif name in known and name not in told and (lost := without_code(known[name])):
                    told.add(name)
                    yield _no_image(made, outcome, known[name], lost)


def _finding(made: Chain, outcome: Outcome, operator: Operator, found: tuple[Hop, ...]) -> Finding:
    sure = operator.refused() and outcome.guard == found[0].guard == Always()
    taken = ", ".join(short(step) for step in outcome.steps()[-1:]) or made.layer
    first = found[0]
    when = "" if first.guard == Always() else f", when {first.guard}"
    return RULE.finding(
        Verdict.FAIL,
        ", ".join(made.layers) or made.layer,
        f"{taken} is taken and calls {operator.symbol}, which raises on this device{when}: {first.symbol}",
        expected="a kernel that the device and the tensors' dtypes can launch",
        seen=first.symbol,
        site=first.site,
        evidence=(f"{hop} raises: {hop.symbol}" for hop in found[1:]),
        confidence=Confidence.CERTAIN if sure else Confidence.LIKELY,
    )


def _no_image(made: Chain, outcome: Outcome, operator: Operator, lost: tuple[Hop, ...]) -> Finding:
    first = lost[0]
    taken = ", ".join(short(step) for step in outcome.steps()[-1:]) or made.layer
    where = first.image.site if first.image is not None else None
    return RULE.finding(
        Verdict.FAIL,
        ", ".join(made.layers) or made.layer,
        f"{taken} is taken and calls {operator.symbol}, whose kernel has no code for this device: "
        "no kernel image is available for execution on the device",
        expected=f"code of {first.symbol} for the device",
        seen=str(first.image),
        site=where or first.site,
        evidence=(f"{hop.symbol}  {hop.image}" for hop in lost[1:]),
        # A build may be made for other devices than the release's script names.
        confidence=Confidence.LIKELY if where else Confidence.CERTAIN,
    )


_SITE = Site("csrc/quantization/w8a8/cutlass/c3x/scaled_mm_helper.hpp", 34)
_OP = "torch.ops._C.cutlass_scaled_mm"
_ROWS, _COLUMNS = Compare("a.numel()", "==", "1"), Compare("b.numel()", "==", "1")


def _hop(
    kind: HopKind, symbol: str, guard: Predicate = ALWAYS, depth: int = 2, note: str | None = None
) -> Hop:
    why = Why.RAISES if kind is HopKind.CHECK else Why.LAUNCHES
    return Hop(kind=kind, symbol=symbol, site=_SITE, why=why, guard=guard, depth=depth, note=note)


def _dtype(dtype: str, op: str = "==") -> Compare:
    return Compare("a.scalar_type()", op, dtype)


_HOST = _hop(HopKind.HOST_FUNCTION, "dispatch", depth=1)
_FP8 = _hop(HopKind.EXTERNAL, "cutlass::device_kernel", AllOf((_dtype("float8_e4m3fn"), _ROWS, _COLUMNS)))
_BLOCKS = _hop(
    HopKind.EXTERNAL,
    "cutlass::blocks",
    AnyOf((Compare("a.numel()", "!=", "1"), Compare("b.numel()", "!=", "1"))),
)
_NO_INT8 = _hop(HopKind.CHECK, "Int8 not supported", AllOf((_dtype("int8"), _ROWS, _COLUMNS)))
_TOO_OLD = _hop(HopKind.CHECK, "No compiled kernel")
_OTHER = _hop(HopKind.CHECK, "Unsupported dtype", AllOf((_dtype("float16", "!="), _dtype("bfloat16", "!="))))
_UNKNOWN_ARCH = _hop(HopKind.CHECK, "Unsupported architecture", Compare("m", "!=", "0"))
_HALF = _hop(HopKind.GLOBAL_KERNEL, "half", _dtype("float16"))


def _report(
    *hops: Hop, dtypes: tuple[str, ...] | None = ("bfloat16", "int8", "float32"), barred: tuple[Hop, ...] = ()
) -> Report:
    outcome = Outcome(method="a.b.Method", ops=(_OP,), dtypes=dtypes, parameters=weights(("weight", "int8")))
    made = reported(chain(outcome), resolved={"capability": 100})
    return replace(
        made, operators=(Operator(symbol=_OP, hops=hops, lost=hops[-1] == _TOO_OLD, barred=barred),)
    )


FIRES = (
    _report(_HOST, _FP8, _NO_INT8),
    _report(_HOST, _FP8, replace(_NO_INT8, note=LAST)),
    # Another way is left for tensors of other shapes.
    _report(_HOST, _FP8, _BLOCKS, _NO_INT8),
    # Nothing at all is left on the device, whatever the dtypes.
    _report(_HOST, _TOO_OLD, dtypes=None),
    # What the check is the last choice after is for other devices, beside a launch that is left.
    _report(_HOST, _HALF, _UNKNOWN_ARCH, dtypes=None, barred=(_UNKNOWN_ARCH,)),
)
SILENT = (
    _report(_HOST, _FP8, _NO_INT8, dtypes=None),
    _report(_HOST, _FP8, _NO_INT8, dtypes=("int8", "float8_e4m3fn")),
    # Which of the dtypes it is that the check is about is not known.
    _report(_HOST, _HALF, _OTHER),
    # A check of something else than what nothing is left for.
    _report(
        _HOST,
        _hop(HopKind.GLOBAL_KERNEL, "any", Compare("n", "==", "4")),
        _hop(HopKind.CHECK, "n", Compare("n", "!=", "4")),
    ),
    _report(_HOST, _FP8, _hop(HopKind.GLOBAL_KERNEL, "int8"), _NO_INT8),
    reported(chain(Outcome(ops=(_OP,)))),
)
