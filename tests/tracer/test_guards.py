"""Guards against truth tables: every operation is checked on every assignment of six small variables."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import product
from random import Random
from typing import Any

import pytest
from hypothesis import given, strategies as st

from qtrace.report.predicate import AllOf, Always, AnyOf, Member, Never, Not, Opaque, Predicate, Scalar
from qtrace.tracer.guards import Guard, GuardBudget, Space

ATOMS = ("p", "q", "r")
DOMAINS: dict[str, tuple[Scalar, ...]] = {
    "method": ("fp8", "awq", None),
    "odd": (1, True, 1.0, "1"),
    "rows": (1, 2, 3, 4, 5),
}
NAMES = (*ATOMS, *DOMAINS)
ENVS = [dict(zip(NAMES, values, strict=True)) for values in product(*[(True, False)] * 3, *DOMAINS.values())]
EVERYWHERE = (1 << len(ENVS)) - 1

Formula = tuple[
    Any, ...
]  # ("atom", name), ("choice", name, values), ("not", f), ("and", f, g) or ("or", f, g)


def of_depth(depth: int) -> st.SearchStrategy[Formula]:
    """Full trees; they shrink well, but hypothesis likes to repeat itself, so that many are trivial."""
    if depth == 0:
        choices = [
            st.tuples(st.just("choice"), st.just(name), st.sets(st.integers(0, len(domain) - 1), min_size=1))
            for name, domain in DOMAINS.items()
        ]
        return st.one_of(st.tuples(st.just("atom"), st.sampled_from(ATOMS)), *choices)
    inner = of_depth(depth - 1)
    negated = st.tuples(st.just("not"), inner)
    return st.tuples(st.sampled_from(["and", "or"]), inner, st.one_of(inner, negated))


def scattered(seed: int) -> Formula:
    """A random tree over all variables."""
    rng = Random(seed)

    def grow(depth: int) -> Formula:
        if depth:
            test, left, right = grow(0), grow(depth - 1), grow(depth - 1)
            if rng.random() < 0.7:
                return ("or", ("and", test, left), ("and", ("not", test), right))
            return (rng.choice(("and", "or")), left, right)
        name = rng.choice(NAMES)
        places = range(len(DOMAINS.get(name, ())))
        return (
            ("choice", name, rng.sample(places, rng.randrange(1, len(places)))) if places else ("atom", name)
        )

    return grow(rng.randrange(2, 5))


trees = st.builds(scattered, st.integers(0, 2**32))
formulas = st.one_of(of_depth(2), trees, trees)


def is_in(value: Scalar, values: tuple[Scalar, ...]) -> bool:
    return any(type(value) is type(other) and value == other for other in values)


def rows_where(name: str, values: tuple[Scalar, ...]) -> int:
    return sum(1 << i for i, env in enumerate(ENVS) if is_in(env[name], values))


COLUMNS = {(name, v): rows_where(name, (v,)) for name in ATOMS for v in (True, False)}
PLACES = {(name, i): rows_where(name, (v,)) for name, domain in DOMAINS.items() for i, v in enumerate(domain)}


def truth(formula: Formula) -> int:
    """The rows of the truth table where `formula` holds, as bits."""
    match formula:
        case "atom", name:
            return COLUMNS[name, True]
        case "choice", name, places:
            return sum(PLACES[name, i] for i in places)
        case "not", inner:
            return EVERYWHERE ^ truth(inner)
        case "and", left, right:
            return truth(left) & truth(right)
        case "or", left, right:
            return truth(left) | truth(right)
    raise AssertionError(formula)


def build(space: Space, formula: Formula) -> Guard:
    match formula:
        case "atom", name:
            return space.atom(name, Opaque(name))
        case "choice", name, places:
            return space.choice(name, DOMAINS[name], [DOMAINS[name][i] for i in places])
        case "not", inner:
            return ~build(space, inner)
        case "and", left, right:
            return build(space, left) & build(space, right)
        case "or", left, right:
            return build(space, left) | build(space, right)
    raise AssertionError(formula)


def table(space: Space, guard: Guard) -> int:
    """The rows where `guard` holds, read by fixing every variable."""
    ends = [space.assign(guard, env) for env in ENVS]
    assert all(end is space.true or end is space.false for end in ends)
    return sum(1 << i for i, end in enumerate(ends) if end.is_true)


def value(predicate: Predicate, env: dict[str, Scalar]) -> bool | None:
    """What a reader makes of `predicate`: None where it only says that there is more."""
    match predicate:
        case Always() | Never():
            return isinstance(predicate, Always)
        case Member(name, values):
            return is_in(env[name], values)
        case Opaque(symbol):
            return None if symbol.startswith("…") else bool(env[symbol])
        case Not(item):
            inner = value(item, env)
            return None if inner is None else not inner
        case AllOf(items) | AnyOf(items):
            found = [value(item, env) for item in items]
            decisive = isinstance(predicate, AnyOf)
            return decisive if decisive in found else None if None in found else not decisive
    raise AssertionError(predicate)


def parts(predicate: Predicate) -> list[Predicate]:
    """`predicate` and everything inside it."""
    inner = predicate.items if isinstance(predicate, AllOf | AnyOf) else ()
    return [predicate, *(part for item in inner for part in parts(item))]


# --- the algebra


@given(formulas)
def test_operators_hold_exactly_where_the_truth_table_says(formula: Formula) -> None:
    space = Space()
    assert table(space, build(space, formula)) == truth(formula)


@given(formulas, formulas)
def test_equal_conditions_are_the_same_object_and_others_are_not(left: Formula, right: Formula) -> None:
    space = Space()
    f, g = build(space, left), build(space, right)
    assert (f is g) == (truth(left) == truth(right))
    assert (f & g) | (f & ~g) is f
    assert ~(~f | ~g) is f & g is g & f
    assert f & (f | g) is f
    assert (f | g) & ~f is g & ~f
    assert f.is_true == (truth(left) == EVERYWHERE)
    assert f.is_false == (truth(left) == 0)


@given(formulas)
def test_a_guard_is_the_union_of_its_models(formula: Formula) -> None:
    space = Space()
    guard = build(space, formula)
    union = space.false
    models = space.models(guard, len(ENVS))
    for model in models:
        one = space.true
        for name, held in model.items():
            if name in DOMAINS:
                one &= space.choice(name, DOMAINS[name], [held])
            else:
                one &= build(space, ("atom", name)) if held else ~build(space, ("atom", name))
        assert one.disjoint(union)
        union |= one
    assert union is guard
    assert space.models(guard, 1) == models[:1]


@given(formulas, formulas)
def test_implication_and_disjointness(left: Formula, right: Formula) -> None:
    space = Space()
    f, g = build(space, left), build(space, right)
    assert f.implies(g) == (truth(left) & ~truth(right) == 0)
    assert f.disjoint(g) == (truth(left) & truth(right) == 0)
    assert (f & g).implies(f)
    assert f.implies(f | g)
    assert f.disjoint(g & ~f)


@given(formulas, st.fixed_dictionaries({}, optional={name: st.integers(0, 9) for name in NAMES}))
def test_assigning_fixes_some_variables_and_no_others(formula: Formula, picks: dict[str, int]) -> None:
    space = Space()
    guard = build(space, formula)
    known = {name: DOMAINS.get(name, (True, False)) for name in picks}
    fixed = {name: known[name][pick % len(known[name])] for name, pick in picks.items()}
    rest = space.assign(guard, fixed)
    assert not set(space.variables(rest)) & fixed.keys()
    holds = [bool(truth(formula) >> i & 1) for i in range(len(ENVS))]
    by_env = {tuple(map(repr, env.values())): hold for env, hold in zip(ENVS, holds, strict=True)}
    expected = [by_env[tuple(map(repr, (env | fixed).values()))] for env in ENVS]
    assert table(space, rest) == sum(1 << i for i, hold in enumerate(expected) if hold)


@given(formulas)
def test_variables_are_exactly_the_ones_that_decide(formula: Formula) -> None:
    space = Space()
    guard = build(space, formula)
    columns = {name: [(name, v) for v in DOMAINS.get(name, (True, False))] for name in NAMES}
    deciding = {name for name in NAMES if len({space.assign(guard, {name: v}) for _, v in columns[name]}) > 1}
    assert set(space.variables(guard)) == deciding


# --- narrowing


@given(formulas, formulas)
def test_simplify_is_equal_wherever_the_path_holds(left: Formula, right: Formula) -> None:
    space = Space()
    g, u = build(space, left), build(space, right)
    short = space.simplify(g, u)
    assert short & u is g & u
    assert len(short.nodes()) <= len(g.nodes())
    if not u.is_false:
        assert space.simplify(g & u, u).implies(g | ~u)
        assert space.simplify(u, u).is_true
        assert space.simplify(~u, u).is_false


def test_simplify_does_not_repeat_what_holds_on_the_path() -> None:
    space = Space()
    p, q, r = (space.atom(name, Opaque(name)) for name in ATOMS)
    domain = ("fp8", "awq", "gptq", None)

    def method(*values: Scalar) -> Guard:
        return space.choice("method", domain, values)

    assert space.simplify(p & q, p) is q
    assert space.simplify(p & q, q) is p
    assert space.simplify(p | q, ~p) is q
    assert space.simplify((p & q) | (~p & r), p) is q
    assert space.simplify(p & q & r, p & r) is q
    assert space.simplify(q, p) is q
    assert space.simplify(p, p | q) is p
    assert space.simplify(method("fp8") & p, method("fp8")) is p
    assert space.simplify(method("fp8", "awq"), method("fp8", "awq", None)) is method("fp8", "awq")
    assert space.simplify(method("fp8", "awq", "gptq"), method("fp8", None)) is method("fp8")


# --- the text


@given(formulas)
def test_a_predicate_says_what_its_guard_says(formula: Formula) -> None:
    space = Space()
    predicate = space.predicate(build(space, formula))
    values = [value(predicate, env) for env in ENVS]
    for i, found in enumerate(values):
        assert found is None or found == bool(truth(formula) >> i & 1), predicate
    if "…" not in str(predicate):
        assert None not in values


@given(formulas)
def test_a_predicate_is_flat_and_without_repetition(formula: Formula) -> None:
    space = Space()
    predicate = space.predicate(build(space, formula))
    for part in parts(predicate):
        if isinstance(part, AllOf | AnyOf):
            assert len(part.items) > 1
            assert len(set(map(repr, part.items))) == len(part.items)
            assert not any(isinstance(item, type(part)) for item in part.items)
        if isinstance(part, AnyOf):
            assert len(part.items) <= 13
    if not isinstance(predicate, Always | Never):
        assert not any(isinstance(part, Always | Never) for part in parts(predicate))


@given(formulas)
def test_every_part_of_a_predicate_is_needed(formula: Formula) -> None:
    space = Space()
    predicate = space.predicate(build(space, formula))
    if isinstance(predicate, AllOf | AnyOf) and "…" not in str(predicate):
        whole = [value(predicate, env) for env in ENVS]
        for item in predicate.items:
            others = type(predicate)(tuple(other for other in predicate.items if other is not item))
            assert [value(others, env) for env in ENVS] != whole, (str(predicate), str(item))


def spoken(space: Space) -> dict[str, Guard]:
    """Guards by how they are to be written."""
    a = {v: space.choice("a", (1, 2, 3), (v,)) for v in (1, 2, 3)}
    b = {v: space.choice("b", tuple(range(9)), (v,)) for v in range(9)}
    p, q, r, s, t, u = (space.atom(name, Opaque(name)) for name in "pqrstu")
    return {
        "always": p | ~p,
        "never": a[1] & a[2],
        "a in (1, 2)": a[1] | a[2],
        "a == 1": ~(a[2] | a[3]),
        "not (b in (7, 8))": ~b[8] & ~b[7],
        "p": (p & q) | (p & ~q),
        "not q": ~q,
        "p and not q and r": r & ~q & p,
        "p or not q": ~(q & ~p),
        "a == 3 and (p or q)": (q & a[3]) | (p & a[3]),
        "a == 1 or (p and q)": (p & q) | a[1],
        "a in (1, 2) and p": (a[1] & p) | (p & a[2]),
        "(a == 1 and p) or (a == 2 and q)": (a[2] & q) | (a[1] & p),
        "(a == 2 and q) or (a in (1, 2) and p)": (a[1] & p) | (a[2] & (p | q)),
        "(p or q) and (r or s)": (p & r) | (p & s) | (q & r) | (q & s),
        "(p and (q or r)) or (s and t)": (s & t) | (p & q) | (p & r),
        "(p and not q) or (not p and q)": (p | q) & ~(p & q),
        "((p and q) or (r and s)) and (t or u)": ((p & q) | (r & s)) & (t | u),
        "p and (q or (r and (s or t)))": p & (q | (r & (s | t))),
    }


def test_predicates_are_short() -> None:
    space = Space()
    guards = spoken(space)
    assert [str(space.predicate(guard)) for guard in guards.values()] == list(guards)
    assert repr(guards["p or not q"]) == "<Guard p or not q>"


def test_an_atom_keeps_its_first_predicate_and_is_denied_without_doubling() -> None:
    space = Space()
    guard = space.atom("k", Not(Opaque("x")))
    assert space.atom("k", Opaque("y")) is guard
    assert space.predicate(guard) == Not(Opaque("x"))
    assert space.predicate(~guard) == Opaque("x")


def test_alternatives_beyond_twelve_are_counted_not_written() -> None:
    space = Space()
    some = space.false
    for i in range(20):
        some |= space.atom(f"p{i}", Opaque(f"p{i}")) & space.atom(f"q{i}", Opaque(f"q{i}"))
        text = space.predicate(some)
        assert isinstance(text, AllOf if i == 0 else AnyOf)
    assert isinstance(text, AnyOf)
    assert [str(item) for item in text.items[:12]] == [f"p{i} and q{i}" for i in range(12)]
    assert len(text.items) == 13
    assert str(text.items[12]) == "… and 8 more alternatives"


def test_single_alternatives_beyond_twelve_are_counted_too() -> None:
    space = Space()
    some = space.false
    for i in range(30):
        some |= space.atom(f"p{i}", Opaque(f"p{i}"))
    some |= space.atom("q", Opaque("q")) & space.atom("r", Opaque("r"))
    text = space.predicate(some)
    assert isinstance(text, AnyOf)
    assert [str(item) for item in text.items] == [*(f"p{i}" for i in range(12)), "… and 19 more alternatives"]


def test_parity_of_many_variables_is_cut_short() -> None:
    space = Space()
    odd = space.false
    for i in range(60):
        p = space.atom(f"p{i}", Opaque(f"p{i}"))
        odd = (odd & ~p) | (~odd & p)
    text = space.predicate(odd)
    assert isinstance(text, AnyOf)
    assert str(text.items[-1]) == "… and many more alternatives"


PRINT = """
import sys
sys.path.insert(0, sys.argv[1])
import test_guards
space = test_guards.Space()
print([space.predicate(g) for g in test_guards.spoken(space).values()])
"""


def test_predicates_do_not_depend_on_hash_seeds() -> None:
    here = os.path.dirname(__file__)  # noqa: PTH120 - handed to a child as text
    said = {
        subprocess.run(
            [sys.executable, "-c", PRINT, here],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(said) == 1


# --- bounds and misuse


def at_depth(frames: int) -> None:
    if frames:
        at_depth(frames - 1)
        return
    space = Space()
    atoms = [space.atom(f"p{i}", Opaque(f"p{i}")) for i in range(2000)]
    every = space.true
    for atom in atoms:
        every &= atom
    odd = space.false
    for atom in atoms:
        odd = (odd & ~atom) | (~odd & atom)
    assert len(space.variables(every)) == 2000
    assert every.disjoint(odd)
    assert not (~every).disjoint(odd)
    assert every.implies(atoms[0] & atoms[1999])
    assert space.assign(every, {f"p{i}": True for i in range(1999)}) is atoms[1999]
    assert space.simplify(every, atoms[0]) & atoms[0] is every
    assert str(space.predicate(every)).endswith("p1998 and p1999")
    some = space.true
    for atom in reversed(atoms[:600]):
        some &= atom
    assert every.implies(some)


def test_thousands_of_variables_deep_in_the_stack() -> None:
    at_depth(300)


def test_a_space_has_a_bound_of_nodes() -> None:
    space = Space(max_nodes=20)
    odd = space.false
    with pytest.raises(GuardBudget, match="more than 20 guard nodes over 5 variables"):
        for i in range(20):
            p = space.atom(f"p{i}", Opaque(f"p{i}"))
            odd = (odd & ~p) | (~odd & p)


def test_a_guard_has_no_truth_of_its_own() -> None:
    space = Space()
    with pytest.raises(TypeError, match="is_true"):
        bool(space.true)


def test_choices_have_one_domain() -> None:
    space = Space()
    one = space.choice("a", (1, 2, 3), (1,))
    assert space.choice("a", (1, 2, 3), iter([1])) is one
    assert space.choice("a", (1, 2, 3), (1, 2, 3)).is_true
    assert space.choice("a", (1, 2, 3), ()).is_false
    assert space.choice("only", ("x",), ("x",)).is_true
    with pytest.raises(ValueError, match="cannot also be one of"):
        space.choice("a", (1, 2), (1,))
    with pytest.raises(ValueError, match="cannot also be one of"):
        space.choice("a", (True, 2, 3), (2,))
    with pytest.raises(ValueError, match="a cannot be 4"):
        space.choice("a", (1, 2, 3), (4,))
    with pytest.raises(ValueError, match="a cannot be True"):
        space.assign(one, {"a": True})
    with pytest.raises(ValueError, match="each once"):
        space.choice("twice", (1, 1), (1,))


def test_a_name_is_an_atom_or_a_choice() -> None:
    space = Space()
    space.atom("p", Opaque("p"))
    space.choice("a", (1, 2), (1,))
    with pytest.raises(ValueError, match="p is already the name of an atom"):
        space.choice("p", (True, False), (True,))
    with pytest.raises(ValueError, match="a is already the name of a choice"):
        space.atom("a", Opaque("a"))


def test_guards_of_two_spaces_do_not_combine() -> None:
    left, right = (space.atom("p", Opaque("p")) for space in (Space(), Space()))
    with pytest.raises(ValueError, match="two spaces"):
        left & right
