"""Small reports for the rules' own examples: as much of a scenario as decides."""

from __future__ import annotations

from collections.abc import Mapping

from ..report.model import (
    Chain,
    Choice,
    Coverage,
    Hop,
    HopKind,
    Outcome,
    Pin,
    Question,
    Refusal,
    Report,
    Value,
    Why,
)
from ..report.predicate import Always, Member, Not, Predicate, Site

FP8 = "vllm.model_executor.layers.quantization.fp8"
ALWAYS = Always()
ACCEPTED = Outcome(config=f"{FP8}.Fp8Config", method=f"{FP8}.Fp8LinearMethod")


def refused(message: str, on: Predicate = ALWAYS, guard: Predicate = ALWAYS) -> Outcome:
    """The engine raises ValueError; `on` is the statement's condition, `guard` that of the outcome."""
    refusal = Refusal(exception="ValueError", message=message, site=Site("vllm/config/model.py", 9), guard=on)
    return Outcome(refusal=refusal, guard=guard)


def unknown(value: str, *known: str) -> Outcome:
    """The engine knows the names `known` and was given `value`."""
    return refused(f"Unknown quantization method: {value}.", on=Not(Member("quantization", known)))


def report(
    *outcomes: Outcome,
    asked: Mapping[str, Value] | None = None,
    resolved: Mapping[str, Value] | None = None,
    coverage: Coverage | None = None,
    layer: str = "linear",
    choices: tuple[Choice, ...] = (),
) -> Report:
    """A report of one chain that ends in `outcomes`."""
    asked = {"quantization": "fp8"} if asked is None else asked
    flag = Hop(kind=HopKind.FLAG, symbol="--quantization", why=Why.READS)
    return Report(
        tool="0",
        question=Question(engine="vllm", asked=asked, resolved=asked if resolved is None else resolved),
        pins=(Pin(engine="vllm", version="0.33.0", python_hash="0" * 64),),
        chains=(Chain(layer=layer, hops=(flag,), choices=choices, outcomes=outcomes),),
        coverage=coverage or Coverage(modules_read=1, statements=1),
    )
