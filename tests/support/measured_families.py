"""What the recorder's labels of older releases mean: the function it called, not what the layer chose."""

from __future__ import annotations

from typing import NamedTuple


class Family(NamedTuple):
    """Kernels that go by one label."""

    word: str
    """What names of vLLM's methods, backends and experts classes of this family have in common."""
    reason: str
    """Why the label means this family."""


ITSELF = "the recorder calls {} itself, whatever the layer would choose"
FAMILIES = {
    "vllm_fused_moe": Family("triton", ITSELF.format("vLLM's `fused_experts`, which is Triton's,")),
    "vllm_marlin_moe": Family("marlin", ITSELF.format("vLLM's `fused_marlin_moe`")),
    "vllm_marlin_int4_moe": Family("marlin", ITSELF.format("vLLM's `fused_marlin_moe`")),
    "vllm_flashinfer_trtllm_moe_fp4": Family("trtllm", ITSELF.format("FlashInfer's TRT-LLM kernel")),
    "vllm_mxfp4_moe": Family("mxfp4", "the layer chose; the label says no more than its dtype"),
    "vllm_xpu_moe": Family("xpu", ITSELF.format("vLLM's `xpu_fused_moe`")),
    "vllm_xpu_moe_mxfp4": Family("xpu", ITSELF.format("vLLM's `xpu_fused_moe`")),
}
OTHERWISE: dict[tuple[str, str, int | None], str] = {
    ("0.14.0", "nvfp4", 100): "cutlass",
    ("0.18.0", "fp8", 90): "flashinfer_cutlass",
    ("0.19.0", "fp8", 90): "flashinfer_cutlass",
    ("0.19.0", "fp8", 100): "flashinfer_cutlass",
    ("0.19.0", "fp8_block", 100): "flashinfer_trtllm",
    ("0.22.0", "bfloat16", 90): "flashinfer_cutlass",
    ("0.22.0", "bfloat16", 100): "flashinfer_trtllm",
    ("0.22.0", "fp8", 90): "flashinfer_cutlass",
    ("0.22.0", "fp8", 100): "flashinfer_trtllm",
    ("0.22.0", "fp8_block", 100): "flashinfer_trtllm",
}
"""Where the layer's own choice is another than what the recorder called: release, dtype, capability, and the
family that the layer takes; in 0.18.0 only where there is an nvcc.
"""
