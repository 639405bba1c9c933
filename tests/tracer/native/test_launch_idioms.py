"""How C++ comes from a host function to a kernel: one small file for each idiom."""

from __future__ import annotations

import pytest

from qtrace.report.model import Hop, HopKind, Operator
from qtrace.tracer.native.build import Build
from qtrace.tracer.native.device import on_device
from qtrace.tracer.native.reach.table import Operators
from qtrace.tracer.sources import Held, Source

SM = """
inline int get_sm() {
  int major = 0, minor = 0;
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0);
  cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0);
  return major * 10 + minor;
}
"""
KERNELS = """
template <typename T> __global__ void one(T* x) { x[0] = 1; }
template <typename T, bool B> __global__ void __launch_bounds__(512) two(T* x) {}
__global__ void three(int* x) {}
"""
BINDING = """
STABLE_TORCH_LIBRARY_FRAGMENT(_C, m) { m.def("op(Tensor x) -> ()"); }
STABLE_TORCH_LIBRARY_IMPL(_C, CUDA, m) { m.impl("op", TORCH_BOX(&op)); }
"""


def operators(text: str, **files: str) -> Operators:
    """The operators of a source whose csrc holds `text`, in `op.cu`, and other files by name."""
    held = {
        "vllm/__init__.py": b"",
        "CMakeLists.txt": b"",
        "csrc/op.cu": (SM + KERNELS + text + BINDING).encode(),
    }
    held |= {f"csrc/{name.replace('__', '.')}": content.encode() for name, content in files.items()}
    return Operators(Source("vllm", Held(held)), Build("cuda", 13000))


def hops(text: str, capability: int | None = None, /, **files: str) -> tuple[Hop, ...]:
    found = operators(text, **files).operator("torch.ops._C.op")
    assert found is not None
    return on_device(found, capability).hops


def ends(text: str, capability: int | None = None, /, **files: str) -> list[tuple[str, str]]:
    """Each kernel or library that is reached, with its own condition."""
    return [
        (hop.symbol, str(hop.guard))
        for hop in hops(text, capability, **files)
        if hop.kind in (HopKind.GLOBAL_KERNEL, HopKind.EXTERNAL)
    ]


