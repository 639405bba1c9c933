"""Layers told of a whole model: experts, embeddings and the head, of whatever architecture."""

from __future__ import annotations

from typing import Any

from qtrace.report.model import CandidateState, Chain, Outcome
from qtrace.report.predicate import Member
from qtrace.tracer.answer import report, walked
from qtrace.tracer.library import Library
from qtrace.tracer.scenario import Scenario

BLOCK = {"quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": [128, 128]}
QWEN = {
    "architectures": ["Qwen3MoeForCausalLM"],
    "model_type": "qwen3_moe",
    "torch_dtype": "bfloat16",
    "hidden_size": 2048,
    "intermediate_size": 6144,
    "moe_intermediate_size": 768,
    "num_hidden_layers": 48,
    "num_attention_heads": 32,
    "num_key_value_heads": 4,
    "head_dim": 128,
    "num_experts": 128,
    "num_experts_per_tok": 8,
    "norm_topk_prob": True,
    "decoder_sparse_step": 1,
    "mlp_only_layers": [],
    "vocab_size": 151936,
    "hidden_act": "silu",
    "rms_norm_eps": 1e-6,
    "max_position_embeddings": 40960,
    "tie_word_embeddings": False,
}
LLAMA = {
    **{k: v for k, v in QWEN.items() if "expert" not in k},
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
}


def ask(
    library: Library,
    layer: str,
    capability: int | None = 90,
    quant: dict[str, Any] | None = None,
    config: dict[str, Any] | None = None,
) -> tuple[Chain, ...]:
    quantized = {} if quant is None else {"quantization_config": quant}
    scenario = Scenario(
        quantization=None if quant is None else quant["quant_method"],
        capability=capability,
        profile="wheel",
        model={**(config or QWEN), **quantized},
        layer=layer,
        cuda=13000,
    )
    return report(walked(library, scenario), {}).chains


