"""Whether a condition may hold once one variable is known."""

from __future__ import annotations

import pytest

from qtrace.report.conditions import admitted
from qtrace.report.predicate import AllOf, Always, AnyOf, Compare, Member, Never, Not, Opaque, Predicate

NEW, OLD = Member("capability", (90, 100)), Member("capability", (75,))
SIZE, ASKED = Compare("K % 128", "==", "0"), Opaque("ninja is there")


@pytest.mark.parametrize(
    ("guard", "holds"),
    [
        (Always(), True),
        (Never(), False),
        (NEW, True),
        (OLD, False),
        (Not(OLD), True),
        (Not(NEW), False),
        (Member("M", (1,)), True),
        (AllOf((NEW, SIZE)), True),
        (AllOf((SIZE, OLD)), False),
        (AnyOf((OLD, ASKED)), True),
        (AnyOf((OLD, Never())), False),
        (Not(AnyOf((NEW, ASKED))), False),
        (Not(AllOf((NEW, ASKED))), True),
    ],
)
def test_what_one_variable_rules_out(guard: Predicate, holds: bool) -> None:
    assert (90 in admitted(guard, "capability", (75, 90))) is holds
