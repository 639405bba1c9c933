"""The rules that qtrace knows: one table gives id, name, level, and what to tell the user."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping

from msgspec import Struct

from .errors import UsageError
from .exits import Exit
from .finding import Confidence, Finding, Level, Verdict
from .predicate import Site


class Rule(Struct, frozen=True, kw_only=True):
    """What a rule is called and what it means; what it looks at is code in `qtrace.rules`."""

    id: str
    """`QT` and three digits, never used again for another rule."""
    name: str
    """Dotted: area, then what is wrong."""
    level: Level
    short: str
    why: str
    fix: str
    since: str
    """The qtrace version that brought it."""
    exit: Exit = Exit.FINDINGS
    """The exit code when it fails at or above `--fail-on`."""

    def finding(
        self,
        verdict: Verdict,
        subject: str,
        message: str,
        *,
        expected: str | None = None,
        seen: str | None = None,
        site: Site | None = None,
        evidence: Iterable[str] = (),
        confidence: Confidence = Confidence.CERTAIN,
        fix: str | None = None,
    ) -> Finding:
        """A finding of this rule, with its own fix unless a better one is given."""
        return Finding(
            rule=self.id,
            name=self.name,
            verdict=verdict,
            level=self.level,
            subject=subject,
            expected=expected,
            seen=seen,
            message=message,
            site=site,
            evidence=tuple(evidence),
            confidence=confidence,
            fix=fix or self.fix,
        )

    def __str__(self) -> str:
        return f"{self.id} {self.name} ({self.level}): {self.short}"


RULES: tuple[Rule, ...] = (
    Rule(
        id="QT101",
        name="quant.refused",
        level=Level.ERROR,
        short="The engine refuses this scenario.",
        why="Every way through the engine's source ends in an exception, so the engine would not start. "
        "The message is the engine's own.",
        fix="Change what the engine's message names: the flag, the checkpoint or the device.",
        since="0.1.0",
    ),
    Rule(
        id="QT102",
        name="quant.flag_rewritten",
        level=Level.NOTE,
        short="The flag is rewritten before it is used.",
        why="The engine asks each quantization method whether it wants to take the checkpoint over, and the "
        "first that does replaces the value of --quantization. What runs is not what was typed.",
        fix="Nothing to mend; give the resolved value to say what runs.",
        since="0.1.0",
    ),
    Rule(
        id="QT103",
        name="quant.unknown_method",
        level=Level.ERROR,
        short="The value is unknown to this pin.",
        why="The engine compares the value with the names it knows and raises. Names come and go between "
        "releases; another pin may know it.",
        fix="Use one of the names that this pin knows, or ask the pin that knows the value (--at).",
        since="0.1.0",
        exit=Exit.CANNOT_RUN,
    ),
    Rule(
        id="QT901",
        name="qtrace.open",
        level=Level.NOTE,
        short="The outcome depends on what is not known.",
        why="Something that the engine asks was neither given nor found in the source, so more than one "
        "outcome stays possible. Each is shown with its condition.",
        fix="Give the variables that decide, as flags.",
        since="0.1.0",
    ),
    Rule(
        id="QT902",
        name="qtrace.unsupported",
        level=Level.NOTE,
        short="Source was met that qtrace could not evaluate.",
        why="A construct that qtrace has no meaning for, or a bound on its work, lay on the way. Its value "
        "was taken as unknown, so outcomes may be missing a condition.",
        fix="Read the sites named as evidence; report the construct to qtrace if it decides your outcome.",
        since="0.1.0",
    ),
)


def index(rules: Iterable[Rule]) -> Mapping[str, Rule]:
    """Rules by id and by name; a second rule of the same id or name is an error."""
    table: dict[str, Rule] = {}
    for rule in rules:
        for key in (rule.id, rule.name):
            if key in table:
                raise ValueError(f"two rules are called {key}")
            table[key] = rule
    return table


_INDEX = index(RULES)


def lookup(key: str) -> Rule:
    """The rule of that id (in any case) or dotted name."""
    rule = _INDEX.get(key) or _INDEX.get(key.upper())
    if rule is None:
        near = difflib.get_close_matches(key, _INDEX, n=1)
        hint = f"did you mean {near[0]}?" if near else "`qtrace rule` lists them"
        raise UsageError(f"no rule is called {key!r}; {hint}")
    return rule


def page(rules: Iterable[Rule]) -> str:
    """The rules as a Markdown page, `docs/rules.md`."""
    parts = ["# Rules\n\nMade by `qtrace rule --markdown`; edit `report/registry.py` instead.\n"]
    parts += [_section(rule) for rule in rules]
    return "".join(parts)


def _section(rule: Rule) -> str:
    told = (("level", rule.level), ("why", rule.why), ("fix", rule.fix), ("since", rule.since))
    lines = "".join(f"- **{label}**: {text}\n" for label, text in told)
    return f"\n## {rule.id} `{rule.name}`\n\n{rule.short}\n\n{lines}"
