"""For random programs, CPython's answer for every choice of the unknowns lies within the evaluator's."""

from __future__ import annotations

from random import Random, SystemRandom

import pytest
from hypothesis import HealthCheck, given, seed, settings, strategies as st

from .harness import OneOf, Opaque, Parameter, check
from .programs import Writer

FINITE: dict[str, Parameter] = {
    "a": OneOf((False, True)),
    "b": OneOf((False, True)),
    "n": OneOf((0, 1, 2, 3)),
    "s": OneOf((None, "fp8")),
}
OPEN: dict[str, Parameter] = {
    "a": Opaque("bool", (False, True)),
    "b": OneOf((False, True)),
    "n": Opaque("int", (-1, 0, 2, 7)),
    "s": OneOf((None, "fp8")),
}
EXAMPLES, MORE = 140, 500
SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much)


def programs(depth: int = 3) -> st.SearchStrategy[str]:
    """Texts of modules whose `main(a, b, n, s)` ends."""
    seeds = st.integers(0, 2**48)
    return seeds.map(lambda number: Writer(Random(number)).program(depth)).filter(_compiles)


def _compiles(text: str) -> bool:
    """A walrus may have landed where Python allows none."""
    try:
        compile(text, "<program>", "exec")
    except SyntaxError:
        return False
    return True


@settings(max_examples=EXAMPLES, derandomize=True, deadline=None, suppress_health_check=SLOW)
@given(programs())
def test_unknowns_of_few_values_are_answered_exactly(text: str) -> None:
    check(text, FINITE)


@settings(max_examples=EXAMPLES // 2, derandomize=True, deadline=None, suppress_health_check=SLOW)
@given(programs(depth=2))
def test_opaque_unknowns_lie_within_the_answer(text: str) -> None:
    check(text, OPEN)


@pytest.mark.full
@pytest.mark.parametrize(("depth", "unknowns"), [(3, FINITE), (4, FINITE), (2, OPEN)])
def test_many_more_programs(depth: int, unknowns: dict[str, Parameter]) -> None:
    number = SystemRandom().randrange(2**32)
    print(f"seed {number}")

    @seed(number)
    @settings(max_examples=MORE, database=None, deadline=None, suppress_health_check=SLOW)
    @given(programs(depth))
    def run(text: str) -> None:
        check(text, unknowns)

    run()


def test_the_length_of_an_address_is_not_asked_for_exactly() -> None:
    text = "class Base:\n    pass\ndef main(a):\n    return 2 <= len(repr(Base())) or a\n"
    check(text, {"a": OneOf((False, True))})
