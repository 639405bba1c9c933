"""QT401: experts without a gate are given room for one."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ..report.model import Finding, Outcome, Parameter, Report, Verdict
from ..report.registry import lookup
from .examples import report

RULE = lookup("QT401")
GATED = "is_act_and_mul"
"""What the engine calls experts whose activation is multiplied by a gate."""
UP, DOWN = "w13_", "w2_"
"""How the engine's parameters of experts begin: gate and up projection in one, and down projection."""


def check(report: Report) -> Iterator[Finding]:
    """One finding for each layer kind whose up projection is twice its down projection without need."""
    if report.question.resolved.get(GATED) is not False:
        return
    for chain in report.chains:
        found = [pair for outcome in chain.outcomes for pair in _twice(outcome)]
        if found and all(any(_twice(o)) for o in chain.outcomes if o.parameters):
            yield _finding(chain.layer, *found[0])


def _twice(outcome: Outcome) -> Iterator[tuple[Parameter, Parameter]]:
    """Up projections with twice the elements of the down projection, packed or not."""
    named = {parameter.name: parameter for parameter in outcome.parameters}
    for name, up in named.items():
        down = named.get(DOWN + name.removeprefix(UP)) if name.startswith(UP) and "weight" in name else None
        if down is not None and down.dtype == up.dtype and _size(up) == 2 * _size(down) > 0:
            yield up, down


def _size(parameter: Parameter) -> int:
    """Elements, 0 where a dimension is not known."""
    known = [size for size in parameter.shape if isinstance(size, int)]
    return math.prod(known) if len(known) == len(parameter.shape) > 0 else 0


def _finding(layer: str, up: Parameter, down: Parameter) -> Finding:
    return RULE.finding(
        Verdict.FAIL,
        layer,
        f"{up.name} has {_size(up):,} elements for experts without a gate, which need {_size(down):,}: half "
        "of it is never used, in each layer and on each rank.",
        expected=f"{_size(down):,} elements",
        seen=str(up),
        evidence=(str(up), str(down), f"{GATED} = False"),
    )


def _experts(rows: int, gated: bool) -> Report:
    up = Parameter(name="w13_weight", dtype="bfloat16", shape=(128, rows, 2688))
    down = Parameter(name="w2_weight", dtype="bfloat16", shape=(128, 2688, 1856))
    return report(Outcome(parameters=(up, down)), resolved={GATED: gated}, layer="experts")


FIRES = (_experts(3712, gated=False),)
SILENT = (
    _experts(1856, gated=False),
    _experts(3712, gated=True),
    # Nobody knows how many experts a rank has.
    report(
        Outcome(parameters=(Parameter(name="w13_weight", dtype="uint8", shape=("E", 3712, 2688)),)),
        resolved={GATED: False},
    ),
)
