"""A CPU's features decide which extension module is loaded, and so which ops there are."""

from __future__ import annotations

import pytest

from qtrace.tracer.native.build import Build
from qtrace.tracer.native.cpuid import asked_feature
from qtrace.tracer.native.ops import OpIndex
from qtrace.tracer.native.targets import cpu_facts
from qtrace.tracer.sources import Held, Source

CMAKE = """
if (CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|amd64" OR ENABLE_X86)
    set(ENABLE_X86 ON)
    list(APPEND FLAGS "-mavx512f")
    list(APPEND WIDE ${FLAGS} "-mavx512bf16")
    check_cxx_compiler_flag("-mamx-fp8" HAS_FP8)
    if (HAS_FP8)
        list(APPEND WIDE "-mamx-fp8")
    endif()
endif()
if (ENABLE_X86)
    define_extension_target(_C SOURCES ${SRC} COMPILE_FLAGS ${WIDE} WITH_SOABI)
    define_extension_target(_C_PLAIN SOURCES ${SRC} COMPILE_FLAGS ${FLAGS} WITH_SOABI)
endif()
"""
BINDINGS = """
TORCH_LIBRARY(_C, ops) {
#if defined(__AVX512BF16__)
  ops.def("narrow(Tensor a) -> Tensor");
#endif
#if defined(__AVX512F__) || defined(__riscv_v)
  ops.def("wide(Tensor a, int n, *, int[] sizes=[1, 2]) -> Tensor");
#endif
#if defined(__AMX_FP8__)
  ops.def("newest() -> ()");
#endif
#if defined(__aarch64__) && !defined(__APPLE__)
  ops.def("arm() -> bool", &arm);
#endif
  ops.def("asks() -> bool", &asks);
}
"""
ASKING = """
#if defined(__x86_64__)
bool bit() {
  unsigned int eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid_count(0x1e, 1, &eax, &ebx, &ecx, &edx)) {
    return (eax >> BIT) & 1u;
  }
  return false;
}
bool asks() { return bit(); }
#else
bool asks() { return false; }
#endif
"""


def engine(bit: int = 4) -> Source:
    files = {
        "PKG-INFO": b"",
        "vllm/__init__.py": b"",
        "cmake/cpu_extension.cmake": CMAKE.encode(),
        "csrc/cpu/torch_bindings.cpp": BINDINGS.encode(),
        "csrc/cpu/isa.cpp": ASKING.replace("BIT", str(bit)).encode(),
    }
    return Source("vllm", Held(files))


@pytest.mark.parametrize(
    ("machine", "extension", "ops"),
    [
        ("x86_64", "_C", {"narrow": True, "wide": True, "newest": None, "arm": False}),
        ("x86_64", "_C_PLAIN", {"narrow": False, "wide": True, "newest": False, "arm": False}),
        ("aarch64", "_C", {"narrow": False, "wide": False, "newest": False, "arm": True}),
        ("riscv64", "_C", {"narrow": False, "wide": None, "newest": False, "arm": False}),
    ],
)
def test_options_of_the_compiler_decide_which_ops_there_are(
    machine: str, extension: str, ops: dict[str, bool | None]
) -> None:
    index = OpIndex.read(engine(), Build("cpu", None, machine, extension))
    assert {name: index.defines("_C", name) for name in ops} == ops


def test_an_option_brings_the_macros_of_what_it_needs() -> None:
    facts = cpu_facts(engine(), "x86_64", "_C")
    assert facts["__AVX512F__"] == facts["__AVX2__"] == facts["__x86_64__"] == 1
    assert facts["__aarch64__"] is None and "__AMX_FP8__" not in facts


def test_a_schema_says_how_many_arguments_an_op_takes() -> None:
    index = OpIndex.read(engine(), Build("cpu", None, "x86_64", "_C"))
    found = index.get("_C", "wide"), index.get("_C", "asks")
    assert [op.limit for op in found if op is not None] == [3, 0]


@pytest.mark.parametrize(("bit", "feature"), [(4, "amx_fp8"), (5, None)])
def test_a_bit_of_the_processor_is_a_feature(bit: int, feature: str | None) -> None:
    source, build = engine(bit), Build("cpu", None, "x86_64", "_C")
    predicate = OpIndex.read(source, build).predicate("_C", "asks")
    assert predicate is not None
    assert asked_feature(source, predicate.answer({}, build.facts(source))) == feature


def test_on_another_architecture_the_bit_is_not_asked() -> None:
    source, build = engine(), Build("cpu", None, "aarch64", "_C")
    predicate = OpIndex.read(source, build).predicate("_C", "asks")
    assert predicate is not None and predicate.decide({}, build.facts(source)) is False
