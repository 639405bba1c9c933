"""What a refusal is about: what else the engine accepts and which function raises tell, not its words."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from ..report.model import CandidateState, Chain, Choice, Refusal, Relief, Report
from .caches import refused_by_backends, refused_by_guard, refused_by_size


class Cause(Struct, frozen=True):
    """Refusals that chains share, with those chains."""

    refusals: tuple[Refusal, ...]
    """Without the calls around them: those differ with the layer."""
    chains: tuple[Chain, ...]

    @property
    def first(self) -> Refusal:
        return self.refusals[0]

    @property
    def relief(self) -> Relief | None:
        return next(iter(self.reliefs), None)

    @property
    def reliefs(self) -> tuple[Relief, ...]:
        return tuple(dict.fromkeys(relief for chain in self.chains for relief in chain.reliefs))

    def subject(self) -> str:
        """The layers, or their kind where the engine refuses before it has any."""
        layers = [layer for chain in self.chains for layer in chain.layers]
        return ", ".join(layers or dict.fromkeys(chain.layer for chain in self.chains))

    def within(self) -> tuple[str, ...]:
        """The calls around the first refusal."""
        return next(o.refusal.within for o in self.chains[0].outcomes if o.refusal is not None)


def causes(report: Report, rule: str) -> Iterator[Cause]:
    """The refusals of whole chains that are `rule`'s to tell, those that say the same as one."""
    found: dict[tuple[Refusal, ...], list[Chain]] = {}
    for chain in report.chains:
        if chain.refused():
            refusals = (outcome.refusal for outcome in chain.outcomes if outcome.refusal)
            found.setdefault(tuple(replace(r, within=()) for r in refusals), []).append(chain)
    made = (Cause(refusals, tuple(chains)) for refusals, chains in found.items())
    return (cause for cause in made if rule_of(cause) == rule)


def rule_of(cause: Cause) -> str:
    """The id of the one rule that tells a cause: the first of the table that fits."""
    return next(rule for rule, fits in TABLE if fits(cause))


def _of_caches(fits: Callable[[Chain], bool]) -> Callable[[Cause], bool]:
    return lambda cause: all(map(fits, cause.chains))


def exhausted(cause: Cause) -> Choice | None:
    """The choice in which every candidate was turned down, where the function that makes it raises."""
    raising = cause.within()[-1:]
    found = (choice for chain in cause.chains for choice in chain.choices)
    return next((c for c in found if (c.function,) == raising and _all_rejected(c)), None)


def _all_rejected(choice: Choice) -> bool:
    return all(candidate.state is CandidateState.REJECTED for candidate in choice.candidates)


def _relieved_by(name: str, fits: Callable[[Cause], bool]) -> Callable[[Cause], bool]:
    return lambda cause: cause.relief is not None and cause.relief.name == name and fits(cause)


def _of_quantization(cause: Cause) -> bool:
    """Whether code about quantization is under way: other parts of the engine refuse dtypes and ranks too."""
    return any("quantization" in part for symbol in cause.within() for part in symbol.split("."))


def _before_layers(cause: Cause) -> bool:
    """Whether the engine refuses before it makes anything."""
    made = any(symbol.endswith(".__init__") for symbol in cause.within())
    return not made and not any(chain.layers for chain in cause.chains)


TABLE: tuple[tuple[str, Callable[[Cause], bool]], ...] = (
    ("QT305", _of_caches(refused_by_size)),
    ("QT302", _of_caches(refused_by_guard)),
    ("QT303", _of_caches(refused_by_backends)),
    ("QT201", lambda cause: exhausted(cause) is not None),
    ("QT107", _relieved_by("ignored modules", _of_quantization)),
    ("QT110", _relieved_by("tp", _of_quantization)),
    ("QT106", _relieved_by("dtype", _of_quantization)),
    ("QT105", _relieved_by("capability", _of_quantization)),
    ("QT104", _relieved_by("quantization", _before_layers)),
    ("QT101", lambda cause: True),
)
"""Rules of refusals, the most specific first."""
