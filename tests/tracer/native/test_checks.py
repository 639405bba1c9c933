"""Checks of host functions (`TORCH_CHECK`): which of them a call with these sizes is sure to fail."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, strategies as st

from qtrace.report.predicate import Site
from qtrace.tracer.native.host import HostFunction, Refused, read_host
from qtrace.tracer.native.values import Tensor, Value, left_open
from qtrace.tracer.sources import Held, Source

HALF = 2
"""Bytes an element."""


PARAMS = "const torch::Tensor& a, torch::Tensor& b, const std::string& kind"


def written(body: str, params: str = PARAMS) -> HostFunction:
    text = f"void f({params}) {{\n{body}\n}}\n{AROUND}"
    files = {"vllm/__init__.py": b"", "csrc/a.cu": text.encode(), "PKG-INFO": b""}
    found = read_host(Source("vllm", Held(files)), "f", ["csrc/a.cu"])
    assert found is not None
    return found


def by_place(told: dict[str, Value]) -> tuple[Value, ...]:
    return tuple(told.get(name, left_open(name)) for name in ("a", "b", "kind"))


def failed(body: str, **args: Value) -> str | None:
    """The words of the check that fails for a (8, 64) and what is given besides."""
    told = {"a": Tensor((8, 64), HALF), "kind": "fp8", **args}
    refused = written(body).failed(by_place(told), {"USE_ROCM": None})
    return refused and f"{refused.exception}: {refused.message}"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ('TORCH_CHECK(a.size(1) == 32, "got ", a.size(1), "!");', "RuntimeError: got 64!"),
        ('STD_TORCH_CHECK(a.size(-1) % 128 == 0, "not a " "multiple");', "RuntimeError: not a multiple"),
        ("TORCH_CHECK(a.dim() == 3);", "RuntimeError: Expected a.dim() == 3 to be true, but got false."),
        ('TORCH_CHECK_VALUE(a.element_size() == 1, "one byte");', "ValueError: one byte"),
        ('int n = a.size(1); if (kind == "fp8") { TORCH_CHECK(n == 65, "n"); }', "RuntimeError: n"),
        (
            'TORCH_CHECK(b.size(0) == 1, "unknown"); TORCH_CHECK(a.size(0) == 9, "eight");',
            "RuntimeError: eight",
        ),
        ('if (b.dim() == 2) { int c = 1; } TORCH_CHECK(a.size(0) == 9, "both");', "RuntimeError: both"),
        (
            '#ifdef USE_ROCM\nTORCH_CHECK(false, "rocm");\n#else\nTORCH_CHECK(false, "cuda");\n#endif',
            "RuntimeError: cuda",
        ),
    ],
)
def test_a_check_that_fails_is_told_in_its_words(body: str, words: str) -> None:
    assert failed(body) == words


WRITES = (
    "int m = n++;",
    "int m = pick(&n);",
    "auto e = query(&n, 3);",
    "if ((n = query()) > 0) { int c = 1; }",
    "if (int m = pick(&n)) { int c = 1; }",
    "bool r = (n == 5) && (n = 3);",
    'TORCH_CHECK((n += 2) > 0, "y");',
    'TORCH_CHECK(cudaGetDevice(&n) == 0, "y");',
    "auto g = [&] { n = 3; return true; };",
    "auto p = &n; bool r = fill(p);",
    "std::vector<int> v(n++);",
    "bool r = pad(n);",
    'TORCH_CHECK(pad(n), "y");',
    "bool r = pad(n); n = 5;",
)
"""Statements after which `n` may be anything."""
AROUND = """
int64_t min(int64_t x, int64_t y) { return 0; }
bool no(int64_t x) { return false; }
bool pad(int& n) { n = 128; return true; }
template <class T> bool some(T x) { return true; }
bool some(std::string x) { return false; }
"""


@pytest.mark.parametrize(
    "body",
    [
        'TORCH_CHECK(a.size(1) == 64 && kind != "auto", "fine");',
        'TORCH_CHECK(b.size(1) == 64, "unknown");',
        'if (kind == "auto") { TORCH_CHECK(false, "elsewhere"); }',
        'if (b.dim() == 2) { TORCH_CHECK(false, "perhaps"); }',
        'if (b.dim() == 2) { return; } TORCH_CHECK(false, "perhaps");',
        'if (b.dim() == 2) { if (b.size(0) == 1) { return; } } TORCH_CHECK(false, "perhaps");',
        'launch(a); TORCH_CHECK(false, "after what is not read");',
        'return; TORCH_CHECK(false, "never");',
        'a = b; TORCH_CHECK(a.size(0) == 9, "another tensor");',
        'TORCH_CHECK(a.size(2) == 1, "no such dimension");',
        'TORCH_CHECK(a.stride(0) == 1, "not known");',
        'TORCH_CHECK(kind > "a", "no order of texts");',
        'MY_CHECK(false, "another macro");',
        *(f'int n = 5; {text} TORCH_CHECK(n == 128, "x");' for text in WRITES),
        'bool m = RETURN_IF_WRONG(3); TORCH_CHECK(false, "x");',
        'int m = ({ return; 1; }); TORCH_CHECK(false, "x");',
        'auto c = a.squeeze_(0); TORCH_CHECK(a.dim() == 1, "x");',
        'auto c = other(a); TORCH_CHECK(a.dim() == 1, "x");',
        'auto o = std::exchange(a, b); TORCH_CHECK(a.dim() == 1, "x");',
        'auto k = "fp8"; TORCH_CHECK(k == "auto", "two addresses");',
        'TORCH_CHECK("" && true, "an address is true");',
        'int64_t n = 5; TORCH_CHECK(std::min(n, n) == n, "not the function of this file");',
        'TORCH_CHECK(elsewhere::no(5), "nor this");',
        'auto no = [](int64_t) { return true; }; TORCH_CHECK(no(5), "nor this");',
        'TORCH_CHECK(some(kind), "one of several");',
    ],
)
def test_what_may_pass_is_not_told(body: str) -> None:
    assert failed(body) is None


def test_a_parameter_that_no_check_reads_does_not_count() -> None:
    assert written('TORCH_CHECK(a.dim() == 2, "a");').checked({}) == (True, False, False)
    assert written("launch(a, b);").checked({}) == ()


def test_the_definition_of_the_build_names_the_arguments() -> None:
    text = """
