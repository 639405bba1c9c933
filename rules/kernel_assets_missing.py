"""QT205: a kernel looks for a tuned configuration that the release does not have, and runs defaults."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from ..report.model import Finding, Report, Tuned, Verdict
from ..report.names import short
from ..report.predicate import Always, Member, Site
from ..report.registry import lookup
from .examples import ACCEPTED, report

RULE = lookup("QT205")


def check(report: Report) -> Iterator[Finding]:
    """One finding for each file that is looked for and not shipped."""
    for tuned in report.tuned:
        if tuned.shipped is None:
            yield _finding(tuned)


def _finding(tuned: Tuned) -> Finding:
    sure = tuned.guard == Always()
    evidence = [f"nearest shipped: {path}" for path in tuned.nearest]
    evidence += [f"not looked for if {test}" for test in tuned.unless]
    evidence += [] if sure else [f"when {tuned.guard}"]
    return RULE.finding(
        Verdict.FAIL if sure else Verdict.OPEN,
        tuned.layer,
        f"{short(tuned.kind)} looks for {tuned.wanted}, and {_missing(tuned)}: the kernel runs with its "
        "default configuration. What tuning would gain is unproven: measure before you tune",
        expected=tuned.wanted,
        seen=tuned.spelt or "no such file",
        site=tuned.site,
        evidence=evidence,
    )


def _missing(tuned: Tuned) -> str:
    if tuned.spelt is None:
        return "the release has no such file"
    return f"the one that is shipped differs in its blanks and is never found ({tuned.spelt})"


_FOLDER = "vllm/model_executor/layers/fused_moe/configs"
_MISSING = Tuned(
    kind="vllm.model_executor.layers.fused_moe.fused_moe.get_moe_configs",
    wanted="E=16,N=1536,device_name=NVIDIA_H100_80GB_HBM3.json",
    shipped=None,
    nearest=(f"{_FOLDER}/E=16,N=2048,device_name=NVIDIA_H100_80GB_HBM3.json",),
    unless=("envs.VLLM_BATCH_INVARIANT",),
    layer="model.layers.0.mlp.experts",
    site=Site("vllm/model_executor/layers/fused_moe/fused_moe.py", 1111),
)
_SHIPPED = replace(_MISSING, shipped=f"{_FOLDER}/{_MISSING.wanted}", nearest=())


def _report(*tuned: Tuned) -> Report:
    return replace(report(ACCEPTED), tuned=tuned)


FIRES = (
    _report(_MISSING),
    _report(_SHIPPED, replace(_MISSING, nearest=())),
    # Whether this kernel runs hangs on a package.
    _report(replace(_MISSING, guard=Member("package deep_gemm", (False,)))),
    # The release has the file, and its own code asks for it by another name.
    _report(replace(_MISSING, spelt=f"{_FOLDER}/E=16, N=1536,device_name=NVIDIA_H100_80GB_HBM3.json")),
)
SILENT = (
    _report(_SHIPPED),
    # The device's full name is not known, or other kernels run, which read no files.
    _report(),
)