@pytest.mark.parametrize(
    ("text", "reached"),
    [
        ("void op(T x) { one<int><<<1, 2>>>(x); }", [("one", "always")]),
        ("void op(T x) { auto k = &two<int, true>; k<<<1, 2, 0, s>>>(x); }", [("two", "always")]),
        ("void op(T x) { cudaLaunchKernelEx(&config, two<int, false>, x); }", [("two", "always")]),
        (
            "void op(T x) { auto k = wide ? one<int> : three; k<<<1, 2>>>(x); }",
            [("one", "wide"), ("three", "not wide")],
        ),
        # Asked about, not launched.
        (
            "void op(T x) { cudaFuncSetAttribute(one<int>, a, 1); "
            "cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, three, 1, 0); two<int, true><<<1, 1>>>(x); }",
            [("two", "always")],
        ),
        # A macro, and a macro's name handed to a macro.
        (
            "#define CALL(T, B) two<T, B><<<1, 1>>>(x)\n#define EACH(FN, T) FN(T, true); FN(T, false)\n"
            "void op(T x) { EACH(CALL, int); }",
            [("two", "always")],
        ),
        # The same macro written anew within the function.
        (
            "void op(T x) {\n#define GO() one<int><<<1, 1>>>(x)\n  if (a) { GO(); }\n#undef GO\n"
            "#define GO() three<<<1, 1>>>(x)\n  if (b) { GO(); }\n}",
            [("one", "a"), ("three", "b")],
        ),
        # torch's dispatch, for one dtype each.
        (
            'void op(T x) { AT_DISPATCH_SWITCH(x.scalar_type(), "op", AT_DISPATCH_CASE(at::ScalarType::Half, '
            "[&] { one<scalar_t><<<1, 1>>>(x); }) AT_DISPATCH_CASE(at::ScalarType::Float, [&] { "
            "three<<<1, 1>>>(x); })); }",
            [("one", "x.scalar_type() == float16"), ("three", "x.scalar_type() == float32")],
        ),
        (
            "void op(T x) { switch (n) { case 1: case 2: one<int><<<1, 1>>>(x); break; default: "
            "three<<<1, 1>>>(x); } }",
            [("one", "n == 1 or n == 2"), ("three", "n != 1 and n != 2")],
        ),
        # What both arms of a branch reach hangs on nothing.
        (
            "void op(T x) { if (a) { one<int><<<1, 1>>>(x); } else { one<float><<<1, 1>>>(x); } }",
            [("one", "always")],
        ),
        # A number may stand at the left; what is never true is not there.
        ("void op(T x) { if (16 >= n) { one<int><<<1, 1>>>(x); } }", [("one", "n <= 16")]),
        (
            "void op(T x) { if (false) { one<int><<<1, 1>>>(x); } if (true) { three<<<1, 1>>>(x); } }",
            [("three", "always")],
        ),
        # A branch that leaves.
        (
            "void op(T x) { if (a) { one<int><<<1, 1>>>(x); return; } three<<<1, 1>>>(x); }",
            [("one", "a"), ("three", "not a")],
        ),
        # Behind a check that never holds nothing is reached.
        (
            'void op(T x) { if (a) { one<int><<<1, 1>>>(x); } else { TORCH_CHECK(false, "no"); } '
            "three<<<1, 1>>>(x); }",
            [("one", "a"), ("three", "a")],
        ),
        # A method, a functor, a class that a template is handed.
        (
            "struct S { static void run(T x) { one<int><<<1, 1>>>(x); } void operator()(T x) const { "
            "three<<<1, 1>>>(x); } };\ntemplate <class Q> void go(T x) { Q::run(x); }\n"
            "void op(T x) { go<S>(x); S s; s(x); }",
            [("one", "always"), ("three", "always")],
        ),
        # A pointer that a function gives back.
        (
            "using F = void (*)(T);\nstatic void f(T x) { one<int><<<1, 1>>>(x); }\n"
            "F pick(int n) { switch (n) { case 1: return f; } return nullptr; }\n"
            "void op(T x) { auto f = pick(1); f(x); }",
            [("one", "always")],
        ),
        # Libraries: CUTLASS 3 and 2 behind the same adapter, CUB asked for its size and called.
        (
            "void op(T x) { using G = cutlass::gemm::device::GemmUniversalAdapter<K>; G g; g.run(x); }",
            [("cutlass::device_kernel", "always")],
        ),
        (
            "template <class A> struct Two { using K = typename "
            "cutlass::gemm::kernel::DefaultGemmWithVisitor<A>::GemmKernel; "
            "using Op = cutlass::gemm::device::GemmUniversalAdapter<K>; };\n"
            "template <class G> void call(T x) { typename G::Op op; op(x); }\n"
            "void op(T x) { call<Two<int>>(x); }",
            [("cutlass::Kernel2", "always")],
        ),
        ("void op(T x) { cub::DeviceRadixSort::SortPairs(nullptr, n); }", []),
        ("void op(T x) { cub::DeviceRadixSort::SortPairs(p, n); }", [("cub::", "always")]),
        # Another namespace's function of the same name is not meant.
        (
            "namespace a { void run(T x) { one<int><<<1, 1>>>(x); } }\n"
            "namespace b { void run(T x) { three<<<1, 1>>>(x); } void go(T x) { run(x); } }\n"
            "void op(T x) { b::go(x); }",
            [("three", "always")],
        ),
        # Overloads by the number of their arguments.
        (
            "void run(T x) { one<int><<<1, 1>>>(x); }\nvoid run(T x, int n) { three<<<1, 1>>>(x); }\n"
            "void op(T x) { run(x, 1); }",
            [("three", "always")],
        ),
        # A case that goes on with the next; a default that leaves where another case does not.
        (
            "void op(T x) { switch (n) { case 1: one<int><<<1, 1>>>(x); case 2: three<<<1, 1>>>(x); break; "
            'default: TORCH_CHECK(false, "no"); } two<int, true><<<1, 1>>>(x); }',
            [("one", "n == 1"), ("three", "n == 1 or n == 2"), ("two", "always")],
        ),
        (
            "void op(T x) { switch (n) { case 1: { one<int><<<1, 1>>>(x); return; } case 2: "
            "if (a) { break; } return; default: return; } three<<<1, 1>>>(x); }",
            [("one", "n == 1"), ("three", "always")],
        ),
        # What is computed only where what stands left of it holds.
        (
            "bool run(T x) { one<int><<<1, 1>>>(x); return true; }\n"
            "void op(T x) { if (a || (b && run(x))) { return; } three<<<1, 1>>>(x); }",
            [("one", "always"), ("three", "not a and (not b or not run(x))")],
        ),
        # Variables that are set anew, or that another function has by the same name.
        (
            "void op(T x, int n) { if (n == -1) { n = pick(); if (n == 64) { one<int><<<1, 1>>>(x); } } }",
            [("one", "at first n == -1 and n == 64")],
        ),
        (
            "void f(T x, int n) { if (n > 4) { one<int><<<1, 1>>>(x); } else { three<<<1, 1>>>(x); } }\n"
            "void op(T x, int n) { if (n > 4) { f(x, n / 2); } }",
            [("one", "n > 4"), ("three", "n <= 4")],
        ),
        (
            "void f(T x, int n) { if (n > 4) { one<int><<<1, 1>>>(x); } else { three<<<1, 1>>>(x); } }\n"
            "void op(T x, int n) { if (n > 4) { f(x, n); } }",
            [("one", "always")],
        ),
        # A truth that is another one when it is asked for; one that is constant.
        (
            "void op(T x) { bool ok = false; ask(&ok); if (ok) { one<int><<<1, 1>>>(x); } }",
            [("one", "ok")],
        ),
        (
            "void op(T x) { constexpr bool ok = false; if (ok) { one<int><<<1, 1>>>(x); } else "
            "{ three<<<1, 1>>>(x); } }",
            [("three", "always")],
        ),
        (
            "void go(T x, bool b) { b = !b; if (b) { one<int><<<1, 1>>>(x); } }\n"
            "void op(T x) { go(x, false); }",
            [("one", "b")],
        ),
        # Lines that may not be compiled say nothing of what comes after them.
        (
            "void op(T x) {\n#ifdef FOO\n  one<int><<<1, 1>>>(x);\n  return;\n#endif\n"
            "  three<<<1, 1>>>(x);\n}",
            [("one", "#ifdef FOO"), ("three", "always")],
        ),
        (
            "void op(T x) {\n#ifdef FOO\n  if (a) { one<int><<<1, 1>>>(x); return; }\n"
            "  three<<<1, 1>>>(x);\n#endif\n}",
            [("one", "#ifdef FOO and a"), ("three", "#ifdef FOO and not a")],
        ),
        # A macro that stands for the name of another one.
        (
            "#define GO RUN\n#define RUN(x) three<<<1, 1>>>(x)\nvoid op(T x) { GO(x); }",
            [("three", "always")],
        ),
        # Classes that are made from each other.
        (
            "struct A : B {}; struct B : A {};\ntemplate <class Q> void go(T x) { Q::run(x); }\n"
            "void op(T x) { go<A>(x); three<<<1, 1>>>(x); }",
            [("three", "always")],
        ),
    ],
)
def test_a_launch_is_found(text: str, reached: list[tuple[str, str]]) -> None:
    assert ends(text) == reached


