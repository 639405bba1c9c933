"""QT201: the engine asked all its kernels for the layer, and each was turned down."""

from __future__ import annotations

from collections.abc import Iterator

from ..report.model import Candidate, CandidateState, Choice, Finding, Report, Verdict
from ..report.names import short
from ..report.registry import lookup
from .causes import Cause, causes, exhausted
from .examples import ACCEPTED, CHOOSER, SCHEME, refused, report

RULE = lookup("QT201")


def check(report: Report) -> Iterator[Finding]:
    """One finding for the layers that share a refusal, with every candidate and its reason."""
    for cause in causes(report, RULE.id):
        choice = exhausted(cause)
        if choice is not None:
            yield _finding(cause, choice)


def _finding(cause: Cause, choice: Choice) -> Finding:
    relief = [str(cause.relief)] if cause.relief else []
    return RULE.finding(
        Verdict.FAIL,
        cause.subject(),
        f"None of the {len(choice.candidates)} kernels in {choice.registry or short(choice.function)} "
        "takes this layer.",
        expected=choice.name,
        seen=cause.first.exception,
        site=cause.first.site,
        evidence=[*(f"{short(c.symbol)}: {c.reason}" for c in choice.candidates), *relief],
    )


def _choice(*states: CandidateState) -> Choice:
    candidates = tuple(Candidate(symbol=f"k.Kernel{i}", state=s, reason="no") for i, s in enumerate(states))
    return Choice(name="LinearKernel", function=CHOOSER, candidates=candidates)


_NO = refused("Failed to find a kernel.", within=(*SCHEME, CHOOSER))
_REJECTED, _POSSIBLE = CandidateState.REJECTED, CandidateState.POSSIBLE
FIRES = (report(_NO, choices=(_choice(_REJECTED, _REJECTED),)),)
SILENT = (
    report(ACCEPTED, choices=(_choice(_REJECTED, CandidateState.TAKEN),)),
    # Something else raises, whatever became of the candidates.
    report(refused("no.", within=SCHEME), choices=(_choice(_REJECTED, _REJECTED),)),
    report(_NO, choices=(_choice(_REJECTED, _POSSIBLE),)),
)
