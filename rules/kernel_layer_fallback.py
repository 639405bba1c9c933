"""QT203: a layer gets another method or kernel than its like, because its shape does not fit."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from ..report.model import (
    Candidate,
    CandidateState,
    Chain,
    Choice,
    Finding,
    Kernel,
    Outcome,
    Report,
    Verdict,
    Warned,
)
from ..report.names import counted, short
from ..report.predicate import Compare, Not, Site
from ..report.registry import lookup
from .examples import ACCEPTED, CHOOSER, FP8, chain, reported, weights
from .layers import folded, is_quantized

RULE = lookup("QT203")
PICKS = ".get_quant_method"
"""The method of every quantization config that picks a layer's method."""


def check(report: Report) -> Iterator[Finding]:
    """One finding for each chain that is worse off than another one of the same config."""
    for worse in report.chains:
        better = next((other for other in report.chains if _falls_back(worse, other)), None)
        if better is not None:
            yield _finding(worse, better)


def _falls_back(chain: Chain, other: Chain) -> bool:
    """Whether `chain` was turned away from what `other` takes."""
    mine, theirs = _end(chain), _end(other)
    if mine is None or theirs is None or mine.config != theirs.config or mine.scheme != theirs.scheme:
        return False
    if mine.method != theirs.method:
        return _warned(chain) and not _warned(other)
    return mine.kernels != theirs.kernels and any(
        kernel.symbol in _rejected(chain) for kernel in theirs.kernels
    )


def _end(chain: Chain) -> Outcome | None:
    """The one quantized layer method in which a chain ends, however it may fail when it is run."""
    ends = [o for o in chain.outcomes if o.method is not None and o.refusal is None]
    return ends[0] if len(folded(ends)) == 1 and is_quantized(ends[0].parameters) else None


def _warned(chain: Chain) -> bool:
    """Whether the engine logs a warning where it picks the layer's method."""
    return any(line.function.endswith(PICKS) for line in chain.warnings)


def _rejected(chain: Chain) -> set[str]:
    turned = (c for choice in chain.choices for c in choice.candidates)
    return {c.symbol for c in turned if c.state is CandidateState.REJECTED}


def _finding(chain: Chain, better: Chain) -> Finding:
    end, like = _end(chain), _end(better)
    assert end is not None and like is not None
    names = ", ".join(chain.layers)
    lines = [line for line in chain.warnings if line.function.endswith(PICKS)]
    reasons = [
        f"{short(c.symbol)}: {c.reason}"
        for choice in chain.choices
        for c in choice.candidates
        if c.state is CandidateState.REJECTED and any(k.symbol == c.symbol for k in like.kernels)
    ]
    return RULE.finding(
        Verdict.FAIL,
        names,
        f"{names}: {_way(end)} instead of {_way(like)}, as {counted(len(better.layers), 'other layer')} "
        f"such as {better.layers[0]}.",
        expected=_way(like),
        seen=_way(end),
        site=lines[0].site if lines else None,
        evidence=[*(line.text for line in lines), *reasons, *map(str, end.parameters[:3])],
    )


def _way(end: Outcome) -> str:
    return " → ".join(short(symbol) for symbol in (end.method or "", *(k.symbol for k in end.kernels)))


_FAST = replace(ACCEPTED, parameters=weights(("qweight", "int32")))
_SLOW = replace(_FAST, method=f"{FP8}.PlainLinearMethod")
_LINE = Warned(text="down_proj falls back.", function=f"{FP8}.Fp8Config{PICKS}", site=Site("vllm/fp8.py", 3))


def _taking(name: str, rejected: bool) -> Chain:
    """A layer that takes a kernel, and may have been turned away from another one."""
    state = CandidateState.REJECTED if rejected else CandidateState.NOT_REACHED
    candidates = (Candidate(symbol="k.Tiled", state=state, reason="K % 128"),)
    held = (Kernel(attribute="quant_method.kernel", symbol="k.Plain" if rejected else "k.Tiled"),)
    choice = Choice(name="Kernel", function=CHOOSER, candidates=candidates)
    return chain(replace(_FAST, kernels=held), layers=(name,), choices=(choice,))


_FEW = Compare("M", "<", "32")


def _by_rows(made: Chain) -> Chain:
    """The same chain where the rows of a forward pick its operators."""
    (end,) = made.outcomes
    few = replace(end, guard=_FEW, ops=("torch.ops._C.gemv",), dtypes=("float16",))
    return replace(made, outcomes=(few, replace(end, guard=Not(_FEW), ops=("torch.ops._C.gemm",))))


FIRES = (
    reported(chain(_FAST, layers=("o_proj",)), chain(_SLOW, layers=("down_proj",), warnings=(_LINE,))),
    reported(_taking("o_proj", rejected=False), _taking("down_proj", rejected=True)),
    reported(_by_rows(_taking("o_proj", rejected=False)), _by_rows(_taking("down_proj", rejected=True))),
)
SILENT = (
    reported(chain(_FAST, layers=("o_proj", "down_proj"))),
    # Two methods, and no word from the engine: the checkpoint may ask for both.
    reported(chain(_FAST, layers=("o_proj",)), chain(_SLOW, layers=("down_proj",))),
    # One of them is not quantized at all.
    reported(chain(ACCEPTED, layers=("gate",)), chain(_SLOW, layers=("down_proj",), warnings=(_LINE,))),
    reported(_taking("o_proj", rejected=True), _taking("down_proj", rejected=True)),
)
