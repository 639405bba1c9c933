"""Who claims a recorded kernel: exactly one operator of the release that ran, or one library's family."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from kernel_names import ENGINE
from packaging.version import Version

from qtrace.report.chain import Hop, HopKind, Why
from qtrace.report.claims import Claims, template_arguments
from qtrace.report.operator import Operator
from qtrace.tracer.native.build import Build
from qtrace.tracer.native.reach.table import table
from qtrace.tracer.snapshot.bundled import bundled
from qtrace.tracer.snapshot.file import Snapshot
from qtrace.tracer.sources import open_source

CACHE = Path(__file__).parents[2] / ".cache"
RELEASES = {"GH200": "0.33.0", "RTX 3090": "0.13.0", "B200": "0.13.0"}
"""A release that holds each recording's kernels: of December 2025, and of 0.23.1rc1 with changes."""
DEVICES = ("GH200", *(pytest.param(name, marks=pytest.mark.full) for name in ("RTX 3090", "B200")))


@cache
def _claims(version: str) -> Claims:
    build = Build("cuda", 13000)
    if Version(version) not in bundled("vllm"):
        return Claims(table(open_source(CACHE / f"vllm-{version}.tar.gz"), build).all())
    snapshot = Snapshot(bundled("vllm")[Version(version)])
    tell = snapshot.operators(build)
    assert tell is not None
    return Claims(filter(None, map(tell, dict(snapshot.header.native)[build].keys)))


@pytest.mark.parametrize("device", DEVICES)
def test_every_recorded_kernel_is_claimed_once(device: str) -> None:
    claims, times = _claims(RELEASES[device]), Counter[int]()
    for row in ENGINE:
        if row["device"] == device:
            found = claims.of(row["name"])
            assert len(found) == 1, (row["name"], found)
            times[len(found)] += round(1000 * float(row["microseconds"]))
    assert times[1] > 0


@pytest.mark.parametrize(
    ("device", "part", "operator"),
    [
        ("GH200", "marlin_moe_wna16::Marlin<", "torch.ops._moe_C.moe_wna16_marlin_gemm"),
        ("GH200", "vllm::act_and_mul_kernel<", "torch.ops._C.silu_and_mul"),
        ("GH200", "vllm::concat_and_cache_ds_mla_kernel<", "torch.ops._C_cache_ops.concat_and_cache_mla"),
        pytest.param(
            "B200",
            "vllm::scaled_fp8_quant_kernel_strided<",
            "torch.ops._C.static_scaled_fp8_quant",
            marks=pytest.mark.full,
        ),
    ],
)
def test_a_recorded_kernel_has_its_operator(device: str, part: str, operator: str) -> None:
    names = [row["name"] for row in ENGINE if row["device"] == device and part in row["name"]]
    assert names and {_claims(RELEASES[device]).operators(name) for name in names} == {(operator,)}


def _operator(symbol: str, *handed: str) -> Operator:
    kernel = Hop(kind=HopKind.GLOBAL_KERNEL, symbol="a::k", why=Why.LAUNCHES, handed=handed)
    return Operator(symbol=symbol, hops=(kernel,))


def test_template_arguments_tell_operators_apart() -> None:
    claims = Claims(
        [_operator("silu", "a::silu", "true"), _operator("gelu", "a::gelu", "true"), _operator("any")]
    )
    assert claims.of("void a::k<float, &(float a::silu<float>(float const&)), true>(float*)") == ("silu",)
    assert claims.of("void a::k<float, a::gelu, true>(float*)") == ("gelu",)
    assert claims.of("void a::k<float, a::gelu, false>(float*)") == ("silu", "gelu", "any")
    assert claims.of("void b::k<float>(float*)") == ()


@pytest.mark.parametrize(
    ("printed", "arguments"),
    [
        (
            "void f<int, g<a, b>, &(int h<int>(int, int)), 3>(int)",
            ("int", "g<a, b>", "&(int h<int>(int, int))", "3"),
        ),
        ("f(int)", ()),
        ("f", ()),
        ("", ()),
        ("f<a, b", ()),
        ("f>>><<<", ()),
    ],
)
def test_arguments_are_split_at_their_own_commas(printed: str, arguments: tuple[str, ...]) -> None:
    assert template_arguments(printed) == arguments
