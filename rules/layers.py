"""What a report says of single layers, though several may share a chain."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec.structs import replace

from ..report.model import Chain, Confidence, Finding, Level, Outcome, Parameter, Report, Verdict
from ..report.predicate import Always

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


def folded(outcomes: list[Outcome]) -> list[list[Outcome]]:
    """The outcomes, those that run the same classes together: the rows of a forward may pick other operators."""
    groups: dict[Outcome, list[Outcome]] = {}
    for outcome in outcomes:
        alike = replace(outcome, guard=Always(), ops=(), dtypes=None)
        groups.setdefault(alike, []).append(outcome)
    return list(groups.values())


def everywhere(chain: Chain, holds: Callable[[Outcome], bool]) -> bool:
    """Whether something holds however a chain is accepted."""
    return all(holds(outcome) for outcome in chain.outcomes if outcome.refusal is None)


def only_where(finding: Finding, outcomes: list[Outcome]) -> Finding:
    """A finding that holds for `outcomes` and not for all that are accepted: what is unknown decides."""
    when = tuple(f"when {guard}" for guard in dict.fromkeys(outcome.guard for outcome in outcomes))
    return replace(
        finding,
        verdict=Verdict.OPEN,
        level=Level.NOTE,
        confidence=Confidence.LIKELY,
        evidence=(*finding.evidence, *when),
    )
