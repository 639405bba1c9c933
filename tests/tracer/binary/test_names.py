"""Base names out of mangled ones, against what c++filt shows of vLLM's own kernels."""

from __future__ import annotations

import gzip
import random

import pytest
from binaries import DATA

from qtrace.tracer.binary.names import base_name

NAMES = [
    tuple(line.split("\t"))
    for line in gzip.decompress((DATA / "names.tsv.gz").read_bytes()).decode().splitlines()
]


def shown(demangled: str) -> str:
    """The base name in c++filt's text: what is in no bracket before the parameters, no return type."""
    text, within = "", ""
    for sign in demangled.replace("(anonymous namespace)::", ""):
        if sign == "(" and not within:
            break
        if sign == "(" or (sign == "<" and not within.endswith("(")):
            within += sign
        elif (sign == ")" and within) or (sign == ">" and within.endswith("<")):
            within = within[:-1]
        elif not within:
            text += sign
    return text.rpartition(" ")[2]


def test_all_kernels_of_the_recordings() -> None:
    found = {mangled: base_name(mangled) for mangled, _ in NAMES}
    assert found == {mangled: shown(demangled) for mangled, demangled in NAMES}
    assert len(set(found.values())) == 247


@pytest.mark.parametrize(
    ("mangled", "name"),
    [
        ("cumem_kernel", "cumem_kernel"),
        ("_Z23get_mla_metadata_kernel19Mla_metadata_params", "get_mla_metadata_kernel"),
        ("_ZN16marlin_moe_wna1613MarlinDefaultEPK4int4", "marlin_moe_wna16::MarlinDefault"),
        ("_ZN4vllm38_GLOBAL__N__6b53167d_6_ops_cu_240d8d5aL4copyIfEEvPT_", "vllm::copy"),
        ("_ZL4copyPf", "copy"),
        ("_ZSt4copyPf", "std::copy"),
        ("_ZNSt3__14copyIfEEvv", "std::__1::copy"),
        ("_ZN1AILi3EXadL_Z1fIiEvT_EELN1B1CE2EE6kernelIJlEEEvv", "A::kernel"),
        ("_ZN1AIXsr1BIiE5valueEE6kernelEv", "A::kernel"),
        ("_ZN1AIZN1BILi1EE1fEvEUlT_iE0_DpPFvvEDTcl1gLj7EEEE6kernelEv", "A::kernel"),
        ("_ZN1AB5cxx116kernelB3abcIfEEvv", "A::kernel"),
        ("_ZN2at6kernelIDnLDn0ELb1ELin5EA4_KcEEvv", "at::kernel"),
    ],
)
def test_names_of_every_kind(mangled: str, name: str) -> None:
    assert base_name(mangled) == name


@pytest.mark.parametrize(
    "mangled",
    [
        "_Z",
        "_ZN",
        "_ZNE",
        "_ZN4vllm",
        "_ZN99vllmE",
        "_ZN0E",
        "_ZN1AILi3E6kernelEv",
        "_ZN1AIE",
        "_ZN1AC1Ev",
        "_ZN1AplEv",
        "_ZZN1A1fEvENKUlvE_clEv",
        "_ZN" + "1A" + "I" * 100_000,
        "_Z" + "9" * 5_000 + "a",
    ],
)
def test_what_is_no_kernel_or_broken_stays_as_it_is(mangled: str) -> None:
    assert base_name(mangled) == mangled


def test_bent_names_give_some_name() -> None:
    chance = random.Random(0)
    for mangled, _ in NAMES:
        at = chance.randrange(len(mangled))
        for bent in (mangled[:at], mangled[:at] + chance.choice("EINLXSTZ_09a") + mangled[at + 1 :]):
            assert bent == "" or base_name(bent)
