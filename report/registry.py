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
        id="QT301",
        name="kv.scale",
        level=Level.WARNING,
        short="The FP8 KV cache is stored without a scale.",
        why="Keys and values are divided by a scale before they are stored as FP8 E4M3, which ends at 448. "
        "The checkpoint brings no scale and none is computed, so it is 1.0: what is larger is cut off, what "
        "is small loses bits. Often that costs nothing measurable; models with latent attention and long "
        "reasoning lose most.",
        fix="Calibrate the checkpoint with KV scales, use --kv-cache-dtype auto, or compare accuracy with "
        "and without.",
        since="0.1.0",
    ),
    Rule(
        id="QT302",
        name="kv.dtype_guard",
        level=Level.ERROR,
        short="A check refuses the KV cache dtype, though a backend takes it.",
        why="An attention backend takes this dtype on this device, yet the engine raises before it is used. "
        "Such checks differ between releases, and some are wider than what they guard against.",
        fix="Use another --kv-cache-dtype, or a release without the check (ask it with --at).",
        since="0.1.0",
    ),
    Rule(
        id="QT303",
        name="kv.backend_support",
        level=Level.ERROR,
        short="No attention backend takes the KV cache dtype, or the one that is used ignores it.",
        why="Every backend of this platform turns the dtype down, each with its reason, or the cache that is "
        "allocated is not quantized though the flag asks for it.",
        fix="Use a dtype that a backend takes: the reasons tell which device or package it needs.",
        since="0.1.0",
    ),
    Rule(
        id="QT304",
        name="kv.auto_resolution",
        level=Level.WARNING,
        short="The KV cache holds another dtype than was asked for.",
        why="The checkpoint's quantization config can name a scheme for the KV cache, and the engine takes "
        "it. Some releases do so even where the flag says otherwise. A device without FP8 converts in "
        "software. Where the flag left it to the engine and the device has the format, this is a note.",
        fix="Give --kv-cache-dtype to decide; where the release ignores it, take the scheme out of the "
        "checkpoint's config.",
        since="0.1.0",
    ),
    Rule(
        id="QT401",
        name="mem.plan_excess",
        level=Level.ERROR,
        short="Twice the memory that the experts need is allocated.",
        why="Experts without a gate need one up projection, and the quantization method allocates two: half "
        "of the tensor is never used.",
        fix="Use a release or a method whose allocation follows the activation (ask it with --at).",
        since="0.1.0",
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
