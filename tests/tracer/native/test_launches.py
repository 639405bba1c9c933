"""What vLLM's operators launch, against the kernels in its wheels and against edges checked by hand."""

from __future__ import annotations

import csv
import gzip
import io
import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from packaging.version import Version

from qtrace.report.launched import families
from qtrace.report.model import Compatibility, Hop, HopKind, Operator
from qtrace.tracer.binary.architectures import loaded
from qtrace.tracer.native.build import Build
from qtrace.tracer.native.device import on_device
from qtrace.tracer.native.reach.table import Operators, table
from qtrace.tracer.snapshot.bundled import bundled
from qtrace.tracer.snapshot.file import Snapshot
from qtrace.tracer.sources import Source, open_source

ROOT = Path(__file__).parents[3]
DATA = ROOT / "tests" / "data" / "native"
BUILD = Build("cuda", 13000)
RELEASES = (pytest.param("0.26.0", marks=pytest.mark.full), "0.33.0")
ENGINE = ("_C_stable_libtorch", "_moe_C_stable_libtorch")


@cache
def _table(version: str) -> Operators:
    return table(open_source(ROOT / ".cache" / f"vllm-{version}.tar.gz"), BUILD)


@cache
def _operators(version: str) -> tuple[Operator, ...]:
    return tuple(_table(version).all())


def _compiled(version: str) -> set[str]:
    """The base names of the kernels that a wheel's own extensions hold."""
    return {row["kernel"] for row in _rows() if row["vllm"] == version and row["extension"] in ENGINE}


def _rows() -> list[dict[str, str]]:
    text = gzip.decompress((DATA / "compiled.tsv.gz").read_bytes()).decode()
    return list(csv.DictReader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE))


def _launched(operators: tuple[Operator, ...], kind: HopKind) -> set[str]:
    return {hop.symbol for operator in operators for hop in operator.hops if hop.kind is kind}


@pytest.mark.parametrize("version", RELEASES)
def test_every_kernel_of_the_wheel_is_launched_by_an_operator(version: str) -> None:
    compiled = _compiled(version)
    launched = _launched(_operators(version), HopKind.GLOBAL_KERNEL)
    libraries = {name for name in compiled - launched if families(name)}
    assert len(compiled) > 140
    assert compiled - launched - libraries == set()
    assert {families(name)[0].library for name in libraries} <= {"CUTLASS 2", "CUTLASS", "CUB and Thrust"}
    # Nothing is claimed that no wheel holds.
    assert launched - compiled == set()


def test_what_an_operator_launches_is_what_was_read_by_hand() -> None:
    with (DATA / "edges-0.33.0.tsv").open() as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    known = {(row["op"], row["end"]) for row in rows if row["verdict"] in ("right", "missed")}
    drawn = random.Random(0).sample(sorted(_table("0.33.0").names()), 40)
    assert set(drawn) == {op for op, _ in known}
    found = {
        (operator.symbol, end)
        for operator in _operators("0.33.0")
        if operator.symbol in drawn
        for end in ([hop.symbol for hop in operator.ends()] or ["-"])
    }
    assert found == known


def _ends(source: Source, name: str, capability: int) -> set[str]:
    found = table(source, BUILD).operator(name)
    assert found is not None
    return {hop.symbol for hop in on_device(found, capability).ends()}


@pytest.mark.parametrize(
    ("name", "capability", "ends"),
    [
        ("torch.ops._C.cutlass_scaled_mm", 80, {"cutlass::Kernel2"}),
        ("torch.ops._C.cutlass_scaled_mm", 89, {"cutlass::Kernel2"}),
        ("torch.ops._C.cutlass_scaled_mm", 90, {"cutlass::device_kernel"}),
        ("torch.ops._C.cutlass_scaled_mm", 120, {"cutlass::device_kernel"}),
        ("torch.ops._C.cutlass_scaled_mm", 70, set()),
        ("torch.ops._C.marlin_gemm", 90, {"marlin::Marlin", "marlin::MarlinDefault"}),
        ("torch.ops._C.machete_mm", 90, {"cutlass::device_kernel"}),
        ("torch.ops._C.machete_prepack_B", 90, {"machete::prepack_B_kernel"}),
        (
            "torch.ops._C_cache_ops.reshape_and_cache_flash",
            90,
            {"vllm::reshape_and_cache_flash_kernel", "vllm::reshape_and_cache_nvfp4_kernel"},
        ),
    ],
)
def test_the_device_decides(vllm_source: Source, name: str, capability: int, ends: set[str]) -> None:
    assert _ends(vllm_source, name, capability) == ends


