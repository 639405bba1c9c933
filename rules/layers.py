"""What a report says of single layers, though several may share a chain."""

from __future__ import annotations

from collections.abc import Iterator

from ..report.model import Chain, Outcome, Parameter, Report

PLAIN = ("weight", "bias")
"""Parameters of a layer that is not quantized."""


def built(report: Report) -> Iterator[tuple[Chain, Outcome, str, tuple[Parameter, ...]]]:
    """Each layer of each accepted outcome, with its own parameters under their plain names."""
    for chain in report.chains:
        for outcome in chain.outcomes:
            if outcome.refusal is None and outcome.method is not None:
                for layer in chain.layers:
                    yield chain, outcome, layer, _own(outcome.parameters, layer, alone=len(chain.layers) == 1)


def _own(parameters: tuple[Parameter, ...], layer: str, alone: bool) -> tuple[Parameter, ...]:
    if alone:
        return parameters
    start = f"{layer}."
    return tuple(p for p in parameters if p.name.startswith(start) and "." not in p.name[len(start) :])


def plain_name(parameter: Parameter) -> str:
    """A parameter's name without its layer's."""
    return parameter.name.rpartition(".")[2]


def is_quantized(parameters: tuple[Parameter, ...]) -> bool:
    """Whether a layer holds more than a weight and a bias."""
    return any(plain_name(parameter) not in PLAIN for parameter in parameters)
