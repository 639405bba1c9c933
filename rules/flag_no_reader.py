"""QT111: nothing on the way that is taken reads the flag."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from ..report.model import Finding, Report, Verdict
from ..report.names import counted, short
from ..report.predicate import Site
from ..report.readers import Behind, Defined, Reader, Readers, Role, Source
from ..report.registry import lookup
from .examples import report

RULE = lookup("QT111")


def check(report: Report) -> Iterator[Finding]:
    """One finding where no reader is left; open where something else may be one, and where none was found."""
    told = report.readers
    if told is not None and all(reader.unreachable() for reader in told.outside()) and not told.inside():
        yield _finding(told)


def _finding(told: Readers) -> Finding:
    outside = told.outside()
    behind = dict.fromkeys(f"{each.condition} ({each.site})" for reader in outside for each in reader.behind)
    return RULE.finding(
        Verdict.FAIL if outside and not told.others else Verdict.OPEN,
        told.name,
        _message(told),
        site=next((reader.site for reader in outside), told.defined[0].site if told.defined else None),
        evidence=(
            *(f"built where {each}, which does not hold" for each in behind),
            *([f"{counted(told.others, 'place')} may read it in another way"] if told.others else ()),
        ),
    )


def _message(told: Readers) -> str:
    outside = told.outside()
    if not outside:
        return f"No reader of {told.name} was found, but for checks and logs."
    readers = ", ".join(dict.fromkeys(short(reader.function) for reader in outside))
    asks = dict.fromkeys(name for reader in outside for each in reader.behind for name in each.asks)
    turn = f" They are built otherwise with another {', '.join(asks)}." if asks else ""
    return f"{told.name} changes nothing here: its readers ({readers}) are not built for this question.{turn}"


_SITE = Site("vllm/v1/worker/gpu_model_runner.py", 6443)
_DEFINED = Defined(source=Source.FIELD, symbol="vllm.config.profiler.ProfilerConfig.x", site=_SITE)
_CHECKED = Reader(function="vllm.config.profiler.ProfilerConfig.check", site=_SITE, role=Role.CHECKS)
_V1 = Reader(
    function="vllm.v1.worker.gpu_model_runner.GPUModelRunner.capture_model",
    site=_SITE,
    role=Role.DECIDES,
    behind=(Behind(condition="not use_v2_model_runner", site=_SITE, holds=False),),
)


def _read(*readers: Reader, others: int = 0) -> Report:
    return replace(report(), readers=Readers(name="x", defined=(_DEFINED,), readers=readers, others=others))


FIRES = (_read(_V1, _CHECKED), _read(_CHECKED), _read(_V1, others=2))
SILENT = (
    report(),
    _read(replace(_V1, behind=())),
    _read(_V1, replace(_CHECKED, role=Role.DECIDES)),
    _read(replace(_V1, behind=(*_V1.behind, Behind(condition="a", site=_SITE, holds=None)))),
)
