"""A question answered: source opened, walked, and told as a report without findings."""

from __future__ import annotations

import gc
import math
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import msgspec
from msgspec.structs import replace

from .. import __version__
from ..report.errors import SourceError
from ..report.model import Checkpoint, Coverage, Pin, Question, Report, Unsupported
from ..report.predicate import Always, Site
from ..report.question import Value
from .chain import chains
from .engines import entrances
from .engines.walk import Walk
from .evaluate.machine import Dead, Machine, OutOfBudget
from .evaluate.values import Token, Unknown
from .guards import GuardBudget
from .library import Library
from .readings import Reading
from .relief import Asked, asked_of, relieved
from .rows import ROWS, about_rows
from .scenario import Scenario, device_facts
from .sources import Source
from .stated import stated
from .supposed import is_open, supposed, under_all

WORK = 13_500_000
"""What one question may take, some thirty seconds; what is not decided by then is open. It is no time, so
that other work on the machine and what was read before do not change an answer.
"""

AGAIN = WORK // 3
"""For each time that a refused question is asked again with a part of it changed."""

COLLECT = 20_000, 10, 10
"""Thresholds of the garbage collector while a question is answered."""

DEPTH = 20_000
"""Python frames that the evaluator may need for its 200 nested calls of the engine."""


def answered(library: Library, scenario: Scenario, asked: Mapping[str, Value], work: float = WORK) -> Report:
    """The report of one question; `library` may be shared by questions on the same source."""
    flag = alone(library, scenario, asked, work)
    if not is_open(scenario) or all(chain.refused() for chain in flag.chains):
        return flag
    parts = [
        (premise, alone(library, part, asked, work)) for premise, part in suppositions(library, scenario)
    ]
    return under_all(scenario, flag, parts)


def suppositions(library: Library, scenario: Scenario) -> Iterator[tuple[str, Scenario]]:
    """(premise, question) for each checkpoint that may be meant, where none was given."""
    return supposed(library, scenario, lambda one: walked(library, one, configured=True))


Before = dict[bytes, tuple[Asked, frozenset[Reading]]]
"""Changed questions that were asked before, and what their answers were read from."""


def alone(
    library: Library,
    scenario: Scenario,
    asked: Mapping[str, Value],
    work: float = WORK,
    before: Before | None = None,
) -> Report:
    """The report of one question, of which what was not given is left unknown; questions that are alike may
    share `before`.
    """

    def ask(changed: Scenario) -> Asked:
        found = _again(library, changed) if before is None else _once(library, changed, before)
        if changed.capability == scenario.capability:  # else it was another device that was asked about
            library.consulted |= found.consulted
        return found

    walk = walked(library, scenario, work)
    made = report(walk, asked)
    with roomy():
        return replace(made, chains=relieved(walk, made.chains, ask))


def _once(library: Library, changed: Scenario, before: Before) -> Asked:
    key = msgspec.json.encode(changed)
    if key not in before:
        with library.noting() as readings:
            found = _again(library, changed)
        before[key] = found, frozenset(readings)
    found, known = before[key]
    library.note(known)
    return found


def _again(library: Library, changed: Scenario) -> Asked:
    already, library.consulted = library.consulted, set()
    other = walked(library, changed, AGAIN, used=False)
    consulted, library.consulted = frozenset(library.consulted), already
    with roomy():
        return asked_of(other, chains(other), consulted)


def walked(
    library: Library, scenario: Scenario, work: float = WORK, used: bool = True, configured: bool = False
) -> Walk:
    """Walk one question; where layers are not `used`, they are built but neither loaded nor run; where it is
    only `configured`, there are no layers.
    """
    with roomy(), followed(library.source):
        walk = entrances.walk(library, scenario)
        m = walk.m
        walk.used, walk.only_configured = used, configured
        m.space.limit = m.space.work + work
        try:
            walk.run()
        except (OutOfBudget, GuardBudget) as stop:
            walk.open_end = str(stop)
            m.coverage.budget(str(stop))
            m.live = m.space.true
        m.space.limit, m.space.max_nodes = math.inf, sys.maxsize  # telling what was found is no search
    return walk


@contextmanager
def followed(source: Source) -> Iterator[None]:
    """One line for a release in which there is no way to follow: an old one, or somebody's own."""
    try:
        yield
    except Dead:
        raise SourceError(
            f"{source} is laid out in a way that this qtrace cannot follow: "
            "give another release (see `qtrace pins`)"
        ) from None


@contextmanager
def roomy() -> Iterator[None]:
    """Let Python nest as deep as the evaluator needs, and look for garbage seldom: most of what a walk makes
    lives to its end, and would be looked through in vain.
    """
    limit, thresholds = sys.getrecursionlimit(), gc.get_threshold()
    sys.setrecursionlimit(max(limit, DEPTH))
    gc.set_threshold(*COLLECT)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
        gc.set_threshold(*thresholds)


