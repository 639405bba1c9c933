"""Every rule fires on its own must-fire reports and stays silent on its must-stay-silent ones."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from _pytest.mark import ParameterSet

from qtrace.report.model import Report, Verdict
from qtrace.report.registry import RULES, lookup
from qtrace.rules import JUDGES, Judge, judge

BESIDES = ("QT102", "QT103")
"""Tell of the flag's value, whatever else is wrong with it: that it is rewritten, that it is unknown."""


def examples(pick: Callable[[Judge], tuple[Report, ...]]) -> list[ParameterSet]:
    return [
        pytest.param(rule, report, id=f"{rule.rule}-{number}")
        for rule in JUDGES
        for number, report in enumerate(pick(rule))
    ]


@pytest.mark.parametrize(("rule", "report"), examples(lambda rule: rule.fires))
def test_fires(rule: Judge, report: Report) -> None:
    findings = list(rule.check(report))
    assert findings
    for finding in findings:
        assert (finding.rule, finding.name) == (rule.rule, lookup(rule.rule).name)
        assert finding.subject and finding.message


@pytest.mark.parametrize(("rule", "report"), examples(lambda rule: rule.fires))
def test_a_refusal_is_told_once(rule: Judge, report: Report) -> None:
    """Whichever rules know of it, one of them has it: the example's own, unless that leaves it open."""
    if report.chains and all(chain.refused() for chain in report.chains):
        own = [rule.rule] if any(f.verdict is Verdict.FAIL for f in rule.check(report)) else []
        failed = [f.rule for f in judge(report) if f.verdict is Verdict.FAIL]
        told = [found for found in failed if found in own or found not in BESIDES]
        assert len(told) == 1
        assert own in ([], told)


@pytest.mark.parametrize(("rule", "report"), examples(lambda rule: rule.silent))
def test_stays_silent(rule: Judge, report: Report) -> None:
    assert not list(rule.check(report))


def test_every_rule_has_its_judge_and_examples_of_both_kinds() -> None:
    assert [rule.rule for rule in JUDGES] == [rule.id for rule in RULES]
    assert all(rule.fires and rule.silent for rule in JUDGES)


def test_the_gravest_findings_come_first() -> None:
    refused_and_rewritten = next(rule for rule in JUDGES if rule.rule == "QT101").fires[1]
    assert [finding.rule for finding in judge(refused_and_rewritten)] == ["QT101", "QT901"]