DISPATCH = """
void old(T x) { three<<<1, 1>>>(x); }
void op(T x) {
  const int sm = get_sm();
  if (sm >= 90) {
    if (x.scalar_type() == ScalarType::Half) { one<int><<<1, 1>>>(x); return; }
    two<int, true><<<1, 1>>>(x);
    return;
  }
  if (get_device_prop()->major >= 8) { old(x); return; }
  TORCH_CHECK_NOT_IMPLEMENTED(false, "needs a newer device");
}
"""


def test_a_device_reaches_what_its_capability_allows() -> None:
    assert ends(DISPATCH, 90) == [
        ("one", "x.scalar_type() == float16"),
        ("two", "x.scalar_type() != float16"),
    ]
    assert ends(DISPATCH, 86) == [("three", "always")]
    assert ends(DISPATCH, 75) == []
    raised = [hop for hop in hops(DISPATCH, 75) if hop.kind is HopKind.CHECK]
    assert [(hop.symbol, str(hop.guard)) for hop in raised] == [("needs a newer device", "always")]


@pytest.mark.parametrize(
    "asked",
    [
        "get_sm() >= 90",
        "!(get_sm() < 90)",
        "get_device_prop()->major >= 9",
        "get_device_prop()->major * 10 + get_device_prop()->minor >= 90",
    ],
)
def test_behind_a_check_on_the_device_stands_what_it_lets_through(asked: str) -> None:
    text = f'void op(T x) {{ STD_TORCH_CHECK({asked}, "too old"); one<int><<<1, 1>>>(x); }}'
    assert ends(text, 90) == [("one", "always")]
    assert ends(text, 80) == []
    assert operators(text).operator("torch.ops._C.op") is not None


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("int sm = get_sm(); sm = x.size(0);", "sm >= 90"),
        ("auto v = lib_version();", "v.major >= 9"),
        ("int cuda_major = 12;", "cuda_major * 10 + cuda_minor >= 90"),
        ("int capability = 3;", "capability >= 90"),
        ("", "is_new() == 1"),
    ],
)
def test_other_numbers_are_not_the_capability(text: str, asked: str) -> None:
    new = "int is_new() { int v = p->major * 10 + p->minor; return v > 90 ? 1 : 0; }"
    body = f"{new} void op(T x) {{ {text} if ({asked}) {{ one<int><<<1, 1>>>(x); }} }}"
    assert len(ends(body, 80)) == len(ends(body, 90)) == 1
    assert ends(body, 90)[0][1] != "always"


