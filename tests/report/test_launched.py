"""Base names of kernels, however they are printed or cut, and names that nobody would print."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, strategies as st
from kernel_names import RECORDED, WHEELS

from qtrace.report.launched import base_name, families

BASES = {
    "": "",
    "marlin::Marlin": "marlin::Marlin",
    "nvjet_sm90_tst_64x8_64x16_4x1_v_bz_NNT": "nvjet_sm90_tst_64x8_64x16_4x1_v_bz_NNT",
    "void f<int>(int*)": "f",
    "smxx::decode::get_metadata_kernel(GetDecodeSchedMetaParams)": "smxx::decode::get_metadata_kernel",
    "void (anonymous namespace)::f<c10::BFloat16, 16>(c10::BFloat16*)": "f",
    "at::native::(anonymous namespace)::f(int2*, (anonymous namespace)::T)": "at::native::f",
    "void at::native::<unnamed>::f<float, (int)6, (bool)0>(T2 *, const T1 *)": "at::native::f",
    "void vllm::f<c10::Half, &(c10::Half vllm::silu<c10::Half>(c10::Half const&))>(int)": "vllm::f",
    "void n::f<n::g(at::T&)::{lambda()#3}::operator()() const::{lambda(float)#1}, (n::E)2>(int)": "n::f",
    "std::enable_if<(((8)>(0)))&&n::T<c10::Half>::exists, void>::type n::f<c10::Half, 8>(long)": "n::f",
    "std::enable_if<((a)<(b)), void>::type n::f<8>(long)": "n::f",
    "std::enable_if<!T7, void>::type internal::gemvx::kernel<int, (bool)0>(T6)": "internal::gemvx::kernel",
    "decltype(nullptr) n::f<int>(int)": "n::f",
    "unsigned long f<&n::operator-><int>, &n::operator<< >(int)": "f",
    "void n::S<int>::f<float>(float)": "n::S::f",
    "void n::host(int)::f<float>(float)": "n::host::f",
    "f(int*) [clone .kd]": "f",
    "f [clone .kd]": "f",
    "f.kd": "f",
    "Memcpy DtoD (Device -> Device)": "Memcpy DtoD",
    "[CUDA memcpy HtoD]": "[CUDA memcpy HtoD]",
    "_ZN5aiter1fIiEEvi": "_ZN5aiter1fIiEEvi",
    # Cut by the recorder.
    "void marlin_moe_wna16::Marlin<1125899906909960l, 56...": "marlin_moe_wna16::Marlin",
    "std::enable_if<!(false), void>::type internal::gemvx::kernel<in": "internal::gemvx::kernel",
    "std::enable_if<(((8)>(0)))&&vllm::_ty": "std::enable_if<(((8)>(0)))&&vllm::_ty",
    "void vllm::moe::moe_align_block_size_small_b...": "vllm::moe::moe_align_block_size_small_b...",
}


@pytest.mark.parametrize(("printed", "base"), BASES.items())
def test_the_base_name_is_what_is_declared(printed: str, base: str) -> None:
    assert base_name(printed) == base


def declared(mangled: str) -> str:
    """The base name by the other way: the parts that the mangled name spells out, each behind its length."""
    rest, nested = mangled.removeprefix("_Z"), mangled.startswith("_ZN")
    rest, names = rest.removeprefix("N") if nested else rest, []
    while found := re.match(r"\d+", rest):
        end = found.end() + int(found[0])
        names.append(rest[found.end() : end])
        rest = rest[end:] if nested else ""
    return "::".join(name for name in names if "_GLOBAL_" not in name)


def test_printed_and_mangled_names_tell_the_same() -> None:
    printed = [row for row in WHEELS if row["printed"] != row["mangled"]]
    assert len(printed) > 350
    assert [row for row in printed if base_name(row["printed"]) != declared(row["mangled"])] == []


def test_a_cut_behind_the_base_name_does_not_change_it() -> None:
    tried = 0
    for name in RECORDED:
        head = f"void {base_name(name)}"
        if name.startswith(head):
            cuts = range(len(head), min(len(name), len(head) + 300), 7)
            assert {base_name(name[:cut]) for cut in cuts} <= {base_name(name)}
            tried += len(cuts)
    assert tried > 10_000


MILLION = 1_000_000
HOSTILE = {
    "open": "void f" + "<" * MILLION,
    "round": "(" * MILLION,
    "closed": ">)" * (MILLION // 2),
    "mixed": "a<(" * (MILLION // 3) + ">)" * (MILLION // 3),
    "scopes": "a::" * (MILLION // 3),
    "unnamed": "(a)::" * (MILLION // 5),
    "words": "a " * (MILLION // 2),
    "identifier": "a" * MILLION + "-",
    "operators": "operator()" * (MILLION // 10),
    "mangled": "_ZN" + "1a" * (MILLION // 2),
    "length": "_ZN" + "9" * MILLION,
    "gemm": "ampere_" + "gemm_" * (MILLION // 5) + ".",
    "cute": "kernel_cutlass_" + "FlashAttention" * (MILLION // 14),
    "reduce": "two_shot_all_reduce" + "_kernel" * (MILLION // 7) + ".",
    "fuser": "fused_" + "_11111111" * (MILLION // 9) + ".",
    "types": "void cutlass::device_kernel<" + "cutlass::fmha" * (MILLION // 13),
}


@pytest.mark.parametrize("printed", HOSTILE.values(), ids=HOSTILE)
def test_a_million_characters_take_no_minutes(printed: str) -> None:
    began = time.process_time()
    assert base_name(printed)
    assert len(families(printed)) < 2
    # What takes the square of the length takes hours.
    assert time.process_time() - began < 10


def test_ten_thousand_names_take_no_seconds() -> None:
    names = [f"{name}{at}>" for at, name in enumerate((RECORDED * 10)[:10_000])]
    began = time.process_time()
    assert sum(len(families(name)) for name in names) > 9_000
    assert time.process_time() - began < 5


@given(st.text(alphabet="af:<>(){}[] .->&_ZN1", max_size=40) | st.text(max_size=40))
def test_no_text_is_too_strange(printed: str) -> None:
    assert bool(base_name(printed)) == bool(printed)
    assert len(families(printed)) < 2
