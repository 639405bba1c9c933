"""QT302: the engine refuses the dtype of the cache, though one of its backends takes it."""

from __future__ import annotations

from collections.abc import Iterator

from ..report.model import Candidate, CandidateState, Choice, Finding, Report, Verdict
from ..report.registry import lookup
from .caches import LAYER, asked, takers
from .causes import Cause, causes
from .examples import ACCEPTED, refused, relieved, report

RULE = lookup("QT302")


def check(report: Report) -> Iterator[Finding]:
    """One finding for each attention chain that ends in such refusals alone."""
    for cause in causes(report, RULE.id):
        yield _finding(str(asked(report.question)), cause)


def _finding(dtype: str, cause: Cause) -> Finding:
    first = cause.first
    by = next(symbol for chain in cause.chains for symbol in takers(chain))
    return RULE.finding(
        Verdict.FAIL,
        "--kv-cache-dtype",
        f"--kv-cache-dtype {dtype} is refused by a check of the engine, though {by} takes it: {first}",
        expected=f"an attention layer with {dtype}",
        seen=first.exception,
        site=first.site,
        evidence=map(str, (*cause.refusals[1:], *cause.reliefs)),
    )


_TAKES = Choice(
    name="attention backend",
    function="get_valid_backends",
    candidates=(Candidate(symbol="FLASHINFER", state=CandidateState.TAKEN),),
)
_MADE = "vllm.model_executor.layers.attention.attention.Attention.__init__"
_REFUSED = refused("no.", within=(_MADE,))
_ASKED = {"kv_cache_dtype": "fp8_e5m2"}
_AUTO = (relieved("kv_cache_dtype", "auto"),)
FIRES = (report(_REFUSED, asked=_ASKED, layer=LAYER, choices=(_TAKES,), reliefs=_AUTO),)
SILENT = (
    report(ACCEPTED, asked=_ASKED, layer=LAYER, choices=(_TAKES,)),
    # No backend was asked: whatever refused came first.
    report(_REFUSED, asked=_ASKED, layer=LAYER, reliefs=_AUTO),
    # The layer is refused whatever its cache holds.
    report(_REFUSED, asked=_ASKED, layer=LAYER, choices=(_TAKES,)),
    # The backend that would take it is the one that refuses.
    report(
        refused("no.", within=(_MADE, "vllm.v1.attention.backends.flashinfer.FlashInferImpl.__init__")),
        asked=_ASKED,
        layer=LAYER,
        choices=(_TAKES,),
        reliefs=_AUTO,
    ),
)
