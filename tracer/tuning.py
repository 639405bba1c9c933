"""Which tuned configurations the engine looks for on the device that was asked for, and which it ships."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ..report.model import Report, Tuned
from .scenario import Scenario

if TYPE_CHECKING:
    from ..report.model import Chain
    from .answers import Answers
    from .engines.vllm_tuned import Request
    from .jit.tuned import Kind, TunedFiles

EXPERTS = "experts"


def with_tuned(report: Report, answers: Answers, scenario: Scenario) -> Report:
    """The report with the files that its layers look for; with none where the device's full name, which
    stands in the files' names, or the model, which has the shapes, is not known. Of SGLang none is read yet.
    """
    accepted = [chain for chain in report.chains if not chain.refused()]
    if scenario.device_name is None or scenario.model is None or not _may_ask(accepted):
        return report
    if answers.engine != "vllm":
        return report
    files = answers.tuned()
    kinds = [kind for kind in files.kinds if _is_shipped(files, kind, scenario)] if files else []
    if files is None or not _asks(accepted, files, kinds):
        return report
    from .answer import WORK, roomy
    from .engines.vllm_tuned import requests

    with roomy():
        found = tuple(requests(answers.library, scenario, kinds, WORK))
    return replace(report, tuned=_told(found, files, accepted, scenario.device_name))


def _may_ask(chains: Iterable[Chain]) -> bool:
    """Whether there are layers that run with weights of known shapes."""
    outcomes = [o for chain in chains for o in chain.outcomes if o.refusal is None]
    return any(isinstance(size, int) for o in outcomes for p in o.parameters for size in p.shape)


def _is_shipped(files: TunedFiles, kind: Kind, scenario: Scenario) -> bool:
    """Whether files of a kind come from the release alone, whatever variables are set."""
    return not scenario.environment.keys() & set(files.environment(kind.symbol))


def _asks(chains: Iterable[Chain], files: TunedFiles, kinds: Iterable[Kind]) -> bool:
    """Whether a forward comes to a function that asks for such files; of experts none is followed."""
    callers = {symbol for kind in kinds for symbol in files.callers(kind.symbol)}
    return any(c.layer == EXPERTS or any(hop.symbol in callers for hop in c.hops) for c in chains)


def _told(
    found: Iterable[Request], files: TunedFiles, chains: Iterable[Chain], device: str
) -> tuple[Tuned, ...]:
    """Each file once, with all the layers that look for it."""
    alike = {
        name: chain.layers if chain.layer == EXPERTS else (name,) for chain in chains for name in chain.layers
    }
    layers: dict[Tuned, list[str]] = {}
    for request in found:
        made = looked_for(request, files, device)
        if made is not None and request.layer in alike:
            layers.setdefault(made, []).extend(alike[request.layer])
    return tuple(replace(made, layer=", ".join(dict.fromkeys(names))) for made, names in layers.items())


def looked_for(request: Request, files: TunedFiles, device: str) -> Tuned | None:
    """The file that a layer looks for; None where its name could not be computed."""
    (kind,) = (kind for kind in files.kinds if kind.symbol == request.kind)
    use = files.would_use(kind.symbol, device, **request.given)
    if use.wanted is None:
        return None
    path = f"{kind.folder}/{use.wanted}"
    return Tuned(
        kind=kind.symbol,
        wanted=use.wanted,
        shipped=use.file.path if use.file else None,
        nearest=tuple(file.path for file in use.nearest),
        unless=use.unless,
        layer="",
        site=kind.site,
        guard=request.guard,
        spelt=None
        if use.file
        else next((f.path for f in files.shipped if _bare(f.path) == _bare(path)), None),
    )


def _bare(path: str) -> str:
    return "".join(path.split())
