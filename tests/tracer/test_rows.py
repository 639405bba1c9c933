"""What a layer runs by the rows of its forward: ranges in which that is the same, each with its condition."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from qtrace.report.predicate import AllOf, AnyOf, Compare, Not, Opaque, Predicate
from qtrace.tracer.evaluate.comparing import ORDER
from qtrace.tracer.evaluate.record import Edge
from qtrace.tracer.guards import Guard, Space
from qtrace.tracer.rows import about_rows, by_rows


def at_least(space: Space, rows: int) -> Guard:
    return space.atom(f"M >= int:{rows}", Compare("M", ">=", str(rows)))


def call(op: str, guard: Guard) -> Edge:
    return Edge(0, "forward", op, "leaves", None, guard)


def told(space: Space, work: list[Edge], guard: Guard | None = None) -> list[tuple[str, tuple[str, ...]]]:
    return [(space.text(g), ops) for g, ops in by_rows(space, work, space.true if guard is None else guard)]


def test_a_threshold_splits_what_runs() -> None:
    space = Space()
    many = at_least(space, 32)
    work = [call("quant", space.true), call("small", ~many), call("large", many)]

    assert told(space, work) == [("not (M >= 32)", ("quant", "small")), ("M >= 32", ("quant", "large"))]


def test_no_range_contradicts_itself() -> None:
    space = Space()
    some, many = at_least(space, 16), at_least(space, 256)
    work = [call("a", ~some), call("b", some & ~many), call("c", many)]

    assert told(space, work) == [
        ("not (M >= 16)", ("a",)),
        ("M >= 16 and not (M >= 256)", ("b",)),
        ("M >= 256", ("c",)),
    ]


def test_ranges_in_which_the_same_runs_are_one() -> None:
    space = Space()
    one = space.atom("M == int:1", Compare("M", "==", "1"))
    work = [call("gemv", one), call("gemm", ~one & at_least(space, 1))]

    assert told(space, work) == [("M == 1", ("gemv",)), ("not (M == 1)", ("gemm",))]


def test_other_conditions_do_not_split() -> None:
    space = Space()
    tensor = space.atom("scale?", Opaque("scale.isfinite()"))
    work = [call("a", tensor), call("b", ~tensor)]

    assert told(space, work) == [("always", ("a", "b"))]
    assert told(space, work, tensor) == [("scale.isfinite()", ("a",))]


def test_a_condition_that_is_no_threshold_splits_too() -> None:
    space = Space()
    even = space.atom("(M % int:8) == int:0", Compare("M % 8", "==", "0"))
    assert told(space, [call("a", even), call("b", ~even)]) == [
        ("M % 8 == 0", ("a",)),
        ("not (M % 8 == 0)", ("b",)),
    ]


@pytest.mark.parametrize("text", ["M >= int:32", "(M % int:8) == int:0", "int:4 < M", "(M * int:2) > int:3"])
def test_conditions_on_rows(text: str) -> None:
    assert about_rows(text)


@pytest.mark.parametrize("text", ["MODE == 1", "MM >= int:3", "x.M?", "capability"])
def test_conditions_on_something_else(text: str) -> None:
    assert not about_rows(text)


def holds(predicate: Predicate, rows: int) -> bool:
    """A predicate over nothing but the rows."""
    if isinstance(predicate, Not):
        return not holds(predicate.item, rows)
    if isinstance(predicate, AllOf | AnyOf):
        every = all if isinstance(predicate, AllOf) else any
        return every(holds(item, rows) for item in predicate.items)
    if isinstance(predicate, Compare):
        left, right = (rows if term == "M" else int(term) for term in (predicate.left, predicate.right))
        return left == right if predicate.op == "==" else bool(ORDER[predicate.op][0](left, right))
    return str(predicate) == "always"


CONDITIONS = st.tuples(st.sampled_from([">=", "<=", ">", "<", "=="]), st.integers(0, 40))


@given(st.lists(st.tuples(CONDITIONS, st.booleans()), min_size=1, max_size=5), st.integers(1, 60))
def test_every_number_of_rows_finds_the_calls_that_it_makes(
    calls: list[tuple[tuple[str, int], bool]], rows: int
) -> None:
    space = Space()
    work = []
    for at, ((op, number), wanted) in enumerate(calls):
        guard = space.atom(f"M {op} int:{number}", Compare("M", op, str(number)))
        work.append(call(f"op{at}", guard if wanted else ~guard))

    made = tuple(e.callee for e in work if holds(space.predicate(e.guard), rows))
    parts = by_rows(space, work, space.true)
    assert [ops for guard, ops in parts if holds(space.predicate(guard), rows)] == [made]
