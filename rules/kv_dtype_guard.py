"""QT302: the engine refuses the dtype of the cache, though one of its backends takes it."""

from __future__ import annotations

from collections.abc import Iterator

from ..report.model import Candidate, CandidateState, Choice, Finding, Report, Verdict
from ..report.registry import lookup
from .caches import LAYER, asked
from .causes import Cause, causes
from .examples import ACCEPTED, refused, report

RULE = lookup("QT302")


def check(report: Report) -> Iterator[Finding]:
    """One finding for each attention chain that ends in such refusals alone."""
    for cause in causes(report, RULE.id):
        yield _finding(str(asked(report.question)), cause)


def _finding(dtype: str, cause: Cause) -> Finding:
    first = cause.first
    candidates = (c for chain in cause.chains for choice in chain.choices for c in choice.candidates)
    takes = [c.symbol for c in candidates if c.state is CandidateState.TAKEN]
    by = f"{takes[0]} takes it" if takes else "a backend takes it"
    return RULE.finding(
        Verdict.FAIL,
        "--kv-cache-dtype",
        f"--kv-cache-dtype {dtype} is refused by a check of the engine, though {by}: {first}",
        expected=f"an attention layer with {dtype}",
        seen=first.exception,
        site=first.site,
        evidence=map(str, cause.refusals[1:]),
    )


_TAKES = Choice(
    name="attention backend",
    function="get_valid_backends",
    candidates=(Candidate(symbol="FLASHINFER", state=CandidateState.TAKEN),),
)
_REFUSED = refused("fp8_e5m2 kv-cache is not supported with fp8 checkpoints.")
_ASKED = {"kv_cache_dtype": "fp8_e5m2"}
FIRES = (report(_REFUSED, asked=_ASKED, layer=LAYER, choices=(_TAKES,)),)
SILENT = (
    report(ACCEPTED, asked=_ASKED, layer=LAYER, choices=(_TAKES,)),
    # No backend was asked: whatever refused came first.
    report(_REFUSED, asked=_ASKED, layer=LAYER),
    report(refused("head_size 80 is not supported."), asked=_ASKED, layer=LAYER, choices=(_TAKES,)),
    report(_REFUSED, asked={}, layer=LAYER, choices=(_TAKES,)),
)
