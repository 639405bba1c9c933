"""The native half of vLLM 0.33.0 itself."""

from __future__ import annotations

from itertools import product

import pytest

from qtrace.report.predicate import Site
from qtrace.tracer.native.build import cuda_facts
from qtrace.tracer.native.ops import OpIndex
from qtrace.tracer.sources import Source


def test_every_op_of_a_cuda_build_of_vllm_is_seen(vllm_source: Source) -> None:
    """Without the six `octave_*` ops that CMake compiles for ROCm only, and with the seven behind
    `VLLM_ENABLE_*` and `USE_CUDA`, which it defines for a CUDA build.
    """
    index = OpIndex.read(vllm_source)
    assert {namespace: len(index.ops(namespace)) for namespace in index.namespaces} == {
        "_C": 111,
        "_C_cache_ops": 19,
        "_C_cuda_utils": 2,
        "_C_custom_ar": 15,
        "_flashkda_C": 2,
        "_moe_C": 18,
    }
    assert len(index) == 167
    assert index.site("_C", "cutlass_scaled_mm_supports_fp8") == Site("csrc/torch_bindings.cpp", 128)
    assert index.defines("_C", "octave_decode") is False
    assert index.defines("_C", "cooperative_topk") is True


@pytest.mark.parametrize(
    ("op", "low", "high", "asks"),
    [
        ("cutlass_scaled_mm_supports_fp8", 89, 1000, {"CUDA_VERSION"}),
        ("cutlass_scaled_mm_supports_block_fp8", 90, 1000, {"CUDA_VERSION"}),
        (
            "cutlass_group_gemm_supported",
            90,
            120,
            {"CUDA_VERSION", "ENABLE_CUTLASS_MOE_SM90", "ENABLE_CUTLASS_MOE_SM100"},
        ),
        (
            "cutlass_scaled_mm_supports_fp4",
            100,
            130,
            {"cudaRuntimeGetVersion", "ENABLE_NVFP4_SM100", "ENABLE_NVFP4_SM120"},
        ),
        ("mxfp4_experts_quant_supported", 100, 120, {"CUDART_VERSION"}),
    ],
)
def test_the_predicates_of_vllm_answer_as_the_engine_does(
    vllm_source: Source, op: str, low: int, high: int, asks: set[str]
) -> None:
    predicate = OpIndex.read(vllm_source).predicate("_C", op)
    assert predicate is not None
    assert predicate.needs == asks
    for version, capability in product((12090, 13000), (75, 80, 86, 89, 90, 100, 120)):
        answer = predicate.decide({"cuda_device_capability": capability}, cuda_facts(vllm_source, version))
        assert answer is (low <= capability < high), (version, capability)
