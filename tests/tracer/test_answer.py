"""What an answer says of itself: bounds that were hit, what was assumed, what is unknown."""

from __future__ import annotations

from qtrace.report.predicate import Opaque
from qtrace.tracer.answer import report, walked
from qtrace.tracer.library import Library
from qtrace.tracer.scenario import Scenario

FP8 = {"quantization_config": {"quant_method": "fp8", "activation_scheme": "static"}, "model_type": "llama"}


def test_a_question_that_runs_out_of_time_is_open_and_says_so(library: Library) -> None:
    made = report(walked(library, Scenario(quantization="fp8", capability=90, model=FP8), seconds=0.0), {})
    (chain,) = made.chains
    (outcome,) = chain.outcomes
    assert isinstance(outcome.guard, Opaque)
    assert outcome.kernels == ()
    assert "the time for one question" in made.coverage.budgets
    assert not chain.decided()


def test_an_unknown_checkpoint_leaves_the_config_class(library: Library) -> None:
    made = report(walked(library, Scenario(quantization="fp8", capability=90)), {})
    (outcome,) = made.chains[0].outcomes
    assert outcome.config == "vllm.model_executor.layers.quantization.fp8.Fp8Config"
    assert outcome.method is None
    assert not made.chains[0].decided()


def test_sizes_that_the_checkpoint_does_not_tell_are_conditions(library: Library) -> None:
    config = {"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": True, "version": "gemm"}
    scenario = Scenario(
        quantization="awq",
        capability=80,
        dtype="bfloat16",
        profile="bare",
        model={"quantization_config": config},
        whole=False,
        layer="o_proj",
        cuda=13000,
    )
    (chain,) = report(walked(library, scenario), {}).chains
    told = " ".join(str(o.guard) for o in chain.outcomes)
    assert "(num_attention_heads * head_dim) % 128 == 0" in told
    assert {o.refusal.exception for o in chain.outcomes if o.refusal} == {"ValueError"}


def test_tensor_parallel_sizes_divide_the_layer(library: Library) -> None:
    sizes = {
        "hidden_size": 4096,
        "intermediate_size": 14336,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
    }
    scenario = Scenario(
        quantization="fp8",
        capability=90,
        dtype="bfloat16",
        profile="bare",
        model={**FP8, **sizes, "architectures": ["LlamaForCausalLM"]},
        tensor_parallel=4,
        layer="down_proj",
        cuda=13000,
    )
    (chain,) = report(walked(library, scenario), {}).chains
    (outcome,) = chain.outcomes
    assert {p.name: p.shape for p in outcome.parameters}["weight"] == (4096, 14336 // 4)
