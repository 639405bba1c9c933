"""Edits of what chooses experts change the answer exactly as they say: it is read, not known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from edited import edited, library_of, replaced

from qtrace.report.model import Chain
from qtrace.tracer.answer import answered
from qtrace.tracer.scenario import Scenario
from qtrace.tracer.sources import Source

MOE = "vllm/model_executor/layers/fused_moe"
CHOOSER, TRITON = f"{MOE}/oracle/fp8.py", f"{MOE}/experts/triton_moe.py"
QWEN = {
    "model_type": "qwen3_moe",
    "architectures": ["Qwen3MoeForCausalLM"],
    "vocab_size": 1024,
    "hidden_size": 256,
    "intermediate_size": 512,
    "moe_intermediate_size": 256,
    "num_hidden_layers": 1,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 64,
    "num_experts": 8,
    "num_experts_per_tok": 2,
    "norm_topk_prob": True,
    "decoder_sparse_step": 1,
    "mlp_only_layers": [],
    "hidden_act": "silu",
    "rms_norm_eps": 1e-6,
    "max_position_embeddings": 4096,
    "rope_theta": 1e6,
    "attention_bias": False,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
    "quantization_config": {
        "quant_method": "fp8",
        "activation_scheme": "dynamic",
        "weight_block_size": [128, 128],
    },
}


def ask(source: Source, **more: Any) -> Chain:
    scenario = Scenario(
        model=QWEN, capability=89, dtype="bfloat16", profile="bare", cuda=13000, layer="experts", **more
    )
    (chain,) = answered(library_of(source), scenario, {}).chains
    return chain


def experts(chain: Chain) -> tuple[str, ...]:
    """Backend and class of the one outcome."""
    (outcome,) = chain.outcomes
    return tuple(k.symbol.rpartition(".")[2] for k in outcome.kernels)


def reasons(chain: Chain) -> dict[str, str | None]:
    return {c.symbol.rpartition(".")[2]: c.reason for choice in chain.choices for c in choice.candidates}


@pytest.fixture(scope="module")
def unedited(vllm_source: Source) -> Chain:
    return ask(vllm_source)


def _swapped(text: str) -> str:
    first, second = "        Fp8MoeBackend.TRITON,\n", "        Fp8MoeBackend.MARLIN,\n"
    return replaced(first + second, second + first)(text)


def _quick(text: str) -> str:
    """The chooser after the class was moved."""
    old = "from vllm.model_executor.layers.fused_moe.experts.triton_moe import (\n            TritonExperts,"
    new = "from vllm.model_executor.layers.quick import (\n            QuickExperts,"
    text = replaced(old, new)(text)
    return replaced("return [TritonExperts]", "return [QuickExperts]")(text)


QUICK = '''
from vllm.model_executor.layers.fused_moe.experts.triton_moe import TritonExperts


class QuickExperts(TritonExperts):
    """Under another name, in another place."""
'''
EDITS: dict[str, tuple[dict[str, Callable[[str], str]], tuple[str, ...], str | None]] = {
    "two backends swapped": ({CHOOSER: _swapped}, ("MARLIN", "MarlinExperts"), None),
    "a device that is supported no more": (
        {
            TRITON: replaced(
                "return current_platform.is_cuda_alike() or current_platform.is_xpu()",
                "return current_platform.is_xpu()",
            )
        },
        ("MARLIN", "MarlinExperts"),
        "kernel does not support current device cuda",
    ),
    "a negated condition": (
        {TRITON: replaced("if padded_num_experts >= 1024:", "if padded_num_experts < 1024:")},
        ("MARLIN", "MarlinExperts"),
        "kernel's moe_align_block_size requires fewer than 1024 padded experts",
    ),
    "a class renamed and moved": (
        {
            CHOOSER: _quick,
            "vllm/model_executor/layers/quick.py": lambda _: QUICK,
        },
        ("TRITON", "QuickExperts"),
        None,
    ),
}


QUICKLY = ("a negated condition",)
"""The edit of every run; a whole model is read for each, so the others are of the long one."""


@pytest.mark.parametrize(
    "name", [n if n in QUICKLY else pytest.param(n, marks=pytest.mark.full) for n in EDITS]
)
def test_an_edit_changes_the_experts(vllm_source: Source, unedited: Chain, name: str) -> None:
    edits, expected, reason = EDITS[name]
    assert experts(unedited) == ("TRITON", "TritonExperts")
    after = ask(edited(vllm_source, edits))
    assert experts(after) == expected
    if reason is not None:
        assert reason in (reasons(after)["TritonExperts"] or "")
    assert [o.parameters for o in after.outcomes] == [o.parameters for o in unedited.outcomes]


SET = {"VLLM_LOGGING_LEVEL": "INFO"}


@pytest.mark.full
def test_a_renamed_environment_variable_is_the_one_that_counts(vllm_source: Source) -> None:
    changed = edited(
        vllm_source,
        {CHOOSER: replaced('envs.is_set("VLLM_USE_DEEP_GEMM")', 'envs.is_set("VLLM_LOGGING_LEVEL")')},
    )
    (before,) = ask(vllm_source, environment=SET).outcomes
    (after,) = ask(changed, environment=SET).outcomes
    assert before.refusal is None
    assert after.refusal is not None
    assert after.refusal.message.startswith("FP8 MoE backend DEEPGEMM does not support")
