"""Mixtures of experts whose layers the recorder measured: sizes, and how the model routes.

The sizes and the routing are those of the models' public configurations; the arguments are what the recorder
gives vLLM's `FusedMoE` for them.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class Experts(NamedTuple):
    """The experts of one model."""

    hidden: int
    inner: int
    experts: int
    topk: int
    routing: str


SIGMOID = {"scoring_func": "sigmoid", "bias": True}
GROUPED = {**SIGMOID, "use_grouped_topk": True, "num_expert_group": 1, "topk_group": 1}
ON_OUTPUT = {"routed_scaling_factor": 2.5, "apply_routed_scale_to_output": True}
MODELS = "vllm.model_executor.models"
ROUTING: dict[str, dict[str, Any]] = {
    "softmax": {},
    "deepseek_v3": {**GROUPED, **ON_OUTPUT, "num_expert_group": 8, "topk_group": 4},
    "kimi_k2": {**GROUPED, **ON_OUTPUT},
    "mimo": GROUPED,
    "nemotron": {**GROUPED, **ON_OUTPUT, "activation": "relu2_no_mul"},
    "minimax_m2": SIGMOID,
    "minimax_m3": {**SIGMOID, "activation": "swigluoai", "routed_scaling_factor": 2.0},
    "deepseek_v4": {"scoring_func": "sqrtsoftplus", "bias": True, "swiglu_limit": 10.0},
    "llama4": {
        "custom_routing_function": f"{MODELS}.llama4.Llama4MoE.custom_routing_function",
        "apply_router_weight_on_input": True,
        "renormalize": False,
    },
    "gemma4": {
        "custom_routing_function": f"{MODELS}.gemma4.gemma4_fused_routing_kernel_triton",
        "activation": "gelu_tanh",
    },
    "gpt_oss": {"has_bias": True, "activation": "swigluoai"},
}
"""Arguments of `FusedMoE` beside sizes; `bias` stands for a correction bias with float32 logits."""

QWEN3_30B = Experts(2048, 768, 128, 8, "softmax")
QWEN3_235B = Experts(4096, 1536, 128, 8, "softmax")
QWEN3_CODER = Experts(6144, 2560, 160, 8, "softmax")
QWEN35_35B = Experts(2048, 512, 256, 8, "softmax")
QWEN35_122B = Experts(3072, 1024, 256, 8, "softmax")
QWEN35_397B = Experts(4096, 1024, 512, 10, "softmax")
MIXTRAL_8X7B = Experts(4096, 14336, 8, 2, "softmax")
MIXTRAL_8X22B = Experts(6144, 16384, 8, 2, "softmax")
LLAMA4_SCOUT = Experts(5120, 8192, 16, 1, "llama4")
LLAMA4_MAVERICK = Experts(5120, 8192, 128, 1, "llama4")
DEEPSEEK_V3 = Experts(7168, 2048, 256, 8, "deepseek_v3")
DEEPSEEK_V4_FLASH = Experts(4096, 2048, 256, 6, "deepseek_v4")
DEEPSEEK_V4_PRO = Experts(7168, 3072, 384, 6, "deepseek_v4")
KIMI_K2 = Experts(7168, 2048, 384, 8, "kimi_k2")
KIMI_K3 = Experts(3584, 3072, 896, 16, "kimi_k2")
GLM_5 = Experts(6144, 2048, 256, 8, "kimi_k2")
MIMO_V2 = Experts(4096, 2048, 256, 8, "mimo")
MINIMAX_M2 = Experts(3072, 1536, 256, 8, "minimax_m2")
MINIMAX_M3 = Experts(6144, 3072, 128, 4, "minimax_m3")
NEMOTRON_NANO = Experts(2688, 1856, 128, 6, "nemotron")
NEMOTRON_ULTRA = Experts(2048, 5120, 512, 22, "nemotron")
GEMMA_4 = Experts(2816, 704, 128, 8, "gemma4")
GPT_OSS_20B = Experts(2880, 2880, 32, 4, "gpt_oss")
GPT_OSS_120B = Experts(2880, 2880, 128, 4, "gpt_oss")

COMMON = (
    QWEN35_35B, QWEN3_30B, QWEN35_122B, QWEN35_397B, QWEN3_235B, QWEN3_CODER, MIXTRAL_8X7B, MIXTRAL_8X22B,
    LLAMA4_SCOUT, LLAMA4_MAVERICK, MIMO_V2, GLM_5,
)  # fmt: skip
DEEPSEEKS = (DEEPSEEK_V3, KIMI_K2)
MEASURED: dict[str, tuple[Experts, ...]] = {
    "bfloat16": (*COMMON, GEMMA_4, NEMOTRON_NANO, NEMOTRON_ULTRA, MINIMAX_M3),
    "fp8": (*COMMON, GEMMA_4, NEMOTRON_ULTRA),
    "fp8_block": (*COMMON, *DEEPSEEKS, MINIMAX_M2, DEEPSEEK_V4_FLASH, DEEPSEEK_V4_PRO),
    "nvfp4": (*COMMON, *DEEPSEEKS, MINIMAX_M2, MINIMAX_M3, GEMMA_4),
    "int4_wo": (KIMI_K2,),
    "w4a16_mxfp4": (GPT_OSS_20B, GPT_OSS_120B),
    "w4a8_mxfp4_mxfp8": (DEEPSEEK_V4_FLASH, DEEPSEEK_V4_PRO),
}
"""Models by the dtype under which the recorder measures them on vLLM 0.24.0."""
