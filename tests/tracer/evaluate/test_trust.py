"""Assertions that are trusted: of values that nobody knows, and not of what the scenario says."""

from __future__ import annotations

from textwrap import dedent

import pytest

from qtrace.tracer.evaluate.values import Value

from .harness import Answer, OneOf, Opaque, evaluate, machine
from .matching import Raised

GIVEN = {"cap": OneOf((75, 90)), "x": Opaque("int"), "y": Opaque("int")}

REFUSED = {
    "cap >= 90": {75},
    "cap >= 90 and x > 0": {75},
    "cap >= 90 or x > 0": set(),
    "x > 0": set(),
    "cap > 100": {75, 90},
    "x > 0 and not x > 0": {75, 90},
}
"""Assertions, and the capabilities that each refuses whatever the others are."""


def ask(body: str) -> Answer:
    text = "def main(cap, x, y):\n" + "".join(f"    {line}\n" for line in dedent(body).splitlines())
    m = machine({"mod.py": text})
    m.trusting = True
    return evaluate(text, GIVEN, m)


def ends(answer: Answer, cap: int) -> set[Value]:
    return {v.error.cls.name if isinstance(v, Raised) else v for _, v in answer.at({"cap": cap})}


@pytest.mark.parametrize("test", REFUSED)
def test_what_the_scenario_decides_is_refused(test: str) -> None:
    answer = ask(f"assert {test}\nreturn 'on'")
    for cap in (75, 90):
        assert ends(answer, cap) == ({"AssertionError"} if cap in REFUSED[test] else {"on"})


def test_each_assertion_that_is_trusted_is_counted() -> None:
    answer = ask("assert x > 0\nassert cap >= 90 or y > 0\nassert cap >= 75\nreturn 'on'")
    assert ends(answer, 75) == ends(answer, 90) == {"on"}
    assert sum(answer.machine.coverage.assumed.values()) == 2


def test_in_a_try_nothing_is_trusted() -> None:
    answer = ask("""
        try:
            assert x > 0
        except AssertionError:
            return 'caught'
        return 'on'
    """)
    assert ends(answer, 90) == {"on", "caught"}
