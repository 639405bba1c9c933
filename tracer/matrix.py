"""Every value of `--quantization` by device, one question a value: its ends have the device as condition."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import chain

from msgspec.structs import replace

from ..report.conditions import admitted
from ..report.matrix import End, Matrix, Row
from ..report.model import Chain, Outcome, Question, Report, Value
from ..report.names import short
from ..report.standing import Standing, of_outcome
from .scenario import ARCHITECTURES, CAPABILITIES, Scenario
from .supposed import OTHER, read_together

Column = tuple[str, str, Value]
"""How a device is called, and the variable that tells it from others with its value there."""
ANY = ("", None)
Cells = tuple[tuple[End, ...], ...]
"""The ends that are possible on each device."""


def columns(scenario: Scenario) -> tuple[Column, ...]:
    """The devices that the question may be about."""
    if scenario.capability is not None:
        return ((f"sm_{scenario.capability}", *ANY),)
    if scenario.arch is not None:
        return ((scenario.arch, *ANY),)
    if scenario.platform == "cuda":
        return tuple((f"sm_{value}", "capability", value) for value in CAPABILITIES)
    if scenario.platform == "rocm":
        return tuple((value, "arch", value) for value in ARCHITECTURES)
    return ((scenario.platform, *ANY),)


def matrix(
    questions: Sequence[tuple[str, Scenario]],
    ask: Callable[[Scenario], Report],
    asked: Mapping[str, Value],
    merged: bool,
    told: Callable[[int], None],
) -> Report:
    """The table of the questions, each a value of the flag; `merged` has a row for each of them, else there
    is one for each checkpoint. `told` hears how many are answered.
    """
    across = columns(questions[0][1])
    rows: list[Row] = []
    reports: list[Report] = []
    for number, (flag, scenario) in enumerate(questions, 1):
        report = ask(scenario)
        rows += _rows(flag, report, across, merged)
        reports.append(replace(report, chains=()))
        told(number)
    return replace(
        reports[0],
        question=_question([report.question for report in reports], asked),
        coverage=reduce(read_together, (report.coverage for report in reports)),
        checkpoint=None,
        matrix=Matrix(columns=tuple(name for name, _, _ in across), rows=tuple(rows), merged=merged),
    )


def _question(questions: Sequence[Question], asked: Mapping[str, Value]) -> Question:
    """What all of the questions have in common."""
    first, *others = questions
    return replace(
        first,
        asked=dict(asked),
        resolved={
            name: value
            for name, value in first.resolved.items()
            if all(other.resolved.get(name) == value for other in others)
        },
        unknown=tuple(
            sorted({name for question in questions for name in question.unknown} - {"capability", "arch"})
        ),
        assumed=tuple(said for said in first.assumed if all(said in other.assumed for other in others)),
    )


def _rows(flag: str, report: Report, across: Sequence[Column], merged: bool) -> Iterator[Row]:
    for layer in dict.fromkeys(told.layer for told in report.chains):
        chains = [told for told in report.chains if told.layer == layer]
        rows = list(_by_premises(flag, layer, chains, across))
        yield from [_merged(rows)] if merged else rows


def _by_premises(flag: str, layer: str, chains: Sequence[Chain], across: Sequence[Column]) -> Iterator[Row]:
    """A row for each checkpoint; those with the same cells share one."""
    told = [(one.premises, tuple(_ends(one, across))) for one in chains]
    found: dict[Cells, tuple[str, ...]] = {}
    for premise in dict.fromkeys(premise for premises, _ in told for premise in premises or ("",)):
        of = [cells for premises, cells in told if not premises or premise in premises]
        cells = tuple(_once(chain.from_iterable(cell)) for cell in zip(*of, strict=True))
        found[cells] = (*found.get(cells, ()), premise)
    for cells, premises in found.items():
        yield Row(flag=flag, layer=layer, premises=tuple(filter(None, premises)), cells=cells)


def _merged(rows: Sequence[Row]) -> Row:
    """One row of the standard checkpoints that are accepted somewhere; where none is, of whatever else there
    may be as well.
    """
    telling = [row for row in rows if row.premises != (OTHER,) and row.accepted()] or rows
    cells = (_once(chain.from_iterable(ends)) for ends in zip(*(row.cells for row in telling), strict=True))
    premises = tuple(premise for row in telling for premise in row.premises)
    return replace(telling[0], premises=premises, cells=tuple(cells))


def _ends(told: Chain, across: Sequence[Column]) -> Iterator[tuple[End, ...]]:
    """The ends that the chain may come to on each device, each once."""
    name = across[0][1]
    devices = frozenset(value for _, _, value in across)
    ends = [(_end(outcome), admitted(outcome.guard, name, devices)) for outcome in told.outcomes]
    for _, _, value in across:
        yield _once(end for end, on in ends if value in on)


def _end(outcome: Outcome) -> End:
    if outcome.refusal:
        return End(standing=Standing.REFUSED, symbol=outcome.refusal.exception)
    steps = outcome.steps()
    return End(standing=of_outcome(outcome), symbol=short(steps[-1]) if steps else "")


def _once(ends: Iterable[End]) -> tuple[End, ...]:
    return tuple(dict.fromkeys(ends))