def test_a_function_that_is_handed_nothing_refuses() -> None:
    text = """
    template <typename A, typename B> void dispatch(T x, A fp8, B int8) {
      if (x.scalar_type() == ScalarType::Float8_e4m3fn) { fp8(x); }
      else if constexpr (!std::is_same_v<B, std::nullptr_t>) { int8(x); }
      else { TORCH_CHECK(false, "no int8 here"); }
    }
    void f(T x) { one<int><<<1, 1>>>(x); }
    void g(T x) { three<<<1, 1>>>(x); }
    void op(T x) { if (get_sm() >= 100) { dispatch(x, f, nullptr); } else { dispatch(x, f, g); } }
    """
    assert [end for end, _ in ends(text, 90)] == ["one", "three"]
    assert [end for end, _ in ends(text, 100)] == ["one"]
    assert [h.symbol for h in hops(text, 100) if h.kind is HopKind.CHECK] == ["no int8 here"]
    assert not [h for h in hops(text, 90) if h.kind is HopKind.CHECK]


def test_a_declaration_leads_to_another_file() -> None:
    text = '#include "decl.h"\nvoid op(T x) { far::away(x); }'
    body = "__global__ void four(int* x) {}\nvoid away(T x) { four<<<1, 1>>>(x); }"
    there = f'#include "decl.h"\nnamespace far {{ {body} }}'
    assert ends(text, decl__h="namespace far { void away(T x); }", there__cu=there) == [
        ("far::four", "always")
    ]
    # Nobody declared it: then it is another's.
    assert ends("void op(T x) { far::away(x); }", there__cu=there) == []


def test_what_a_script_writes_is_claimed_for_it() -> None:
    script = 'NAME = "selector.h"\nTEXT = "kernel = two<{{a}}>;"\n'
    text = 'void op(T x) { auto kernel = three;\n#include "selector.h"\n  kernel<<<1, 1>>>(x); }'
    found = hops(text, generate__py=script)
    written = [h for h in found if h.kind is HopKind.GLOBAL_KERNEL and h.note]
    assert [(h.symbol, h.note) for h in written] == [("two", "chosen in a file that csrc/generate.py writes")]


