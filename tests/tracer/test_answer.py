"""What an answer says of itself: bounds that were hit, what was assumed, what is unknown."""

from __future__ import annotations

from typing import Any

import pytest
from edited import edited, library_of, replaced

from qtrace.report.errors import SourceError
from qtrace.report.model import Chain, Report
from qtrace.report.predicate import Always, Opaque
from qtrace.tracer.answer import report, walked
from qtrace.tracer.library import Library
from qtrace.tracer.scenario import Scenario
from qtrace.tracer.standard import model_for

FP8 = {"quantization_config": {"quant_method": "fp8", "activation_scheme": "static"}, "model_type": "llama"}


def test_a_question_that_runs_out_of_work_is_open_and_says_so(library: Library) -> None:
    made = report(walked(library, Scenario(quantization="fp8", capability=90, model=FP8), work=0), {})
    (chain,) = made.chains
    (outcome,) = chain.outcomes
    assert isinstance(outcome.guard, Opaque)
    assert outcome.kernels == ()
    assert "the work for one question" in made.coverage.budgets
    assert not chain.decided()


def test_an_unknown_checkpoint_leaves_the_config_class(library: Library) -> None:
    made = report(walked(library, Scenario(quantization="fp8", capability=90)), {})
    (outcome,) = made.chains[0].outcomes
    assert outcome.config == "vllm.model_executor.layers.quantization.fp8.Fp8Config"
    assert outcome.method is None
    assert not made.chains[0].decided()


def test_what_refuses_the_model_is_told_apart_from_its_layers(library: Library) -> None:
    """The cache cannot be fp8 there, which its attention layer says; projections before it do not."""
    quantized = {
        "quant_method": "mxfp4",
        "modules_to_not_convert": ["model.layers.*.self_attn", "model.embed_tokens", "lm_head"],
    }
    scenario = Scenario(
        quantization="mxfp4",
        capability=80,
        kv_cache_dtype="fp8",
        model={**model_for("linear").config, "quantization_config": quantized},
        layer="linear",
        profile="wheel",
        packages={"flashinfer": False},
        cuda=13000,
    )
    chains = {chain.layers: chain.outcomes for chain in report(walked(library, scenario), {}).chains}
    (projection,) = chains["model.layers.0.self_attn.qkv_proj", "model.layers.0.self_attn.o_proj"]
    assert projection.refusal is None and projection.ops == ("torch.nn.functional.linear",)
    (model,) = chains[("model",)]
    assert model.refusal is not None and "FP8 KV cache is not supported" in model.refusal.message


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


LLAMA = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "torch_dtype": "bfloat16",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
}


def ask(
    library: Library,
    capability: int = 90,
    ignored: list[str] | None = None,
    changes: dict[str, Any] | None = None,
    **asked: Any,
) -> Report:
    """A Llama checkpoint in fp8 with these modules ignored and these entries of config.json changed."""
    quant = {"quant_method": "fp8", "activation_scheme": "static", "ignored_layers": ignored}
    scenario = Scenario(
        quantization="fp8",
        capability=capability,
        profile="bare",
        model={**LLAMA, "quantization_config": quant, **(changes or {})},
        cuda=13000,
        **{"layer": "down_proj", **asked},
    )
    return report(walked(library, scenario), {})


def methods(chain: Chain) -> set[str]:
    return {o.method.rpartition(".")[2] for o in chain.outcomes if o.method}


def test_the_dtype_is_what_the_engine_resolves(library: Library) -> None:
    assert ask(library).question.resolved["dtype"] == "bfloat16"
    assert ask(library, capability=75).question.resolved["dtype"] == "float16"
    assert ask(library, changes={"torch_dtype": "float16"}).question.resolved["dtype"] == "float16"
    (refused,) = ask(library, capability=75, dtype="bfloat16").chains[0].outcomes
    assert refused.guard == Always()
    assert refused.refusal is not None
    assert refused.refusal.exception == "ValueError"
    assert "Bfloat16 is only supported" in refused.refusal.message


