"""First-match loops as facts: every candidate with what became of it and why."""

from __future__ import annotations

from ..report.model import Candidate, CandidateState, Choice
from ..report.predicate import Always, Never, Site
from .evaluate.machine import Machine
from .evaluate.record import Attempt, Selection
from .evaluate.unions import alternatives
from .evaluate.values import ClassValue, DictValue, Instance, ListValue
from .guards import Guard


def choices(m: Machine, selections: list[Selection]) -> tuple[Choice, ...]:
    """The selections of one layer, those that say the same told once."""
    out = dict.fromkeys(choice(m, s) for s in selections if not s.entered.is_false)
    return tuple(out)


def choice(m: Machine, selection: Selection) -> Choice:
    """One selection as a fact."""
    registry = registry_of(m, selection.candidates)
    return Choice(
        name=_common(selection.candidates),
        function=selection.function,
        site=selection.site,
        registry=registry,
        candidates=tuple(_candidate(m, cls, selection) for cls in selection.candidates),
    )


def _candidate(m: Machine, cls: ClassValue, selection: Selection) -> Candidate:
    tries = [a for a in selection.attempts if a.cls is cls]
    kept = _union(m, [a.kept for a in tries])
    entered = _union(m, [a.entered for a in tries])
    if entered.is_false:
        return Candidate(symbol=cls.symbol, state=CandidateState.NOT_REACHED, guard=Never())
    if kept is selection.entered:
        return Candidate(symbol=cls.symbol, state=CandidateState.TAKEN)
    reason, site = _reason(tries)
    if kept.is_false:
        return Candidate(
            symbol=cls.symbol, state=CandidateState.REJECTED, reason=reason, site=site, guard=Never()
        )
    guard = m.space.predicate(m.space.simplify(kept, selection.entered))
    state = CandidateState.TAKEN if guard == Always() else CandidateState.POSSIBLE
    return Candidate(symbol=cls.symbol, state=state, reason=reason, site=site, guard=guard)


def _union(m: Machine, guards: list[Guard]) -> Guard:
    out = m.space.false
    for guard in guards:
        out = out | guard
    return out


def _common(candidates: tuple[ClassValue, ...]) -> str:
    """What is chosen: of the classes that all candidates derive from, the most derived (no mixin)."""
    first, *rest = candidates
    shared = [b for b in first.mro[1:] if isinstance(b, ClassValue) and all(b in o.mro for o in rest)]
    return max(shared, key=lambda base: len(base.mro)).name if shared else "class"


def _reason(tries: list[Attempt]) -> tuple[str | None, Site | None]:
    """The engine's words for turning the candidate down: one for each way, the first where it stands."""
    found = [v for a in tries for v in a.reasons if not v.guard.is_false]
    if not found:
        return None, None
    ways: dict[Guard, str] = {}
    for verdict in found:
        ways.setdefault(verdict.guard, verdict.reason)
    told: list[str] = []
    seen = None
    for guard, reason in ways.items():
        if reason not in told and (seen is None or not guard.implies(seen)):
            told.append(reason)
            seen = guard if seen is None else seen | guard
    return " / ".join(told[:3]), found[0].site


def registry_of(m: Machine, candidates: tuple[ClassValue, ...]) -> str | None:
    """The global table that holds exactly these candidates, as `NAME[KEY]`."""
    wanted = set(candidates)
    for module in m.world.modules.values():
        for name, value in module.scope.values.items():
            if isinstance(value, DictValue):
                key = _key_of(m, value, wanted)
                if key is not None:
                    return f"{name}[{key}]"
    return None


def _key_of(m: Machine, table: DictValue, wanted: set[ClassValue]) -> str | None:
    for key, value in table.entries.values():
        if isinstance(value, ListValue):
            for _, items in alternatives(m, value.content):
                if isinstance(items, tuple) and len(items) == len(wanted) and set(items) == wanted:
                    return (
                        str(key.attrs["name"])
                        if isinstance(key, Instance) and "name" in key.attrs
                        else str(key)
                    )
    return None