def test_a_hop_has_the_line_that_calls_and_the_line_that_defines() -> None:
    text = "void f(T x) {\n  one<int><<<1, 1>>>(x);\n}\nvoid op(T x) {\n  f(x);\n}"
    start = (SM + KERNELS).count("\n") + 1
    first, inner, kernel = hops(text)
    assert (first.symbol, first.defined and first.defined.line) == ("op", start + 3)
    assert (inner.symbol, inner.site and inner.site.line) == ("f", start + 4)
    assert (kernel.site and kernel.site.line, kernel.defined and kernel.defined.line) == (start + 1, 9)


_LOST = ("unbalanced", "endif", "braces", "deep scopes")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("unbalanced", "#if defined(A)\nvoid op(T x) { one<int><<<1, 1>>>(x);"),
        ("endif", "#endif\nvoid op(T x) { one<int><<<1, 1>>>(x); }"),
        ("braces", "void op(T x) { { { one<int><<<1, 1>>>(x); } "),
        ("deep", "void op(T x) { " + "if (a) { " * 3000 + "one<int><<<1, 1>>>(x);" + "}" * 3000 + "}"),
        ("deep scopes", "namespace a { " * 3000 + "}" * 3000 + "void op(T x) {}"),
        ("recursion", "void g(T x);\nvoid f(T x) { g(x); }\nvoid g(T x) { f(x); }\nvoid op(T x) { f(x); }"),
        ("macro of itself", "#define A B\n#define B A A\nvoid op(T x) { A; }"),
        (
            "growing macro",
            "".join(f"#define M{n} M{n + 1} M{n + 1}\n" for n in range(40)) + "void op(T x) { M0; }",
        ),
        ("binary", "void op(T x) { \x00\xff\ufffe one<int><<<1, 1>>>(x); }"),
    ],
)
def test_malformed_text_is_read_as_far_as_it_goes(name: str, text: str) -> None:
    found = operators(text)
    assert found.operator("torch.ops._C.op") is not None or name in _LOST
    if name in ("unbalanced", "endif"):
        assert found.files.skipped[0].startswith("csrc/op.cu: #")


def test_a_generated_file_of_ten_megabytes_is_left_out_and_said() -> None:
    found = operators("void op(T x) { one<int><<<1, 1>>>(x); }", huge__cu="int x = 1;\n" * 1_000_000)
    assert found.files.skipped == ("csrc/huge.cu: longer than 2000000 bytes",)
    told = found.operator("torch.ops._C.op")
    assert told is not None and "csrc/huge.cu" in told.cut[0]


ASSERT = """
#define ASSERT(test) do { if (not (test)) { throw Error("assertion", __FILE__, #test); } } while (0)
#define NEVER(why) (throw Error("assertion", __FILE__, why))
"""


def checks(body: str, capability: int | None = None) -> list[tuple[str, str]]:
    text = f"{ASSERT}void op(T x, int m, int n) {{ {body} one<int><<<1, 1>>>(x); }}"
    return [(hop.symbol, str(hop.guard)) for hop in hops(text, capability) if hop.kind is HopKind.CHECK]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ('if (m) { throw std::runtime_error("no m"); g(); }', [("no m", "m")]),
        ("if (m) { two<int, true><<<1, 1>>>(x); } else { NEVER(\"else\"); }", [("assertion: else", "not m")]),
        # What asks for no dtype and no capability is no condition of a device's.
        ("ASSERT(m == 3);", []),
        ('if (m) throw std::runtime_error("no m");', []),
        ("ASSERT(get_sm() >= 90);", [("assertion: get_sm() >= 90", "capability < 90")]),
        ("ASSERT(x.scalar_type() == at::kHalf);", [
            ("assertion: x.scalar_type() == at::kHalf", "x.scalar_type() != float16")
        ]),
        # After a switch without a default none of its cases holds, if each of them leaves.
        ('switch (m) { case 1: return; case 2: return; } if (n) { g(); NEVER("m"); }', [
            ("assertion: m", "m != 1 and m != 2 and n")
        ]),
        # Where a loop or an arm may have returned, nothing raises for sure.
        ('for (int i : v) { if (i) return; } if (n) { g(); NEVER("v"); }', [
            ("assertion: v", "n and nothing before it returns")
        ]),
        ('if (m) { if (n) return; g(); } else { g(); } if (n) { g(); NEVER("n"); }', [
            ("assertion: n", "n and nothing before it returns")
        ]),
    ],
)  # fmt: skip
def test_what_is_thrown_is_a_check(body: str, told: list[tuple[str, str]]) -> None:
    assert checks(body) == told