def test_heads_that_the_ranks_cannot_share_are_refused(library: Library) -> None:
    (refused,) = ask(library, tensor_parallel=3).chains[0].outcomes
    assert refused.refusal is not None
    assert "(32) must be divisible by tensor parallel size (3)" in refused.refusal.message
    (taken,) = ask(library, tensor_parallel=2).chains[0].outcomes
    assert taken.guard == Always()


@pytest.mark.parametrize(
    ("ignored", "method", "decided"),
    [
        (["lm_head"], "Fp8LinearMethod", True),
        (["model.layers.5.mlp.down_proj"], "Fp8LinearMethod", False),
        (["model.layers.0.mlp.down_proj"], "UnquantizedLinearMethod", False),
        (["model.layers.0"], "Fp8LinearMethod", False),
        ([f"model.layers.{n}.mlp.down_proj" for n in range(32)], "UnquantizedLinearMethod", True),
    ],
)
def test_names_that_set_blocks_apart_leave_it_open(
    library: Library, ignored: list[str], method: str, decided: bool
) -> None:
    (chain,) = ask(library, ignored=ignored).chains
    assert methods(chain) == {method}
    assert chain.decided() is decided


def test_a_model_class_that_renames_modules_renames_the_ignored_ones(library: Library) -> None:
    names = ["model.language_model.layers.0.mlp.down_proj"]
    changes = {"architectures": ["Qwen2_5_VLForConditionalGeneration"], "model_type": "qwen2_5_vl"}
    (chain,) = ask(library, ignored=names, changes=changes).chains
    assert methods(chain) == {"UnquantizedLinearMethod"}
    assert not chain.decided()


def test_experts_of_an_unknown_class_are_not_told_as_linear_layers(library: Library) -> None:
    made = ask(library, layer="linear", changes={"num_experts": 8, "architectures": ["Nobody"]})
    assert {name for c in made.chains for name in c.layers} == {"qkv_proj", "o_proj"}
    assert any("not told: gate_up_proj, down_proj" in text for text in made.question.assumed)


def test_what_the_engine_logs_and_what_a_forward_makes_are_facts(library: Library) -> None:
    (marlin,) = ask(library, capability=80).chains
    assert any("does not have native support for FP8" in line.text for line in marlin.warnings)
    assert marlin.outcomes[0].dtypes is not None
    assert "float8_e4m3fn" not in marlin.outcomes[0].dtypes
    (cutlass,) = ask(library, capability=90).chains
    assert not any("native support" in line.text for line in cutlass.warnings)
    assert "float8_e4m3fn" in (cutlass.outcomes[0].dtypes or ())


def test_a_refusal_says_what_was_under_way(library: Library) -> None:
    (refused,) = ask(library, tensor_parallel=3).chains[0].outcomes
    assert refused.refusal is not None
    assert refused.refusal.within[-1].endswith(".verify_with_parallel_config")


def test_an_argument_that_is_given_and_not_used_is_a_condition_where_it_decides(library: Library) -> None:
    (chain,) = ask(library, unread=("linear_backend", "seed")).chains
    held = {o.kernels[0].symbol.rpartition(".")[2]: str(o.guard) for o in chain.outcomes if o.kernels}
    assert len(held) > 1
    assert "kernel_config.linear_backend == 'marlin'" in held["MarlinFP8ScaledMMLinearKernel"]
    assert not any("seed" in guard for guard in held.values())
    assert not chain.decided()


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("vllm/config/vllm.py", "def _get_quantization_config("),
        ("vllm/config/model.py", "def _verify_quantization("),
        ("vllm/engine/arg_utils.py", "def create_engine_config("),
    ],
)
def test_a_release_that_lies_otherwise_has_no_answer(library: Library, path: str, name: str) -> None:
    """Not that of the layers alone, as if nothing had been configured."""
    word, _, rest = name.partition(" ")
    source = edited(library.source, {path: replaced(name, f"{word} other_{rest}")})
    scenario = Scenario(quantization="fp8", capability=90, profile="wheel", cuda=13000, model=FP8)
    with pytest.raises(SourceError, match=r"^vllm 0.33.0 is laid out in a way that this qtrace cannot"):
        walked(library_of(source), scenario)
