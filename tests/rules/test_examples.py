"""Every rule fires on its own must-fire reports and stays silent on its must-stay-silent ones."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from _pytest.mark import ParameterSet

from qtrace.report.model import Report
from qtrace.report.registry import RULES, lookup
from qtrace.rules import JUDGES, Judge, judge


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


@pytest.mark.parametrize(("rule", "report"), examples(lambda rule: rule.silent))
def test_stays_silent(rule: Judge, report: Report) -> None:
    assert not list(rule.check(report))


def test_every_rule_has_its_judge_and_examples_of_both_kinds() -> None:
    assert [rule.rule for rule in JUDGES] == [rule.id for rule in RULES]
    assert all(rule.fires and rule.silent for rule in JUDGES)


def test_the_gravest_findings_come_first() -> None:
    refused_and_rewritten = next(rule for rule in JUDGES if rule.rule == "QT101").fires[1]
    assert [finding.rule for finding in judge(refused_and_rewritten)] == ["QT101", "QT901"]