def operator_on(text: str, capability: int) -> Operator:
    found = operators(text).operator("torch.ops._C.op")
    assert found is not None
    return on_device(found, capability)


DEVICE = "if (get_sm() >= 90) { one<int><<<1, 1>>>(x); } else"
CAUGHT = "try { hop(x); } catch (...) { three<<<1, 1>>>(x); }"


@pytest.mark.parametrize(
    ("body", "raises"),
    [
        (f'{DEVICE} {{ throw Error("no"); }}', True),
        (f'if (m == 0) {{ return; }} {DEVICE} {{ throw Error("no"); }}', True),
        (f'if (x.numel() == 0) return; three<<<1, 1>>>(x); {DEVICE} {{ throw Error("no"); }}', True),
        # What is caught, what is not come to, and what the caller chooses.
        (f'try {{ {DEVICE} {{ throw Error("no"); }} }} catch (...) {{ at::mm(x); }}', False),
        (f'try {{ {DEVICE} {{ at::mm(x); }} }} catch (const E& e) {{ throw Error("failed"); }}', False),
        (f'auto fail = [&]() {{ throw Error("no"); }}; {DEVICE} {{ at::mm(x); }}', False),
        (f'struct F {{ void f() {{ throw Error("no"); }} }}; {DEVICE} {{ at::mm(x); }}', False),
        (
            f'try {{ if (m) {{ at::mm(x); return; }} }} catch (E) {{}} {DEVICE} {{ throw Error("no"); }}',
            False,
        ),
        (
            f'for (auto d : v) {{ if (a(d)) continue; throw Error("no"); }} {DEVICE} {{ at::mm(x); }}',
            False,
        ),
        (f'while (true) {{ if (m) break; throw Error("no"); }} {DEVICE} {{ at::mm(x); }}', False),
        (f'three<<<1, 1>>>(x); for (auto& t : v) {{ {DEVICE} {{ throw Error("no"); }} }}', False),
        (f'three<<<1, 1>>>(x); if (!plain) {{ {DEVICE} {{ throw Error("no"); }} }}', False),
        (f'if (mode == 0) {{ at::mm(x); return; }} {DEVICE} {{ throw Error("no"); }}', False),
        (f'if (mode == 0) {{ return at::mm(x); }} {DEVICE} {{ throw Error("no"); }}', False),
        (f'switch (m) {{ case 0: {DEVICE} {{ at::mm(x); }} break; default: throw Error("m"); }}', False),
        (CAUGHT, False),
    ],
)
def test_what_raises_on_a_device_raises_whatever_else_is_asked_for(body: str, raises: bool) -> None:
    text = f'void hop(T x) {{ {DEVICE} {{ throw Error("no"); }} }} void op(T x, int m) {{ {body} }}'
    operator = operator_on(text, 80)
    assert bool(operator.refused() or operator.barred) is raises
    able = operator_on(text, 90)
    assert not able.refused() and not able.barred


def test_what_comes_after_a_check_that_throws_stands_under_it() -> None:
    text = f"{ASSERT}void op(T x) {{ ASSERT(get_sm() >= 90); one<int><<<1, 1>>>(x); }}"
    assert ends(text) == [("one", "capability >= 90")]
    assert ends(text, 80) == []


PAIR = """
struct Device {
  Prop* get_prop() { return prop; }
  std::pair<int, int> get_pair() { const auto prop = get_prop(); return {prop->major, prop->minor}; }
  int get_major() { return get_pair().first; }
  int get_minor() { return get_pair().second; }
};
static auto device = Lazy<Device>();
"""


