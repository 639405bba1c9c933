"""The facts of a line, each with a label: why it is there, on what condition, what was seen of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..report.cache import Cache
from ..report.matrix import Row
from ..report.model import (
    Candidate,
    CandidateState,
    Chain,
    Choice,
    Compared,
    Drifted,
    Elsewhere,
    Finding,
    Fit,
    Hop,
    Only,
    Outcome,
    Parameter,
    Step,
    Unsupported,
    Warned,
)
from ..report.names import one_line, short
from ..report.outcome import NOWHERE
from ..report.predicate import Always
from ..report.text.hops import SIGHTS
from ..report.told import cache_rows
from .lines import Bound, Group, Line, Met, Run, Untaken
from .words import ended, when

Fact = tuple[str, str]
"""A label and a text."""


def facts_of(line: Line) -> list[Fact]:
    """Why it is there, on what condition, what was seen, and how it is at other pins."""
    told = FACTS[type(line.about)](line.about, line.chain)
    return [(label, one_line(text)) for label, text in told if text]


Told = Iterator[Fact]


def _of_chain(chain: Chain, _: Chain | None) -> Told:
    yield "checkpoint", "; or ".join(chain.premises)
    yield "layers", ", ".join(chain.layers)
    for relief in chain.reliefs:
        yield "instead", str(relief)


def _of_outcome(outcome: Outcome, _: Chain | None) -> Told:
    refusal = outcome.refusal
    yield "steps", "" if refusal else " → ".join(map(short, outcome.steps()))
    yield "refused", str(refusal) if refusal else ""
    yield "because", str(refusal.guard) if refusal and refusal.guard != Always() else ""
    yield "guard", str(outcome.guard)
    yield "runs", ", ".join(outcome.ops)
    yield "makes", ", ".join(outcome.dtypes or ())


def _of_hop(hop: Hop, chain: Chain | None) -> Told:
    yield "why here", f"{hop.why.replace('_', ' ')} {hop.symbol}"
    yield "guard", str(hop.guard)
    yield "seen", SIGHTS[hop.sight][0] or "read in the source; nothing was run"
    yield "defined", str(hop.defined or "")
    yield "code", str(hop.image or "")
    yield "note", hop.note or ""
    for other in chain.elsewhere if chain else ():
        if other.symbol == hop.symbol:
            place = f" to {other.site}" if other.site else ""
            yield "pinned", f"in {other.version}: {other.change}{place}"


def _of_choice(choice: Choice, _: Chain | None) -> Told:
    yield "why here", f"{choice.function} takes the first candidate that fits"
    yield "from", choice.registry or ""


def _of_candidate(candidate: Candidate, _: Chain | None) -> Told:
    yield "candidate", candidate.symbol
    yield "why", candidate.state.replace("_", " ")
    yield "reason", candidate.reason or ""
    yield "guard", str(candidate.guard) if candidate.state is CandidateState.POSSIBLE else ""


def _of_untaken(untaken: Untaken, _: Chain | None) -> Told:
    yield "why", "one before them was taken"
    yield "these", ", ".join(short(candidate.symbol) for candidate in untaken.candidates)


def _of_parameter(parameter: Parameter, _: Chain | None) -> Told:
    yield "tensor", str(parameter)
    yield "stored", ", ".join(parameter.stored)


def _of_cache(cache: Cache, _: Chain | None) -> Told:
    yield from cache_rows(cache)


def _of_fit(fit: Fit, _: Chain | None) -> Told:
    yield "asked by", fit.function
    yield "guard", str(fit.guard)


def _of_warned(warned: Warned, _: Chain | None) -> Told:
    yield "logged by", warned.function
    yield "text", warned.text
    yield "guard", str(warned.guard)


def _of_row(row: Row, _: Chain | None) -> Told:
    yield "checkpoints", "; ".join(row.premises)
    yield "next", "unfold it, and press Enter on a device"


def _of_run(run: Run, _: Chain | None) -> Told:
    yield "devices", run.devices
    yield "ends", "; or ".join(map(ended, run.ends)) or NOWHERE
    yield "next", f"Enter asks for the way on {run.device}"


def _of_finding(finding: Finding, _: Chain | None) -> Told:
    yield "message", finding.message
    yield "expected", finding.expected or ""
    yield "seen", finding.seen or ""
    for fact in finding.evidence:
        yield "evidence", fact
    yield "sure", finding.confidence
    yield "fix", finding.fix or ""


def _of_unsupported(gap: Unsupported, _: Chain | None) -> Told:
    yield "means", "its value was taken as unknown: nothing that hangs on it is told as certain"


def _of_drifted(change: Drifted, _: Chain | None) -> Told:
    yield "was", str(change.was)
    yield "now", str(change.now)
    yield "guard", str(change.guard)
    yield "open", "" if change.sure else "only one of the two pins asks what decides"
    for sentence in change.because:
        yield "because", sentence


def _of_met(met: Met, _: Chain | None) -> Told:
    yield "devices", met.devices
    yield "asked", ", ".join(met.where.words())


def _of_step(step: Step, _: Chain | None) -> Told:
    yield "hop", step.symbol
    for label, site, guard in (("was", step.was, step.was_guard), ("now", step.now, step.now_guard)):
        yield label, f"{site} {when(guard)}".rstrip() if site else "no such hop"


def _of_elsewhere(elsewhere: Elsewhere, _: Chain | None) -> Told:
    yield "hop", elsewhere.symbol
    yield "pinned", f"in {elsewhere.version}: {elsewhere.change}"
    yield "there", str(elsewhere.site or "")


def _of_bound(bound: Bound, _: Chain | None) -> Told:
    yield "reached", bound.words
    yield "means", "what is behind it is not known, and nothing that hangs on it is told as certain"


def _nothing(*_: object) -> Told:
    yield from ()


FACTS: dict[type, Callable[[Any, Chain | None], Told]] = {
    Chain: _of_chain,
    Outcome: _of_outcome,
    Hop: _of_hop,
    Choice: _of_choice,
    Candidate: _of_candidate,
    Untaken: _of_untaken,
    Group: _nothing,
    Parameter: _of_parameter,
    Cache: _of_cache,
    Fit: _of_fit,
    Warned: _of_warned,
    Elsewhere: _of_elsewhere,
    Row: _of_row,
    Run: _of_run,
    Finding: _of_finding,
    Unsupported: _of_unsupported,
    Drifted: _of_drifted,
    Met: _of_met,
    Only: _nothing,
    Compared: _nothing,
    Step: _of_step,
    Bound: _of_bound,
}
