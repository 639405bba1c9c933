"""The findings: a table to see at a glance, then what each says and what to do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ..model import Confidence, Finding, Verdict
from .links import Links
from .pieces import Piece, row, table_head
from .words import code, prose

TITLES = ("level", "rule", "subject", "expected → seen", "where")


def findings(findings: Sequence[Finding], links: Links) -> Iterator[Piece]:
    """Nothing where nothing was found."""
    if not findings:
        return
    rows = (_row(finding, links) for finding in findings)
    yield Piece("findings", f"\n### Findings\n\n{table_head(TITLES)}", tuple(rows))
    said = Counter(map(_said, findings))
    yield Piece("what the findings say", "\n", tuple(_times(text, number) for text, number in said.items()))


def _row(finding: Finding, links: Links) -> str:
    verdict = "" if finding.verdict is Verdict.FAIL else f" ({finding.verdict.replace('-', ' ')})"
    rule = prose(f"{finding.rule} {finding.name}")
    compared = [code(text) for text in (finding.expected, finding.seen) if text is not None]
    if len(compared) == 1:
        compared = [
            "" if finding.expected is None else compared[0],
            "" if finding.seen is None else compared[0],
        ]
    cells = (
        f"{finding.level}{verdict}",
        rule,
        code(finding.subject),
        " → ".join(compared),
        links.site(finding.site),
    )
    return row(cells)


def _said(finding: Finding) -> str:
    """The message with what it rests on, how sure it is, and the fix."""
    lines = [f"- **{prose(finding.rule) or 'finding'}** {prose(finding.message)}\n"]
    lines += [f"  - {label} {text}\n" for label, text in _under(finding)]
    return "".join(lines)


def _times(text: str, number: int) -> str:
    """What several findings say alike, once."""
    return text if number == 1 else text.replace("** ", f"** ({number} times) ", 1)


def _under(finding: Finding) -> Iterator[tuple[str, str]]:
    for fact in finding.evidence:
        yield "evidence:", prose(fact)
    if finding.confidence is not Confidence.CERTAIN:
        yield "sure:", str(finding.confidence)
    if finding.fix:
        yield "fix:", prose(finding.fix)
