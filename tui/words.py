"""What is said of a line: its sign, its name and what stands beside it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from rich.cells import cell_len

from ..report.cache import Cache
from ..report.finding import CALM
from ..report.matrix import End, Row
from ..report.model import (
    Candidate,
    CandidateState,
    Chain,
    Change,
    Choice,
    Compared,
    Drifted,
    Elsewhere,
    Fate,
    Finding,
    Fit,
    Hop,
    Level,
    Only,
    Outcome,
    Parameter,
    Step,
    Unsupported,
    Verdict,
    Warned,
)
from ..report.names import binary_size, counted, one_line, short
from ..report.outcome import NOWHERE
from ..report.predicate import Always, Predicate, Site
from ..report.standing import Standing, of_chain, of_outcome
from ..report.text.chain import MARKS as STANDINGS
from ..report.text.choice import MARKS as STATES
from ..report.text.drift import SIGNS, counts
from ..report.text.hops import NOUNS, SIGHTS
from ..report.text.page import Tone
from .lines import Bound, Group, Line, Met, Run, Untaken


class Said(NamedTuple):
    """A line in words; the sign is followed by a word wherever it means something, colour is the third."""

    mark: str
    tone: Tone
    name: str
    aside: str = ""
    site: Site | None = None
    steps: tuple[str, ...] = ()
    """What follows the name, the last of which matters most."""

    def text(self, room: int | None = None) -> str:
        """The name and the steps; without the first of these where they do not all fit in `room` columns."""
        for left in range(len(self.steps)):
            told = " → ".join([*["…"][: min(left, 1)], *self.steps[left:]])
            text = f"{self.name}  {told}"
            if room is None or cell_len(text) <= room or left == len(self.steps) - 1:
                return text
        return self.name


def said(line: Line) -> Said:
    """What a line says."""
    words = SAID[type(line.about)](line.about)
    steps = tuple(map(one_line, words.steps))
    return words._replace(name=one_line(words.name), aside=one_line(words.aside), steps=steps)


def site_of(line: Line) -> Site | None:
    """Where the source says it."""
    return said(line).site


def when(guard: Predicate) -> str:
    return "" if guard == Always() else f"when {guard}"


def _chain(chain: Chain) -> Said:
    standing = of_chain(chain)
    mark, tone = STANDINGS[standing]
    of = f" ({', '.join(chain.layers)})" if chain.layers else ""
    return Said(mark, tone, f"{standing}  {chain.layer}{of}", "; or ".join(chain.premises))


def _outcome(outcome: Outcome) -> Said:
    standing = of_outcome(outcome)
    mark, tone = STANDINGS[standing]
    if outcome.refusal:
        return Said(mark, tone, f"{standing}  {outcome.refusal}", when(outcome.guard), outcome.refusal.site)
    steps = tuple(map(short, outcome.steps())) or (NOWHERE,)
    return Said(mark, tone, standing, when(outcome.guard), steps=steps)


def _hop(hop: Hop) -> Said:
    sight, tone = SIGHTS[hop.sight]
    mark, _, word = sight.partition(" ")
    why = f"{hop.why.replace('_', ' ')} {NOUNS.get(hop.kind, '')}".rstrip()
    aside = "  ".join(part for part in (why, word, when(hop.guard)) if part)
    return Said(mark, tone, short(hop.symbol), aside, hop.site)


def _choice(choice: Choice) -> Said:
    taken = choice.taken()
    told = f"takes {short(taken.symbol)}" if taken else "open"
    asked = counted(len(choice.candidates), "candidate")
    return Said("", Tone.HEAD, f"choice: {choice.name}", f"{told}, {asked}", choice.site)


def _candidate(candidate: Candidate) -> Said:
    mark, tone = STATES[candidate.state]
    told = candidate.state.replace("_", " ")
    if candidate.state is CandidateState.POSSIBLE:
        told = f"{told} {when(candidate.guard)}".rstrip()
    aside = f"{told}: {candidate.reason}" if candidate.reason else told
    return Said(mark, tone, short(candidate.symbol), aside, candidate.site)


def _untaken(untaken: Untaken) -> Said:
    return Said("…", Tone.DIM, f"{counted(len(untaken.candidates), 'candidate')} not reached")


def _group(group: Group) -> Said:
    return Said("", Tone.HEAD, group.name, str(group.size))


def _parameter(parameter: Parameter) -> Said:
    size = parameter.size()
    return Said("", Tone.PLAIN, str(parameter), "" if size is None else binary_size(size))


def _cache(cache: Cache) -> Said:
    return Said("", Tone.PLAIN, str(cache), cache.layout or "")


def _fit(fit: Fit) -> Said:
    left = fit.left()
    mark, tone = ("✗", Tone.BAD) if left and fit.padded is None else ("", Tone.PLAIN)
    told = "" if left is None or fit.padded is not None else f"{left} left over" if left else "fits"
    return Said(mark, tone, f"{fit.layer}: {fit}", f"{told} {when(fit.guard)}".strip(), fit.site)


def _warned(warned: Warned) -> Said:
    return Said("?", Tone.DOUBT, warned.text, when(warned.guard), warned.site)


def _elsewhere(elsewhere: Elsewhere) -> Said:
    return Said("", Tone.PLAIN, f"{elsewhere.version}  {short(elsewhere.symbol)}", elsewhere.change)


def _row(row: Row) -> Said:
    found = set(row.standings())
    standing = found.pop() if len(found) == 1 else Standing.OPEN
    mark, tone = STANDINGS[standing]
    told = "by device" if standing is Standing.OPEN else standing
    return Said(mark, tone, row.flag, "  ".join(part for part in (told, ", ".join(row.accepted())) if part))


def _run(run: Run) -> Said:
    found = {end.standing for end in run.ends}
    standing = found.pop() if len(found) == 1 else Standing.OPEN
    mark, tone = STANDINGS[standing]
    return Said(mark, tone, run.devices, f"{standing}  {'; or '.join(map(ended, run.ends)) or NOWHERE}")


def ended(end: End) -> str:
    refused = end.standing is Standing.REFUSED
    return f"refused ({end.symbol})" if refused else end.symbol or NOWHERE


LEVELS = {Level.ERROR: ("✗", Tone.BAD), Level.WARNING: ("?", Tone.DOUBT), Level.NOTE: ("·", Tone.DIM)}
FATES = {
    Fate.REFUSED: ("✗", Tone.BAD),
    Fate.ACCEPTED: ("✓", Tone.GOOD),
    Fate.OTHER: ("✗", Tone.BAD),
    Fate.OPEN: ("?", Tone.DOUBT),
    Fate.WAY: ("·", Tone.DIM),
}


def _finding(finding: Finding) -> Said:
    calm = finding.verdict in CALM
    mark, tone = ("✓", Tone.GOOD) if calm else LEVELS[finding.level]
    verdict = "" if finding.verdict is Verdict.FAIL else f" ({finding.verdict.replace('-', ' ')})"
    name = f"{finding.level}  {finding.rule} {finding.name}{verdict}"
    return Said(mark, tone, name, finding.subject, finding.site)


def _unsupported(gap: Unsupported) -> Said:
    return Said("?", Tone.DOUBT, f"not evaluated: {gap.kind}", counted(gap.count, "time"), gap.site)


def _bound(bound: Bound) -> Said:
    return Said("?", Tone.DOUBT, f"bound reached: {bound.words}")


def _drifted(change: Drifted) -> Said:
    sure = change.sure or change.fate is Fate.WAY
    mark, tone = FATES[change.fate if sure else Fate.OPEN]
    site = next((end.refusal.site for end in (change.now, change.was) if end.refusal), None)
    fate = f"{change.fate}{'' if change.sure else ' (open)'}"
    was, now = change.was.reaches, change.now.reaches
    if change.fate is Fate.WAY and was and was[-1:] == now[-1:]:
        return Said(mark, tone, f"{fate} to {short(now[-1])}", when(change.guard), site)
    return Said(mark, tone, f"{fate}: {change.now}, was {change.was}", when(change.guard), site)


def _met(met: Met) -> Said:
    return Said("", Tone.PLAIN, "  ".join(filter(None, (met.devices, *met.where.words()))))


def _only(only: Only) -> Said:
    mark, tone = SIGNS[only.change]
    known = "the first pin alone" if only.change is Change.GONE else "the second pin alone"
    return Said(mark, tone, f"{only.flag} {only.value}", f"known to {known}")


def _compared(compared: Compared) -> Said:
    of = f" of {', '.join(compared.layers or (compared.layer,))}" if compared.layer else ""
    under = f"  {'; or '.join(compared.premises)}" if compared.premises else ""
    return Said("", Tone.HEAD, f"hops{of}{under}", counts(compared.steps))


def _step(step: Step) -> Said:
    mark, tone = SIGNS[step.change]
    return Said(mark, tone, short(step.symbol), f"{step.change}{_from(step)}", step.now or step.was)


def _from(step: Step) -> str:
    """Where a hop that moved was: the line, and the file's name where it is another."""
    if step.change is not Change.MOVED or step.was is None or step.now is None:
        return ""
    same = step.was.path == step.now.path
    return f" from line {step.was.line}" if same else f" from {str(step.was).rpartition('/')[2]}"


SAID: dict[type, Callable[[Any], Said]] = {
    Chain: _chain,
    Outcome: _outcome,
    Hop: _hop,
    Choice: _choice,
    Candidate: _candidate,
    Untaken: _untaken,
    Group: _group,
    Parameter: _parameter,
    Cache: _cache,
    Fit: _fit,
    Warned: _warned,
    Elsewhere: _elsewhere,
    Row: _row,
    Run: _run,
    Finding: _finding,
    Unsupported: _unsupported,
    Bound: _bound,
    Drifted: _drifted,
    Met: _met,
    Only: _only,
    Compared: _compared,
    Step: _step,
}