#ifdef USE_ROCM
void f(int64_t n, int64_t k) { TORCH_CHECK(n == 1, "rocm"); }
#else
void f(int64_t k, int64_t n) { TORCH_CHECK(n == 1, "cuda"); }
#endif
"""
    files = {"vllm/__init__.py": b"", "csrc/a.cu": text.encode(), "PKG-INFO": b""}
    function = read_host(Source("vllm", Held(files)), "f", ["csrc/a.cu"])
    assert function is not None
    assert function.failed((5, 1), {"USE_ROCM": None}) is None
    refused = function.failed((5, 1), {"USE_ROCM": 1})
    assert refused is not None
    assert refused.message == "rocm"
    assert function.failed((5, 1), {}) is None  # nobody knows which it is


def test_an_integer_that_is_passed_by_reference_is_not_followed() -> None:
    body = 'TORCH_CHECK(n == 3, "n");'
    assert written(body, "int64_t n").failed((4,), {}) == Refused("RuntimeError", "n", Site("csrc/a.cu", 2))
    assert written(body, "int64_t& n").failed((4,), {}) is None


SIZES = (0, 1, 64)
TESTS = st.sampled_from(
    ["a.size(0) == 64", "a.size(1) > 0", "b.size(0) == a.size(0)", "b.dim() == 2", 'kind == "fp8"']
)


@st.composite
def bodies(draw: st.DrawFn, depth: int = 2) -> str:
    lines: list[str] = []
    kinds = st.sampled_from(("check", "return", "let", "if")[: 4 if depth else 3])
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(kinds)
        if kind == "check":
            lines.append(f'TORCH_CHECK({draw(TESTS)}, "{len(lines)}");')
        elif kind == "if":
            other = f" else {{ {draw(bodies(depth - 1))} }}" if draw(st.booleans()) else ""
            lines.append(f"if ({draw(TESTS)}) {{ {draw(bodies(depth - 1))} }}{other}")
        else:
            lines.append("return;" if kind == "return" else f"int n{depth}{len(lines)} = a.size(0);")
    return "\n".join(lines)


@given(body=bodies())
def test_what_fails_with_a_part_unknown_fails_with_every_value_of_it(body: str) -> None:
    function = written(body)
    for rows in SIZES:
        part: dict[str, Value] = {"a": Tensor((rows, 64), HALF)}
        if function.failed(by_place(part), {}) is None:
            continue
        for size, dim, kind in product(SIZES, (1, 2), ("fp8", "auto")):
            whole = {**part, "b": Tensor((size, 2)[:dim], HALF), "kind": kind}
            assert function.failed(by_place(whole), {}) is not None


def test_the_cache_write_of_latent_attention(vllm_source: Source) -> None:
    """The check that a model without rotary dimensions met at its first forward; this release takes it."""
    from qtrace.tracer.native.build import Build
    from qtrace.tracer.native.ops import OpIndex

    build = Build("cuda", 13000)
    op = OpIndex.read(vllm_source, build).host("_C_cache_ops", "concat_and_cache_mla", ("CUDA", ""))
    assert op is not None

    def ask(rotary: int, kind: str) -> str | None:
        args: dict[str, Value] = {
            "kv_c": Tensor((None, 512), HALF),
            "k_pe": Tensor((None, rotary), HALF),
            "kv_cache": Tensor((None, 64, 656), 1),
            "kv_cache_dtype": kind,
            "slot_mapping": left_open("slots"),
        }
        known = tuple(args.get(name, left_open(name)) for name in op.params)
        refused = op.failed(known, build.facts(vllm_source))
        return refused and refused.message

    assert (ask(64, "fp8_ds_mla"), ask(0, "fp8_ds_mla")) == (None, None)
    assert ask(32, "fp8_ds_mla") == "pe_dim must be 64 or 0 for fp8_ds_mla"
    assert "kv_cache.size(2)" in str(ask(64, "auto"))