def report(walk: Walk, asked: Mapping[str, Value]) -> Report:
    """A walk as a report."""
    source = walk.m.world.source.source
    with roomy():
        made = chains(walk)
    guards = [o.guard for c in made for o in c.outcomes if o.guard != Always()]
    unknown = {name for _ in guards for name in _named(walk)}
    unknown |= {ROWS for guard in guards if about_rows(str(guard))}
    return Report(
        tool=__version__,
        question=Question(
            engine=source.engine,
            asked=dict(asked),
            resolved=_resolved(walk),
            unknown=tuple(sorted(unknown)),
            assumed=(
                *assumptions(walk.scenario, bool(walk.layers)),
                *walk.supposed,
                *_about_layers(walk),
                *_about_unknowns(walk.m),
            ),
        ),
        pins=(_pin(source),),
        chains=made,
        checkpoint=_stated(walk),
        coverage=coverage(walk),
    )


def _stated(walk: Walk) -> Checkpoint | None:
    """The checkpoint's words; not where the walk ended before they were read."""
    with roomy():
        return None if walk.open_end is not None else stated(walk)


def _pin(source: Source) -> Pin:
    return source.pin()


def _resolved(walk: Walk) -> dict[str, Value]:
    scenario = walk.scenario
    out: dict[str, Value] = {}
    resolved = walk.model.attrs.get("quantization")
    if isinstance(resolved, str):
        out["quantization"] = resolved
    gated = None if walk.built is None else walk.built.gated
    if gated is not None:
        out["is_act_and_mul"] = gated
    dtype = walk.m.world.settings["default dtype"]
    if isinstance(dtype, Token):
        out["dtype"] = dtype.symbol.removeprefix("torch.")
    return out | device_facts(scenario)


def _named(walk: Walk) -> Iterator[str]:
    """Variables of the scenario that were left unknown."""
    scenario = walk.scenario
    if isinstance(walk.m.world.settings["default dtype"], Unknown):
        yield "dtype"
    for name in ("capability", "model"):
        if getattr(scenario, name) is None and not (name == "capability" and scenario.platform != "cuda"):
            yield name
    if len(scenario.cpu) > 1:
        yield "cpu"
    if scenario.platform == "rocm" and scenario.arch is None:
        yield "arch"
    if scenario.profile is None:
        yield "packages"


def _about_layers(walk: Walk) -> Iterator[str]:
    """Which layers of the model the answer is about."""
    if walk.layers and walk.scenario.shape is None:
        yield f"layers stand where {walk.engine}'s Llama has them, in block 0: model.layers.0"
    if walk.built is not None:
        yield f"the model has {walk.built.blocks.number} of its blocks, which stand for all"
    if walk.left_out:
        yield f"not told: {', '.join(walk.left_out)} (experts or latent attention stand in their place)"


def _about_unknowns(m: Machine) -> Iterator[str]:
    """What was taken to succeed though a value in it is not known, said once for each kind of place."""
    count = len(m.coverage.assumed)
    if count:
        places = "place" if count == 1 else "places"
        yield f"what is done with an unknown value at {count} {places} outside a try raises nothing"


def assumptions(scenario: Scenario, walked_through: bool) -> tuple[str, ...]:
    """What was taken for granted, in sentences."""
    out = ["environment variables that were not given are unset"]
    if scenario.profile is not None:
        out.append("an optional package that is there is as new as the engine asks for")
    if scenario.model is None and walked_through:
        out.append("the checkpoint is not quantized")
    if scenario.model is not None and not scenario.tensors:
        out.append("the checkpoint's tensors are stored as its quantization config says")
    if scenario.model is not None and scenario.whole and not scenario.names:
        out.append("the checkpoint's folder holds no other configuration file than config.json")
    if scenario.tensor_parallel == 1:
        out.append("tensor parallel size 1")
    if scenario.platform != "cuda":
        out.append("the platform is the engine's own, not one that a package brings")
    if scenario.ignored:
        out.append(f"not considered, though it may change the answer: {', '.join(scenario.ignored)}")
    if scenario.server:
        out.append(f"options of the server, which no engine argument holds: {', '.join(scenario.server)}")
    if scenario.cuda is not None:
        out.append(f"built with CUDA {_version(scenario.cuda)} for every architecture it supports")
    return tuple(out)


def _version(number: int) -> str:
    """12090 as 12.9."""
    return f"{number // 1000}.{number % 1000 // 10}"


def coverage(walk: Walk) -> Coverage:
    m = walk.m
    gaps = [
        Unsupported(kind=kind, site=site or Site("", 0), count=count)
        for (kind, site), count in m.coverage.gaps.items()
    ]
    return Coverage(
        modules_read=sum(not module.path.startswith("<") for module in m.world.modules.values()),
        statements=m.coverage.statements,
        unsupported=tuple(sorted(gaps, key=lambda u: (u.kind, u.site))),
        budgets=tuple(m.coverage.budgets),
    )
