"""The rule registry and what its findings do to the exit code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from qtrace.report.errors import UsageError
from qtrace.report.exits import Exit
from qtrace.report.finding import Finding, Verdict
from qtrace.report.gate import FAIL_ON, exit_for
from qtrace.report.registry import RULES, index, lookup, page


def finding(rule: str, verdict: Verdict = Verdict.FAIL) -> Finding:
    return lookup(rule).finding(verdict, "linear", "said")


def test_ids_and_names_are_unique_and_well_formed() -> None:
    assert len(index(RULES)) == 2 * len(RULES)
    for rule in RULES:
        assert re.fullmatch(r"QT[1-9]\d\d", rule.id)
        assert re.fullmatch(r"[a-z]+\.[a-z_]+", rule.name)
        assert all((rule.short, rule.why, rule.fix, rule.since))


def test_a_second_rule_of_the_same_name_is_an_error() -> None:
    with pytest.raises(ValueError, match="two rules are called QT101"):
        index((*RULES, RULES[0]))


def test_a_rule_is_found_by_id_or_name() -> None:
    assert lookup("QT101") is lookup("qt101") is lookup("quant.refused")


@pytest.mark.parametrize(
    ("key", "hint"), [("quant.refusd", "did you mean quant.refused"), ("zzz", "lists them")]
)
def test_an_unknown_rule_comes_with_a_hint(key: str, hint: str) -> None:
    with pytest.raises(UsageError, match=hint):
        lookup(key)


def test_a_finding_takes_the_rules_fix_unless_it_has_its_own() -> None:
    rule = lookup("QT101")
    assert rule.finding(Verdict.FAIL, "linear", "said").fix == rule.fix
    assert rule.finding(Verdict.FAIL, "linear", "said", fix="mine").fix == "mine"


@pytest.mark.parametrize(
    ("findings", "codes"),
    [
        ((), (0, 0, 0, 0)),
        ((finding("QT101"),), (1, 1, 1, 0)),
        ((finding("QT102"),), (0, 0, 1, 0)),
        ((finding("QT103"), finding("QT101")), (2, 2, 2, 2)),
        ((finding("QT101", Verdict.PASS),), (0, 0, 0, 0)),
        ((finding("QT901", Verdict.OPEN),), (0, 0, 0, 0)),
    ],
    ids=["clean", "error", "note", "unknown value", "passed", "open"],
)
def test_the_exit_code_follows_fail_on(findings: tuple[Finding, ...], codes: tuple[int, ...]) -> None:
    assert tuple(exit_for(findings, fail_on) for fail_on in FAIL_ON) == codes


def test_exit_codes_are_promises() -> None:
    assert {code.name: code.value for code in Exit} == {
        "OK": 0,
        "FINDINGS": 1,
        "CANNOT_RUN": 2,
        "NO_VERDICT": 3,
        "INTERNAL": 101,
        "INTERRUPTED": 130,
    }
    assert all(code.doc.endswith(".") for code in Exit)


def test_the_page_of_the_rules_is_current() -> None:
    docs = Path(__file__).parent.parent.parent / "docs" / "rules.md"
    assert docs.read_text(encoding="utf-8") == page(RULES), "run `qtrace rule --markdown > docs/rules.md`"
