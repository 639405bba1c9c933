"""The native half, read: registrations, what the build defines, and host functions in three values."""

from __future__ import annotations

import os
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from qtrace.report.predicate import Site
from qtrace.tracer.native.host import Answer, HostPredicate, read_predicate
from qtrace.tracer.native.ops import OpIndex, build_facts, build_macros, cuda_facts
from qtrace.tracer.sources import Held, Source, open_source

DATA = Path(__file__).parent.parent / "data" / "native"
SDIST = os.environ.get("QTRACE_VLLM_SDIST")


@pytest.fixture(scope="module")
def source() -> Source:
    return open_source(DATA)


@pytest.fixture(scope="module")
def index(source: Source) -> OpIndex:
    return OpIndex.read(source)


def written(text: str, name: str = "f") -> HostPredicate | None:
    """Read a function from text of our own."""
    files = {"vllm/__init__.py": b"", "csrc/a.cu": text.encode(), "PKG-INFO": b""}
    return read_predicate(Source("vllm", Held(files)), name, ["csrc/a.cu"])


def asked(text: str, facts: dict[str, int | None] | None = None, **args: int) -> Answer:
    predicate = written(text)
    assert predicate is not None
    return predicate.answer(args, facts or {})


# --- registrations


def test_the_ops_of_a_platform_are_those_its_build_compiles(index: OpIndex) -> None:
    assert index.namespaces == ("_C", "_C_cache_ops", "_moe_C")
    assert index.ops("_C") == ("braces", "extra", "is_wide", "no_wave", "on_request", "two_lines")
    assert index.ops("_C_cache_ops") == ("swap",)
    assert index.ops("_moe_C") == ("route",)
    assert len(index) == 8


def test_other_platforms_have_their_own(source: Source) -> None:
    rocm, cpu = OpIndex.read(source, "rocm"), OpIndex.read(source, "cpu")
    assert rocm.defines("_C", "waves") and rocm.defines("_C", "wave_only")
    assert rocm.defines("_C", "no_wave") is False
    assert rocm.ops("_rocm_C") == ("paged",)
    assert "_moe_C" not in rocm.namespaces
    assert cpu.ops("_C") == ("on_the_processor",)


def test_what_an_open_condition_decides_is_not_claimed(index: OpIndex) -> None:
    assert index.defines("_C", "on_request") is None
    assert index.defines("_C", "extra") is True
    assert index.defines("_C", "wave_only") is False
    assert index.defines("_C", "ghost") is False
    assert index.defines("_somebody_else_C", "x") is None


def test_a_schema_is_one_line_and_has_its_site(index: OpIndex) -> None:
    assert index.schema("_C", "two_lines") == "two_lines(Tensor a, int b) -> Tensor"
    assert index.site("_C", "two_lines") == Site("csrc/bindings.cpp", 5)
    assert index.schema("_C", "ghost") is None and index.site("_C", "ghost") is None


def test_implementations_keep_their_key(index: OpIndex) -> None:
    swap = index.get("_C_cache_ops", "swap")
    two_lines = index.get("_C", "two_lines")
    assert swap and [(i.key, i.function) for i in swap.implementations] == [("", "swap"), ("CUDA", "swap")]
    assert two_lines and [(i.key, i.function) for i in two_lines.implementations] == [
        ("CUDA", "two_lines_cuda")
    ]


def test_without_csrc_nothing_is_claimed() -> None:
    index = OpIndex.read(Source("vllm", Held({"vllm/__init__.py": b""})))
    assert len(index) == 0
    assert index.defines("_C", "two_lines") is None


@pytest.mark.parametrize(
    "text",
    [
        "TORCH_LIBRARY(",
        "TORCH_LIBRARY(_C, m) {",
        'TORCH_LIBRARY(_C, m) { m.def("a(',
        'TORCH_LIBRARY(_C, m) { m.def(NAME); m.def(""); m.def(); }',
        "#if (((\n#elif\n#endif\n#endif\n#else\nTORCH_LIBRARY(_C, m) {}",
    ],
)
def test_broken_registrations_are_no_ops_and_no_error(text: str) -> None:
    files = {"vllm/__init__.py": b"", "csrc/a.cpp": text.encode(), "PKG-INFO": b""}
    assert len(OpIndex.read(Source("vllm", Held(files)))) == 0


