"""The chain of `--kv-cache-dtype`: resolution, backends with their reasons, the cache, refusals."""

from __future__ import annotations

from typing import Any

from qtrace.report.model import CandidateState, Chain, ScaleSource
from qtrace.report.predicate import Member, Not, Opaque
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
LATENT = {
    "architectures": ["DeepseekV3ForCausalLM"],
    "model_type": "deepseek_v3",
    "torch_dtype": "bfloat16",
    "hidden_size": 7168,
    "intermediate_size": 18432,
    "num_hidden_layers": 61,
    "num_attention_heads": 128,
    "num_key_value_heads": 128,
    "n_routed_experts": None,
    "n_shared_experts": None,
    "q_lora_rank": 1536,
    "kv_lora_rank": 512,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
    "hidden_act": "silu",
    "vocab_size": 129280,
    "max_position_embeddings": 163840,
    "rms_norm_eps": 1e-6,
    "tie_word_embeddings": False,
}
"""The sizes of DeepSeek-V3 without its experts."""
FP8 = {"quant_method": "fp8", "activation_scheme": "static"}
BACKENDS = "vllm.v1.attention.backends"


def ask(
    library: Library,
    dtype: str,
    capability: int | None = 90,
    quant: dict[str, Any] | None = None,
    config: dict[str, Any] | None = None,
    **asked: Any,
) -> Chain:
    """The attention chain of a checkpoint, a Llama if nothing is said."""
    scenario = Scenario(
        quantization=None if quant is None else quant["quant_method"],
        kv_cache_dtype=dtype,
        capability=capability,
        model={**(config or CONFIG), **({} if quant is None else {"quantization_config": quant})},
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
    assert outcome.cache is not None
    assert (outcome.cache.dtype, outcome.cache.shape) == ("uint8", ("num_blocks", 8, 16, 256))
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
    cache = outcome.cache
    assert cache is not None
    assert (cache.dtype, cache.shape, cache.mode) == ("bfloat16", ("num_blocks", 2, 16, 256), None)
    assert (cache.token_bytes, cache.layers, cache.scales) == (2 * 2 * 128 * 2, 32, ())


def test_the_cache_is_sized_laid_out_and_written_as_the_engine_does(library: Library) -> None:
    (outcome,) = ask(library, "fp8", quant=FP8).outcomes
    cache = outcome.cache
    assert cache is not None
    assert (cache.format, cache.mode, cache.block_size) == ("fp8", "FP8_PER_TENSOR", 16)
    assert (cache.layout, cache.order) == ("LBNHC", (0, 2, 1, 3))
    assert (cache.token_bytes, cache.layers) == (2 * 8 * 128, 32)
    written = "torch.ops._C_cache_ops.reshape_and_cache_flash"
    assert outcome.ops.index(written) < outcome.ops.index("torch.ops._vllm_fa3_C.fwd")


def test_a_kernel_of_triton_writes_and_reads_a_cache_scaled_by_token(library: Library) -> None:
    (outcome,) = ask(library, "int8_per_token_head", capability=80).outcomes
    names = [op.rpartition(".")[2] for op in outcome.ops]
    assert names.index("_reshape_cache_per_token_head") < names.index("kernel_unified_attention")
    assert outcome.cache is not None
    assert {scale.source for scale in outcome.cache.scales} == {ScaleSource.COMPUTED}


def sources(chain: Chain) -> list[tuple[str, ScaleSource, float | None, tuple[str, ...]]]:
    (outcome,) = chain.outcomes
    assert outcome.cache is not None
    return [(s.name, s.source, s.value, s.tensors) for s in outcome.cache.scales]


def test_scales_are_loaded_from_the_tensors_that_the_engine_renames(library: Library) -> None:
    attention = "model.layers.0.self_attn"
    apart = [f"{attention}.k_proj.k_scale", f"{attention}.v_proj.v_scale", f"{attention}.q_proj.weight_scale"]
    found = sources(ask(library, "fp8", quant=FP8, tensors={name: {} for name in apart}))
    assert found == [
        ("k_scale", ScaleSource.CHECKPOINT, None, (apart[0],)),
        ("v_scale", ScaleSource.CHECKPOINT, None, (apart[1],)),
    ]
    one = f"{attention}.kv_scale"
    found = sources(ask(library, "fp8", quant=FP8, tensors={one: {}}))
    assert {(source, tensors) for _, source, _, tensors in found} == {(ScaleSource.CHECKPOINT, (one,))}


def test_scales_that_nothing_gives_are_one(library: Library) -> None:
    default = [(name, ScaleSource.DEFAULT, 1.0, ()) for name in ("k_scale", "v_scale")]
    assert sources(ask(library, "fp8", quant=FP8, tensors={"model.norm.weight": {}})) == default
    # A checkpoint without a quantization has no method that would load any.
    assert sources(ask(library, "fp8", tensors={"model.layers.0.self_attn.k_scale": {}})) == default


def test_scales_are_open_while_the_checkpoints_tensors_are_not_at_hand(library: Library) -> None:
    (outcome,) = ask(library, "fp8", quant=FP8).outcomes
    assert outcome.cache is not None
    there = Opaque("the checkpoint has k_scale and v_scale for this layer")
    assert {(s.name, s.source, s.guard) for s in outcome.cache.scales} == {
        (name, source, guard)
        for name in ("k_scale", "v_scale")
        for source, guard in ((ScaleSource.CHECKPOINT, there), (ScaleSource.DEFAULT, Not(there)))
    }


def test_latent_attention_is_followed_through_its_model(library: Library) -> None:
    (outcome,) = ask(library, "fp8", quant=None, config=LATENT).outcomes
    assert [k.symbol.rpartition(".")[2] for k in outcome.kernels] == ["FlashMLABackend", "FlashMLAImpl"]
    assert outcome.cache is not None
    assert (outcome.cache.shape, outcome.cache.block_size) == (("num_blocks", 1, 64, 576), 64)
    assert (outcome.cache.token_bytes, outcome.cache.layers) == (512 + 64, 61)
    assert "torch.ops._C_cache_ops.concat_and_cache_mla" in outcome.ops
    assert "torch.ops._flashmla_extension_C.fwd_kvcache_mla_fp8" in outcome.ops
