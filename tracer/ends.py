"""Where an answer ends, in a line each: what a table of many answers tells of one."""

from __future__ import annotations

from msgspec.structs import replace

from ..report.model import LaunchEnd, Outcome, Report
from ..report.names import short
from ..report.outcome import NOWHERE
from ..report.predicate import Always
from ..report.standing import of_outcome


def ends(report: Report) -> tuple[LaunchEnd, ...]:
    """The ends of a report, each once with the checkpoints for which it may be come to."""
    found: dict[LaunchEnd, dict[str, None]] = {}
    for chain in report.chains:
        for outcome in chain.outcomes:
            premises = found.setdefault(_end(chain.layer, outcome), {})
            premises.update(dict.fromkeys(chain.premises))
    return tuple(replace(end, premises=tuple(premises)) for end, premises in found.items())


def _end(layer: str, outcome: Outcome) -> LaunchEnd:
    standing = of_outcome(outcome)
    guard = "" if outcome.guard == Always() else str(outcome.guard)
    if outcome.refusal is not None:
        return LaunchEnd(layer=layer, standing=standing, reaches=str(outcome.refusal), guard=guard)
    kernels = [short(kernel.symbol) for kernel in outcome.kernels]
    reaches = " → ".join(kernels or [short(step) for step in outcome.steps()[-1:]]) or NOWHERE
    cache = f", cache {outcome.cache}" if outcome.cache is not None else ""
    return LaunchEnd(layer=layer, standing=standing, reaches=f"{reaches}{cache}", guard=guard)