def test_a_device_too_old_is_refused_in_the_words_of_the_check(vllm_source: Source) -> None:
    found = table(vllm_source, BUILD).operator("torch.ops._C.cutlass_scaled_mm")
    assert found is not None and on_device(found, 70).refused() and not on_device(found, 75).refused()
    (check,) = [hop for hop in on_device(found, 70).hops if hop.kind is HopKind.CHECK]
    assert check.symbol.startswith("NotImplementedError: No compiled cutlass_scaled_mm")


def test_what_a_script_writes_is_said(vllm_source: Source) -> None:
    notes = {
        name: [hop.note for hop in found.hops if hop.note and "writ" in hop.note]
        for name in ("torch.ops._C.machete_mm", "torch.ops._moe_C.moe_wna16_marlin_gemm")
        if (found := table(vllm_source, BUILD).operator(name)) is not None
    }
    assert set(notes["torch.ops._C.machete_mm"]) == {"written by csrc/quantization/machete/generate.py"}
    assert set(notes["torch.ops._moe_C.moe_wna16_marlin_gemm"]) == {
        "chosen in a file that csrc/quantization/marlin/generate_kernels.py writes"
    }


def test_a_quantized_cache_takes_the_kernel_of_its_dtype(vllm_source: Source) -> None:
    found = table(vllm_source, BUILD).operator("torch.ops._C_cache_ops.reshape_and_cache_flash")
    assert found is not None
    guards = {hop.symbol: str(hop.guard) for hop in found.hops if hop.kind is HopKind.GLOBAL_KERNEL}
    assert guards["vllm::reshape_and_cache_nvfp4_kernel"].startswith('kv_cache_dtype == "nvfp4"')
    assert 'kv_cache_dtype != "nvfp4"' in guards["vllm::reshape_and_cache_flash_kernel"]


@pytest.mark.full
@pytest.mark.parametrize(("platform", "least"), [("rocm", 120), ("cpu", 90)])
def test_other_platforms_have_their_own_operators(vllm_source: Source, platform: str, least: int) -> None:
    found = table(vllm_source, Build(platform))
    assert len(found.names()) >= least and not found.files.skipped
    hosts = [operator for operator in found.all() if operator.hops]
    assert len(hosts) > least * 0.9
    launched = _launched(tuple(hosts), HopKind.GLOBAL_KERNEL)
    assert ("wvSplitK_hf_sml_" in launched) is (platform == "rocm")
    assert bool(launched) is (platform == "rocm")


DEVICES = (80, 89, 90, 100, 120)
EXPLAINED = {("vllm::reshape_and_cache_nvfp4_kernel", 90)}
"""Kernels without code for a device, of which the build's script says so: FP4 is built for 10.0 and later."""


@pytest.mark.parametrize(
    ("version", "counts"),
    [
        pytest.param("0.26.0", (13, 16, 20, 16, 16), marks=pytest.mark.full),
        ("0.33.0", (8, 9, 12, 14, 14)),
    ],
)
def test_every_kernel_of_a_chain_has_code_for_the_device(version: str, counts: tuple[int, ...]) -> None:
    code = _code(version)
    found: dict[int, dict[str, Hop]] = {capability: {} for capability in DEVICES}
    for capability, operator in _of_chains(version):
        found[capability] |= {hop.symbol: hop for hop in operator.hops if hop.kind is HopKind.GLOBAL_KERNEL}
    assert tuple(map(len, found.values())) == counts
    held = {
        (symbol, capability): loaded(capability, code[symbol]).compatibility
        for capability, kernels in found.items()
        for symbol in kernels
    }
    missing = {place for place, compatibility in held.items() if compatibility is Compatibility.MISSING}
    assert missing == EXPLAINED
    for symbol, capability in missing:
        image = found[capability][symbol].image
        assert image is not None and image.compatibility is Compatibility.MISSING and image.site is not None


def _of_chains(version: str) -> Iterator[tuple[int, Operator]]:
    """What the chains of a release's grid launch, by device."""
    snapshot = Snapshot(bundled("vllm")[Version(version)])
    tell = snapshot.operators(BUILD)
    assert tell is not None
    asked = {
        (record.scenario.capability, op)
        for record in snapshot.records()
        if record.scenario.platform == "cuda" and record.scenario.capability in DEVICES
        for chain in record.report.chains
        for op in (*(op for o in chain.outcomes for op in o.ops), *(hop.symbol for hop in chain.hops))
    }
    for capability, op in asked:
        operator = tell(op)
        if operator is not None and capability is not None:
            yield capability, on_device(operator, capability)


def _code(version: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for row in _rows():
        if row["vllm"] == version:
            found.setdefault(row["kernel"], set()).update(row["code"].split())
    return found