def test_experts_in_fp8_blocks_on_hopper(library: Library) -> None:
    (chain,) = ask(library, "experts", quant=BLOCK)
    (outcome,) = chain.outcomes
    assert chain.layers == ("model.layers.0.mlp.experts.routed_experts",)
    assert outcome.method == "vllm.model_executor.layers.quantization.fp8.Fp8MoEMethod"
    assert [k.symbol.rpartition(".")[2] for k in outcome.kernels] == ["TRITON", "TritonExperts"]
    shapes = {p.name: (p.dtype, p.shape) for p in outcome.parameters}
    assert shapes["w13_weight"] == ("float8_e4m3fn", (128, 2 * 768, 2048))
    assert shapes["w2_weight_scale_inv"] == ("float32", (128, 2048 // 128, 768 // 128))
    symbols = [hop.symbol.rpartition(".")[2] for hop in chain.hops]
    assert symbols[0] == "--quantization"
    assert (
        symbols.index("Fp8Config") < symbols.index("Fp8MoEMethod") < symbols.index("select_fp8_moe_backend")
    )
    (choice,) = chain.choices
    assert [(c.symbol.rpartition(".")[2], c.state) for c in choice.candidates] == [
        ("TritonExperts", CandidateState.TAKEN)
    ]


def test_every_device_has_its_backend(library: Library) -> None:
    (chain,) = ask(library, "experts", capability=None, quant=BLOCK)
    taken = {o.kernels[-1].symbol.rpartition(".")[2]: o.guard for o in chain.outcomes if o.kernels}
    assert taken["MarlinExperts"] == Member("capability", (75, 80, 86, 87))
    assert taken["TritonExperts"] == Member("capability", (89, 90, 110))
    assert {"DeepGemmExperts", "TrtLlmFp8ExpertsMonolithic"} <= set(taken)
    (refused,) = [o for o in chain.outcomes if o.refusal]
    assert refused.guard == Member("capability", (70,))


def test_the_head_and_the_embedding_are_not_quantized_by_fp8(library: Library) -> None:
    for layer, name in (("lm_head", "lm_head"), ("embedding", "model.embed_tokens")):
        (chain,) = ask(library, layer, quant=BLOCK)
        (outcome,) = chain.outcomes
        assert chain.layers == (name,)
        assert outcome.method is not None
        assert outcome.method.endswith(".UnquantizedEmbeddingMethod")
        (weight,) = outcome.parameters
        assert (weight.dtype, weight.shape) == ("bfloat16", (151936, 2048))


def test_experts_without_a_quantization(library: Library) -> None:
    (chain,) = ask(library, "experts")
    (outcome,) = chain.outcomes
    assert outcome.config is None
    assert outcome.method is not None
    assert outcome.method.endswith(".UnquantizedFusedMoEMethod")


def test_a_dense_model_has_no_experts(library: Library) -> None:
    (chain,) = ask(library, "experts", config=LLAMA)
    (outcome,) = chain.outcomes
    assert outcome.steps() == ()
    assert str(outcome.guard) == "the model has experts"


def test_an_architecture_that_the_release_does_not_know_is_open(library: Library) -> None:
    (chain,) = ask(library, "experts", config={**QWEN, "architectures": ["NobodyForCausalLM"]})
    (outcome,) = chain.outcomes
    assert str(outcome.guard) == "the release knows the architecture"


def test_names_that_set_blocks_apart_leave_the_answer_open(library: Library) -> None:
    """Block 0 stands for all only where the checkpoint's config names all blocks alike."""
    every = [f"model.layers.{block}.mlp.gate" for block in range(48)]
    (alike,) = ask(library, "experts", quant={**BLOCK, "modules_to_not_convert": every})
    assert [bool(end.method) for end in alike.outcomes] == [True]
    (apart,) = ask(
        library, "experts", quant={**BLOCK, "modules_to_not_convert": ["model.layers.7.mlp.experts"]}
    )
    assert [bool(end.method) for end in apart.outcomes] == [True, False]
    (head,) = ask(
        library, "lm_head", quant={**BLOCK, "modules_to_not_convert": ["model.layers.7.mlp.experts"]}
    )
    assert [bool(end.method) for end in head.outcomes] == [True]


def test_ranks_that_hold_whole_experts_have_another_kernel(library: Library) -> None:
    (shared,) = ranked(library, expert_parallel=False).outcomes
    assert names(shared)[1:] == ["TritonExperts"]
    # FlashInfer counts only where its kernels can be compiled.
    whole = ranked(library, expert_parallel=True)
    assert {names(end)[1] for end in whole.outcomes} == {"FlashInferExperts", "TritonOrDeepGemmExperts"}


def test_of_experts_that_hold_two_the_one_is_told_that_takes_the_rows(library: Library) -> None:
    def taken(**more: Any) -> dict[str, str]:
        chain = ranked(library, expert_parallel=True, packages={"flashinfer": False}, **more)
        return {names(end)[-1]: str(end.guard) for end in chain.outcomes}

    assert "DeepGemmExperts" in taken()
    assert "TritonExperts" not in taken()
    either = taken(environment={"VLLM_USE_DEEP_GEMM_E8M0": "0"})
    assert {"DeepGemmExperts", "TritonExperts"} <= set(either)
    assert "<= M" in either["TritonExperts"]


def ranked(library: Library, **more: Any) -> Chain:
    scenario = Scenario(
        quantization="fp8",
        capability=90,
        profile="wheel",
        model={**QWEN, "quantization_config": BLOCK},
        layer="experts",
        cuda=13000,
        tensor_parallel=2,
        **more,
    )
    (chain,) = report(walked(library, scenario), {}).chains
    return chain


def names(end: Outcome) -> list[str]:
    return [kernel.symbol.rpartition(".")[2] for kernel in end.kernels]


MIMO = {
    **QWEN,
    "architectures": ["MiMoV2FlashForCausalLM"],
    "model_type": "mimo_v2_flash",
    "num_hidden_layers": 4,
    "moe_layer_freq": [0, 1, 1, 1],
    "hybrid_layer_pattern": [0, 0, 0, 0],
    "n_routed_experts": 64,
    "n_group": 1,
    "topk_group": 1,
    "layernorm_epsilon": 1e-6,
    "v_head_dim": 128,
    "scoring_func": "sigmoid",
    "attention_bias": False,
    "swa_num_attention_heads": 32,
    "swa_num_key_value_heads": 4,
    "swa_head_dim": 128,
    "sliding_window": 128,
    "rope_theta": 10000.0,
}


def test_a_list_that_tells_blocks_apart_says_how_many_to_build(library: Library) -> None:
    (chain,) = ask(library, "experts", config=MIMO, quant=BLOCK)
    assert chain.layers[0].startswith("model.layers.1.")
    assert [end.method is not None for end in chain.outcomes] == [True]