# --- the build


def test_the_build_of_the_newest_toolkit_defines_what_its_architectures_ask(source: Source) -> None:
    macros = build_macros(source)
    assert macros == {"ENABLE_NARROW": 1, "ENABLE_WIDE": 1, "EXTRA_OPS": 1, "USE_CUDA": 1}


def test_an_older_toolkit_builds_less(source: Source) -> None:
    macros = build_macros(source, 12030)
    assert "ENABLE_WIDE" not in macros
    assert macros["ENABLE_THIN"] == macros["ENABLE_NARROW"] == 1


def test_what_the_build_never_defines_is_known_not_to_be(source: Source) -> None:
    facts = build_facts(source, "cuda")
    assert facts["ENABLE_WAVES"] is None and facts["USE_ROCM"] is None and facts["ENABLE_THIN"] is None
    assert "ENABLE_ON_REQUEST" not in facts
    assert build_facts(source, "rocm")["ENABLE_WAVES"] == 1


# --- host functions


def test_an_op_leads_to_the_function_that_answers_it(source: Source, index: OpIndex) -> None:
    predicate = index.predicate("_C", "is_wide")
    assert predicate is not None
    assert predicate.sites == (Site("csrc/quant/gates.cu", 20),)
    assert predicate.params == ("capability",)
    assert predicate.needs == {"CUDART_VERSION"}
    for capability, wide in ((90, False), (100, True), (119, True), (120, False)):
        assert predicate.decide({"capability": capability}, cuda_facts(source, 12090)) is wide
        assert predicate.decide({"capability": capability}, cuda_facts(source, 12080)) is False


def test_an_op_without_such_a_function_has_none(index: OpIndex) -> None:
    assert index.predicate("_C", "two_lines") is None
    assert index.predicate("_C", "ghost") is None


@pytest.mark.parametrize(
    ("version", "capability", "answer"),
    [
        (12090, 75, False),
        (12090, 90, True),
        (12090, 100, True),
        (12090, 120, False),
        (12050, 90, True),
        (12050, 100, False),
    ],
)
def test_macros_and_arguments_decide(source: Source, version: int, capability: int, answer: bool) -> None:
    predicate = read_predicate(source, "by_toolkit", ["csrc/quant/gates.cu"])
    assert predicate is not None
    assert predicate.needs == {"CUDA_VERSION", "ENABLE_WIDE", "ENABLE_NARROW"}
    assert predicate.decide({"capability": capability}, cuda_facts(source, version)) is answer


def test_the_return_that_was_taken_is_named(source: Source) -> None:
    predicate = read_predicate(source, "by_toolkit", ["csrc/quant/gates.cu"])
    assert predicate is not None
    facts = cuda_facts(source, 12090)
    assert predicate.answer({"capability": 100}, facts).site == Site("csrc/quant/gates.cu", 28)
    assert predicate.answer({"capability": 75}, facts).site == Site("csrc/quant/gates.cu", 37)
    assert predicate.answer({}, facts).site is None


def test_what_is_missing_is_named_and_only_that(source: Source) -> None:
    predicate = read_predicate(source, "by_toolkit", ["csrc/quant/gates.cu"])
    assert predicate is not None
    assert predicate.decide({"capability": 75}, {}) is False
    assert predicate.answer({"capability": 90}, {"CUDA_VERSION": 12090}).needs == {
        "ENABLE_WIDE",
        "ENABLE_NARROW",
    }
    assert predicate.answer({}, {"CUDA_VERSION": 12090, "ENABLE_WIDE": None, "ENABLE_NARROW": 1}).needs == {
        "capability"
    }
    assert predicate.decide({}, {"CUDA_VERSION": None}) is False


