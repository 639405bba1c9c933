"""The chain of `--kv-cache-dtype`: resolution, backends with their reasons, the cache, refusals."""

from __future__ import annotations

from typing import Any

from qtrace.report.model import CandidateState, Chain
from qtrace.report.predicate import Member
from qtrace.tracer.answer import report, walked
from qtrace.tracer.library import Library
from qtrace.tracer.scenario import Scenario

CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "torch_dtype": "bfloat16",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
}
FP8 = {"quant_method": "fp8", "activation_scheme": "static"}
BACKENDS = "vllm.v1.attention.backends"


def ask(
    library: Library,
    dtype: str,
    capability: int | None = 90,
    quant: dict[str, Any] | None = None,
    **asked: Any,
) -> Chain:
    """The attention chain of a Llama checkpoint."""
    scenario = Scenario(
        quantization=None if quant is None else quant["quant_method"],
        kv_cache_dtype=dtype,
        capability=capability,
        model={**CONFIG, **({} if quant is None else {"quantization_config": quant})},
        layer="attention",
        cuda=13000,
        **{"profile": "wheel", **asked},
    )
    (chain,) = report(walked(library, scenario), {}).chains
    return chain


def states(chain: Chain) -> dict[str, CandidateState]:
    (choice,) = chain.choices
    return {candidate.symbol: candidate.state for candidate in choice.candidates}


def test_fp8_on_hopper_takes_flash_attention(library: Library) -> None:
    chain = ask(library, "fp8", quant=FP8)
    (outcome,) = chain.outcomes
    assert outcome.method == "vllm.model_executor.layers.quantization.fp8.Fp8KVCacheMethod"
    assert {k.attribute: k.symbol for k in outcome.kernels} == {
        "attn_backend": f"{BACKENDS}.flash_attn.FlashAttentionBackend",
        "impl": f"{BACKENDS}.flash_attn.FlashAttentionImpl",
    }
    cache = next(p for p in outcome.parameters if p.name == "kv_cache")
    assert (cache.dtype, cache.shape) == ("uint8", ("num_blocks", 8, "block_size", 256))
    assert {"k_scale", "v_scale"} <= {p.name for p in outcome.parameters}
    assert [h.symbol.rpartition(".")[2] for h in chain.hops[:3]] == [
        "--kv-cache-dtype",
        "kv_cache_dtype",
        "resolve_kv_cache_dtype_string",
    ]
    assert all(h.site is not None for h in chain.hops)


def test_every_backend_says_why_not(library: Library) -> None:
    chain = ask(library, "fp8", quant=FP8)
    assert states(chain)["FLASH_ATTN"] is CandidateState.TAKEN
    assert states(chain)["FLEX_ATTENTION"] is CandidateState.REJECTED
    (choice,) = chain.choices
    reasons = {c.symbol: c.reason for c in choice.candidates if c.state is CandidateState.REJECTED}
    assert reasons["FLEX_ATTENTION"] == "kv_cache_dtype not supported"
    assert choice.function.endswith(".get_valid_backends")


def test_a_package_that_is_missing_is_the_reason(library: Library) -> None:
    (choice,) = ask(library, "auto", profile="bare").choices
    reasons = {c.symbol: c.reason for c in choice.candidates}
    assert reasons["FLASHINFER"] == "ModuleNotFoundError: No module named 'flashinfer'"


def test_a_dtype_that_no_backend_takes_is_refused(library: Library) -> None:
    chain = ask(library, "fp8_inc")
    assert chain.refused()
    assert {o.refusal.exception for o in chain.outcomes if o.refusal} == {"ValueError"}
    assert all("No valid attention backend found" in o.refusal.message for o in chain.outcomes if o.refusal)


def test_auto_is_resolved_against_the_checkpoint(library: Library) -> None:
    quant = {
        "quant_method": "modelopt",
        "quant_algo": "FP8",
        "kv_cache_quant_algo": "FP8",
        "exclude_modules": [],
    }
    chain = ask(library, "auto", quant=quant)
    assert chain.hops[2].note is not None
    assert chain.hops[2].note.startswith("resolved: auto -> fp8")


def test_an_unknown_device_is_one_condition_for_each_backend(library: Library) -> None:
    chain = ask(library, "fp8", capability=None, quant=FP8)
    taken = {o.kernels[0].symbol.rpartition(".")[2]: o.guard for o in chain.outcomes if o.kernels}
    assert taken["FlashAttentionBackend"] == Member("capability", (90,))
    assert "FlashInferBackend" in taken
    turing = [
        o.refusal for o in chain.outcomes if o.refusal and "Triton attention backend" in o.refusal.message
    ]
    assert turing


def test_heads_are_shared_between_the_ranks(library: Library) -> None:
    (outcome,) = ask(library, "auto", tensor_parallel=4).outcomes
    cache = next(p for p in outcome.parameters if p.name == "kv_cache")
    assert cache.shape[1] == 2
    assert cache.dtype == "bfloat16"