@pytest.mark.parametrize(
    ("call", "told"),
    [
        ("get_major", "capability // 10 == 9"),
        ("get_minor", "device->get_minor() == 9"),
    ],
)
def test_a_method_gives_the_capability_back(call: str, told: str) -> None:
    text = f"{PAIR}void op(T x) {{ if (device->{call}() == 9) {{ one<int><<<1, 1>>>(x); }} }}"
    assert ends(text) == [("one", told)]


@pytest.mark.parametrize(
    "before",
    [
        "struct Version { int get_major(); }; void op(T x, Version* device)",
        "static auto other = Lazy<Library>(); int f(); void op(T x, Other* device)",
    ],
)
def test_a_method_of_what_is_handed_is_not_followed(before: str) -> None:
    text = f"{PAIR}{before} {{ if (device->get_major() == 9) {{ one<int><<<1, 1>>>(x); }} }}"
    assert ends(text) == [("one", "device->get_major() == 9")]


def test_a_number_that_is_given_back_beside_the_capability_is_one_more() -> None:
    sm = 'int sm() { if (getenv("SM")) return 9; return device_prop.major; }'
    text = f"{sm} void op(T x) {{ if (sm() == 9) {{ one<int><<<1, 1>>>(x); }} }}"
    assert ends(text, 80) == [("one", "sm() == 9")]


def test_a_method_that_two_classes_have_is_not_followed() -> None:
    other = "struct Other { int get_major() { return 3; } };"
    text = f"{PAIR}{other}void op(T x) {{ if (device->get_major() == 9) {{ one<int><<<1, 1>>>(x); }} }}"
    assert ends(text) == [("one", "device->get_major() == 9")]


JIT = """
template <typename Derived> struct Runtime {
  static std::string generate(const Args& args) { return Derived::written(args); }
};
struct One final: public Runtime<One> {
  static std::string written(const Args& args) {
    return format(R"(auto kernel = reinterpret_cast<void*>(&one<{}, {}>);)", args.a, args.b);
  }
};
struct Two final: public Runtime<Two> {
  static std::string written(const Args& args) { return format(R"(auto kernel = &two<{}>;)", args.a); }
};
"""


TEXTS = [
    ('R"(// was &three<1>\nauto k = &one<{}>;)"', ["one"]),
    ('R"(auto k = &b::four<3>;)"', ["b::four"]),
    ('R"(auto k = reinterpret_cast<void*>(&three);)"', ["three"]),
    ('R"(see &one<int> and &three)"', []),
]


@pytest.mark.parametrize(("text", "reached"), TEXTS)
def test_kernels_whose_address_a_text_takes(text: str, reached: list[str]) -> None:
    both = "namespace a { __global__ void four(int* x) {} } namespace b { __global__ void four(int* x) {} }"
    assert [end for end, _ in ends(f"{both} void op(T x) {{ compile({text}); }}")] == reached


def test_a_text_in_a_check_is_no_code() -> None:
    text = 'void op(T x) { TORCH_CHECK(x.is_cuda(), R"(auto k = &one<int>;)"); three<<<1, 1>>>(x); }'
    assert [end for end, _ in ends(text)] == ["three"]


def test_attributes_of_branches_say_nothing() -> None:
    text = 'void op(T x) { if (get_sm() < 90) [[unlikely]] { throw Error("no"); } one<int><<<1, 1>>>(x); }'
    assert ends(text, 80) == [] and len(ends(text, 90)) == 1


def test_a_base_class_is_taken_apart_at_its_own_commas() -> None:
    base = JIT.replace("template <typename Derived>", "template <typename C, typename Derived>")
    made = base.replace("public Runtime<One>", "public Runtime<Cfg<int, Two, float>, One>")
    text = (
        f"{made.replace('Runtime<Two>', 'Runtime<C, Two>')}void op(T x) {{ auto code = One::generate(a); }}"
    )
    assert ends(text) == [("one", "always")]


def test_a_kernel_written_as_text_is_that_of_the_class_that_is_named() -> None:
    text = f"{JIT}void op(T x) {{ auto code = Two::generate(args); }}"
    assert ends(text) == [("two", "always")]
