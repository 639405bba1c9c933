"""Small reports for the rules' own examples: as much of a scenario as decides."""

from __future__ import annotations

from collections.abc import Mapping

from ..report.model import (
    Chain,
    Checkpoint,
    Choice,
    Coverage,
    Hop,
    HopKind,
    Outcome,
    Parameter,
    Pin,
    Question,
    Refusal,
    Relief,
    Report,
    Value,
    Warned,
    Why,
)
from ..report.predicate import Always, Member, Not, Predicate, Site

FP8 = "vllm.model_executor.layers.quantization.fp8"
ALWAYS = Always()
ACCEPTED = Outcome(config=f"{FP8}.Fp8Config", method=f"{FP8}.Fp8LinearMethod")
CHECKPOINT = Checkpoint(method="gptq", dtype="bfloat16")

QUANTIZATION = ("vllm.config.vllm.VllmConfig._get_quantization_config",)
SCHEME = ("vllm.model_executor.layers.linear.LinearBase.__init__", f"{FP8}.Fp8Config.get_quant_method")
"""Calls that are under way where a method, and where a layer's scheme, is refused."""
CHOOSER = "vllm.model_executor.kernels.linear.choose_linear_kernel"


def refused(
    message: str, on: Predicate = ALWAYS, guard: Predicate = ALWAYS, within: tuple[str, ...] = ()
) -> Outcome:
    """The engine raises ValueError; `on` is the statement's condition, `guard` that of the outcome."""
    site = Site("vllm/config/model.py", 9)
    refusal = Refusal(exception="ValueError", message=message, site=site, guard=on, within=within)
    return Outcome(refusal=refusal, guard=guard)


def unknown(value: str, *known: str) -> Outcome:
    """The engine knows the names `known` and was given `value`."""
    return refused(f"Unknown quantization method: {value}.", on=Not(Member("quantization", known)))


def relieved(name: str, *values: Value, resolved: str | None = None) -> Relief:
    """The question is accepted where the part `name` of it is one of `values`."""
    return Relief(name=name, values=values, resolved=resolved)


def weights(*named: tuple[str, str], stored: str | None = None) -> tuple[Parameter, ...]:
    """(name, dtype) of each parameter, loaded from tensors of the dtype `stored`."""
    held = () if stored is None else (stored,)
    return tuple(Parameter(name=name, dtype=dtype, shape=(64, 64), stored=held) for name, dtype in named)


def chain(
    *outcomes: Outcome,
    layer: str = "linear",
    layers: tuple[str, ...] = (),
    reliefs: tuple[Relief, ...] = (),
    choices: tuple[Choice, ...] = (),
    warnings: tuple[Warned, ...] = (),
) -> Chain:
    """A chain that ends in `outcomes`."""
    flag = Hop(kind=HopKind.FLAG, symbol="--quantization", why=Why.READS)
    return Chain(
        layer=layer,
        layers=layers,
        hops=(flag,),
        choices=choices,
        outcomes=outcomes,
        warnings=warnings,
        reliefs=reliefs,
    )


def report(
    *outcomes: Outcome,
    asked: Mapping[str, Value] | None = None,
    resolved: Mapping[str, Value] | None = None,
    coverage: Coverage | None = None,
    checkpoint: Checkpoint | None = None,
    layers: tuple[str, ...] = (),
    reliefs: tuple[Relief, ...] = (),
    choices: tuple[Choice, ...] = (),
    layer: str = "linear",
) -> Report:
    """A report of one chain that ends in `outcomes`."""
    made = chain(*outcomes, layer=layer, layers=layers, reliefs=reliefs, choices=choices)
    return reported(made, asked=asked, resolved=resolved, coverage=coverage, checkpoint=checkpoint)


def reported(
    *chains: Chain,
    asked: Mapping[str, Value] | None = None,
    resolved: Mapping[str, Value] | None = None,
    coverage: Coverage | None = None,
    checkpoint: Checkpoint | None = None,
) -> Report:
    """A report of these chains."""
    asked = {"quantization": "fp8"} if asked is None else asked
    return Report(
        tool="0",
        question=Question(engine="vllm", asked=asked, resolved=asked if resolved is None else resolved),
        pins=(Pin(engine="vllm", version="0.33.0", python_hash="0" * 64),),
        chains=chains,
        checkpoint=checkpoint,
        coverage=coverage or Coverage(modules_read=1, statements=1),
    )