def test_a_query_stays_a_name_until_someone_tells(source: Source) -> None:
    predicate = read_predicate(source, "by_runtime", ["csrc/quant/gates.cu"])
    assert predicate is not None
    known = {"ENABLE_WIDE": 1}
    assert predicate.answer({"capability": 100}, known).needs == {"cudaRuntimeGetVersion"}
    assert predicate.decide({"capability": 90}, known) is False
    assert predicate.decide({"capability": 100}, {**known, "cudaRuntimeGetVersion": 13000}) is True
    assert predicate.decide({"capability": 100}, {**known, "cudaRuntimeGetVersion": 12040}) is False


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
def test_functions_of_another_shape_are_not_taken(text: str) -> None:
    assert written(text) is None


def test_a_function_defined_in_two_files_is_not_taken() -> None:
    body = b"bool f() { return true; }"
    files = {"vllm/__init__.py": b"", "PKG-INFO": b"", "csrc/a.cu": body, "csrc/b.cu": body}
    assert read_predicate(Source("vllm", Held(files)), "f", ["csrc/a.cu", "csrc/b.cu"]) is None


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


# --- the real thing


@pytest.fixture(scope="module")
def vllm() -> Source:
    if not SDIST:
        pytest.skip("QTRACE_VLLM_SDIST names no sdist of vLLM 0.33.0")
    source = open_source(SDIST)
    assert source.version == "0.33.0"
    return source


@pytest.mark.full
def test_every_op_of_a_cuda_build_of_vllm_is_seen(vllm: Source) -> None:
    """167, where `facts/vllm.md` counts 166.

    That count has six `octave_*` ops, which CMake compiles for ROCm only, and lacks seven behind
    `VLLM_ENABLE_*` and `USE_CUDA`, which CMake defines for a CUDA build.
    """
    index = OpIndex.read(vllm)
    assert {namespace: len(index.ops(namespace)) for namespace in index.namespaces} == {
        "_C": 111,
        "_C_cache_ops": 19,
        "_C_cuda_utils": 2,
        "_C_custom_ar": 15,
        "_flashkda_C": 2,
        "_moe_C": 18,
    }
    assert len(index) == 167
    assert index.site("_C", "cutlass_scaled_mm_supports_fp8") == Site("csrc/torch_bindings.cpp", 128)
    assert index.defines("_C", "octave_decode") is False
    assert index.defines("_C", "cooperative_topk") is True


@pytest.mark.full
@pytest.mark.parametrize(
    ("op", "low", "high", "asks"),
    [
        ("cutlass_scaled_mm_supports_fp8", 89, 1000, {"CUDA_VERSION"}),
        ("cutlass_scaled_mm_supports_block_fp8", 90, 1000, {"CUDA_VERSION"}),
        (
            "cutlass_group_gemm_supported",
            90,
            120,
            {"CUDA_VERSION", "ENABLE_CUTLASS_MOE_SM90", "ENABLE_CUTLASS_MOE_SM100"},
        ),
        (
            "cutlass_scaled_mm_supports_fp4",
            100,
            130,
            {"cudaRuntimeGetVersion", "ENABLE_NVFP4_SM100", "ENABLE_NVFP4_SM120"},
        ),
        ("mxfp4_experts_quant_supported", 100, 120, {"CUDART_VERSION"}),
    ],
)
def test_the_predicates_of_vllm_answer_as_the_engine_does(
    vllm: Source, op: str, low: int, high: int, asks: set[str]
) -> None:
    predicate = OpIndex.read(vllm).predicate("_C", op)
    assert predicate is not None
    assert predicate.needs == asks
    for version, capability in product((12090, 13000), (75, 80, 86, 89, 90, 100, 120)):
        answer = predicate.decide({"cuda_device_capability": capability}, cuda_facts(vllm, version))
        assert answer is (low <= capability < high), (version, capability)
