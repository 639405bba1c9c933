"""Conditions made shorter, turned round and held apart, against what they come to for every value."""

from __future__ import annotations

import operator
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from qtrace.report.beside import excludes
from qtrace.report.predicate import AllOf, Always, AnyOf, Compare, Never, Not, Opaque, Predicate
from qtrace.report.settle import negated
from qtrace.tracer.native.reach.bounds import tightest
from qtrace.tracer.native.reach.simplify import shorter

OPERATORS = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
VALUES = tuple(
    {"n": n, "m": m, "t": t, "a": a, "b": b}
    for n, m, t, a, b in product(
        (-1, 0, 0.5, 1, 2, 3), (0, 1, 1.5, 2, 3), ("int8", "float16", "x"), (True, False), (True, False)
    )
)

atoms = st.one_of(
    st.builds(Compare, st.sampled_from("nm"), st.sampled_from(sorted(OPERATORS)), st.sampled_from("0123")),
    st.builds(Compare, st.just("n"), st.sampled_from(sorted(OPERATORS)), st.sampled_from(("m", "2 * m"))),
    st.builds(Compare, st.just("t"), st.sampled_from(("==", "!=")), st.sampled_from(("int8", "float16"))),
    st.builds(Opaque, st.sampled_from("ab")),
    st.builds(Opaque, st.sampled_from("ab")).map(Not),
)
conditions = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.lists(inner, min_size=2, max_size=3).map(lambda items: AllOf(tuple(items))),
        st.lists(inner, min_size=2, max_size=3).map(lambda items: AnyOf(tuple(items))),
        inner.map(negated),
    ),
    max_leaves=7,
)


def _value(word: str, values: dict[str, Any]) -> Any:
    if word == "2 * m":
        return 2 * values["m"]
    return int(word) if word.isdigit() else values.get(word, word)


def _holds(test: Predicate, values: dict[str, Any]) -> bool:
    if isinstance(test, AllOf | AnyOf):
        return (all if isinstance(test, AllOf) else any)(_holds(item, values) for item in test.items)
    if isinstance(test, Not):
        return not _holds(test.item, values)
    if isinstance(test, Compare):
        return bool(OPERATORS[test.op](_value(test.left, values), _value(test.right, values)))
    if isinstance(test, Opaque):
        return bool(values[test.symbol])
    return isinstance(test, Always)


@settings(max_examples=80, deadline=None)
@given(conditions, st.lists(atoms, max_size=2))
def test_conditions_mean_the_same_in_other_words(test: Predicate, above: list[Predicate]) -> None:
    told, turned, tight = shorter(test, above), negated(test), tightest((test, *above))
    apart = excludes(test, above[0]) if above else False
    # Where there are too many alternatives some are told by their number alone.
    counted = "more conditions" in str(told)
    for values in VALUES:
        holds, known = _holds(test, values), all(_holds(item, values) for item in above)
        assert _holds(turned, values) is not holds
        assert (tight is not None and all(_holds(item, values) for item in tight)) is (holds and known)
        assert not (apart and holds and _holds(above[0], values))
        assert counted or not known or _holds(told, values) is holds


@pytest.mark.parametrize(
    ("test", "told"),
    [
        (AllOf((Compare("n", "<", "3"), Compare("n", "<=", "2"))), "n <= 2"),
        (AllOf((Compare("n", ">", "0"), Compare("n", "<", "1"))), "n < 1 and n > 0"),
        (AllOf((Compare("n", "==", "2 * k"), Compare("n", "==", "4"))), "n == 2 * k and n == 4"),
        (AllOf((Compare("n", "==", "0x10"), Compare("n", "==", "16"))), "n == 0x10 and n == 16"),
        (AllOf((Compare("n", "==", "4"), Compare("n", "==", "5"))), str(Never())),
        # What is left of an alternative is what another condition denies.
        (
            AllOf(
                (
                    AnyOf((Compare("n", "==", "1"), Compare("t", "==", "int8"))),
                    Compare("n", ">", "2"),
                    Compare("t", "!=", "int8"),
                )
            ),
            str(Never()),
        ),
    ],
)
def test_bounds_are_told_once(test: Predicate, told: str) -> None:
    assert str(shorter(test)) == told
