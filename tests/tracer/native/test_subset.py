"""The subset of C++, over text of our own: what it computes, and what it leaves undecided."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, strategies as st

from qtrace.report.predicate import Site
from qtrace.tracer.native.host import Answer, HostFunction, read_host
from qtrace.tracer.sources import Held, Source


def written(text: str, name: str = "f") -> HostFunction | None:
    """Read a function from text of our own."""
    files = {"vllm/__init__.py": b"", "csrc/a.cu": text.encode(), "PKG-INFO": b""}
    return read_host(Source("vllm", Held(files)), name, ["csrc/a.cu"])


def asked(text: str, facts: dict[str, int | None] | None = None, **args: int) -> Answer:
    predicate = written(text)
    assert predicate is not None
    return predicate.answer(args, facts or {})


@pytest.mark.parametrize(
    ("body", "value"),
    [
        ("return x / 2;", -3),
        ("return x % 4;", -3),
        ("return -x + 3 * 2 - 0x10;", -3),
        ("return 010;", 8),
        ("return 12'080L;", 12080),
        ("if (x) { return 1; } else { return 2; }", 1),
        ("if (!x) return 1; else if (x == -7) return 2; return 3;", 2),
        ("int y = x; y = y + 1; return y;", -6),
        ("int y = 1; { int z = 2; y = z; } return y;", 2),
        ("const bool y = x; return y;", 1),
        ("return x < 0 ? 5 : 6;", 5),
        ("return true && (x >= -7 || false);", 1),
        ("/* a */ // b\n; return 4; // c\n", 4),
        ("#if 0\n  return 1;\n#elif 1 + 1 == 2\n  return 2;\n#else\n  return 3;\n#endif\n", 2),
        ("#ifndef GONE\n  return 1;\n#endif\n  return 2;", 1),
        ("#if GONE\n  return 1;\n#endif\n  return 2;", 2),
    ],
)
def test_the_subset_computes_as_cpp_does(body: str, value: int) -> None:
    assert asked(f"int64_t f(int64_t x) {{\n{body}\n}}", {"GONE": None}, x=-7).value == value


@pytest.mark.parametrize(
    "body",
    [
        "while (x) { } return 1;",
        "for (;;) { return 1; }",
        "switch (x) { default: return 1; }",
        'CHECK(x, "no"); return 1;',
        "x++; return 1;",
        "static int y = 3; return y;",
        "unsigned y = 3; return y;",
        "int y; return y;",
        "return x / 0;",
        "return 3u;",
        "return 1.5;",
        "return sizeof(x);",
        "return g(x);",
        "return kSomewhere;",
        "return a.b;",
        "return x ^ 1;",
        "int y = 5000000000; return y;",
        "if (int y = x) { return 1; } return 2;",
        "if (x) { return 1; }",
        "int y = 1; { int y = 2; } return y;",
        "#define Y 1\n return 1;",
        "return ;",
        "return 1",
        "return f(x);",
        "try { return 1; } catch (...) { }",
    ],
)
def test_whatever_lies_outside_of_the_subset_is_undecided(body: str) -> None:
    answer = asked(f"int64_t f(int64_t x) {{\n{body}\n}}", x=0)
    assert answer.value is None
    assert answer.needs


def test_what_both_ways_give_is_decided_without_the_name() -> None:
    text = "bool f(int64_t x) {\n#ifdef A\n  return x > 3;\n#else\n  return x > 2;\n#endif\n}"
    assert asked(text, x=9) == Answer(True, (Site("csrc/a.cu", 3), Site("csrc/a.cu", 5)), frozenset())
    assert asked(text, x=3).needs == {"A"}


def test_a_file_may_define_what_its_functions_ask() -> None:
    text = "#ifdef A\n#define B 2\n#else\n#define B 3\n#endif\n"
    text += "int f() {\n#if B == 2\n return B;\n#endif\n return 9;\n}"
    assert asked(text, {"A": 1}).value == 2
    assert asked(text, {"A": None}).value == 9
    assert asked(text).value is None
    assert asked("#define B some(text)\nbool f() {\n#if B\n return 1;\n#endif\n return 0;\n}").value is None
    assert asked("#define B 1\n#undef B\nint f() {\n#ifdef B\n return 1;\n#endif\n return 0;\n}").value == 0


def test_a_guarded_header_is_read_and_a_known_guard_is_obeyed() -> None:
    text = "#ifndef A_H\n#define A_H\ninline bool f() { return true; }\n#endif\n"
    assert asked(text).value is True
    assert asked(text, {"A_H": 1}).value is None


def test_definitions_for_two_builds_answer_for_theirs() -> None:
    text = "#if NEW\nbool f() { return true; }\n#else\nbool f() { return false; }\n#endif\n"
    assert asked(text, {"NEW": 1}).value is True
    assert asked(text, {"NEW": None}).value is False
    assert asked(text).needs == {"NEW"}


def test_a_helper_sees_what_is_defined_above_it() -> None:
    text = (
        "bool h() {\n#ifdef A\n return 1;\n#else\n return 0;\n#endif\n}\n#define A\nbool f() { return h(); }"
    )
    assert asked(text, {"A": None}).value is False


def test_two_definitions_that_both_stand_are_no_answer() -> None:
    assert asked("bool f(int x) { return true; }\nbool f(bool x) { return true; }", x=1).value is None
    assert asked("bool g() { return 1; } bool g(int x) { return 1; } bool f() { return g(); }").value is None


@pytest.mark.parametrize(
    "text",
    [
        "Tensor f(Tensor x) { return x; }",
        "void f() { }",
        "size_t f() { return 1; }",
        "auto f() { return 1; }",
        "bool f();",
        "template <int N> bool f() { return N; }",
        "struct S { bool f() { return true; } };",
        "#define f(x) { }",
        "",
    ],
)
def test_functions_of_another_shape_answer_nothing(text: str) -> None:
    found = written(text)
    assert found is None or not found.answers


@pytest.mark.parametrize(
    "text",
    [
        f"bool f() {{ return {'(' * 5000}1{')' * 5000}; }}",
        f"bool f() {{ return {'!' * 5000}1; }}",
        f"bool f() {{ return {'1+' * 5000}1; }}",
        f"bool f() {{ {'{' * 5000}return 1;{'}' * 5000} }}",
        f"bool f() {{\n#if {'!' * 5000}1\n return 1;\n#endif\n return 0;\n}}",
        "bool f() { return f(); }",
        "bool f(bool a) {\n" + "if (A) a = !a;\n" * 3000 + "return a; }",
        "".join(f"int g{i}() {{ return g{i + 1}() + g{i + 1}(); }}\n" for i in range(40))
        + "int g40() { return 1; }\nint f() { return g0(); }",
    ],
)
def test_functions_made_to_hurt_end_undecided(text: str) -> None:
    predicate = written(text)
    assert predicate is None or predicate.decide({}, {}) is None


# Expressions twice: as C++ and as Python, over x, the macro M and small numbers. A bare `(x && (y))` could
# be a cast for all that the parser knows, hence the sums.
Twin = tuple[str, str]
LEAVES: list[Twin] = [("(0 + x)", "x"), ("(0 + M)", "m"), *((str(n), str(n)) for n in (0, 1, 2, 90))]


def _grown(inner: st.SearchStrategy[Twin]) -> st.SearchStrategy[Twin]:
    plain = st.sampled_from(["+", "-", "*", "==", "!=", "<", "<=", ">", ">="])
    logic = st.sampled_from([("&&", "and"), ("||", "or")])
    return st.one_of(
        st.builds(
            lambda op, a, b: (f"({a[0]} {op} {b[0]})", f"int({a[1]} {op} {b[1]})"), plain, inner, inner
        ),
        st.builds(
            lambda op, a, b: (f"({a[0]} {op[0]} {b[0]})", f"int(bool({a[1]} {op[1]} {b[1]}))"),
            logic,
            inner,
            inner,
        ),
        st.builds(lambda a: (f"(!{a[0]})", f"int(not {a[1]})"), inner),
    )


TWINS = st.recursive(st.sampled_from(LEAVES), _grown, max_leaves=8)


@given(test=TWINS, first=TWINS, second=TWINS, directive=st.booleans())
def test_an_answer_is_what_every_completion_gives(
    test: Twin, first: Twin, second: Twin, directive: bool
) -> None:
    if directive:
        condition = test[0].replace("x", "N")
        body = f"#if {condition}\n return {first[0]};\n#else\n return {second[0]};\n#endif\n"
    else:
        body = f" if ({test[0]}) {{ return {first[0]}; }}\n return {second[0]};\n"
    predicate = written(f"int64_t f(int64_t x) {{\n{body}}}\n")
    assert predicate is not None
    chosen = compile(f"({first[1]}) if ({test[1]}) else ({second[1]})", "<twin>", "eval")
    # In a directive N stands where x does: both get the same value.
    truth = {(x, m): eval(chosen, {"x": x, "m": m}) for x, m in product((0, 1, 90), (0, 2, 91))}
    for (x, m), value in truth.items():
        assert predicate.decide({"x": x}, {"M": m, "N": x}) == value
    for x in (0, 1, 90):
        partial = predicate.decide({"x": x}, {"N": x})
        assert partial is None or {truth[x, m] for m in (0, 2, 91)} == {partial}
    for m in (0, 2, 91):
        partial = predicate.decide({}, {"M": m})
        assert partial is None or {truth[x, m] for x in (0, 1, 90)} == {partial}
