"""What a report says of single layers, though several may share a chain."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from msgspec.structs import replace

from ..report.model import Chain, Confidence, Finding, Level, Outcome, Parameter, Report, Verdict
from ..report.predicate import Always

PLAIN = ("weight", "bias")
"""Parameters of a layer that is not quantized."""


class Layer(NamedTuple):
    """One layer of a chain that is accepted in at least one outcome."""

    name: str
    chain: Chain
    outcomes: tuple[Outcome, ...]
    """The accepted ones that end in a layer method."""

    def parameters(self, outcome: Outcome) -> tuple[Parameter, ...]:
        """The layer's own, under their plain names."""
        return _own(outcome.parameters, self.name, alone=len(self.chain.layers) == 1)

    def ends(self, holds: Callable[[tuple[Parameter, ...]], bool]) -> list[Outcome]:
        """The outcomes with parameters of which something holds."""
        return [outcome for outcome in self.outcomes if holds(self.parameters(outcome))]

    def judged(self, finding: Finding, ends: list[Outcome]) -> Finding:
        """The finding, open where not every accepted outcome is one of `ends`."""
        return finding if everywhere(self.chain, ends.__contains__) else only_where(finding, ends)


def built(report: Report) -> Iterator[Layer]:
    """Each layer once, with the accepted outcomes that make it."""
    told: set[str] = set()
    for chain in report.chains:
        outcomes = tuple(o for o in chain.outcomes if o.refusal is None and o.method is not None)
        for name in chain.layers if outcomes else ():
            if name not in told:
                told.add(name)
                yield Layer(name, chain, outcomes)


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
    """The outcomes, those that run the same classes together: rows of a forward may pick other operators."""
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
