"""Families of kernels: what is not compiled from the engine's own tree belongs to one of them."""

from __future__ import annotations

from collections import defaultdict

import pytest
from kernel_names import ENGINE, OTHERS, RECORDED, WHEELS

from qtrace.report.launched import all_families, base_name, families

IN_TREE = {
    "marlin::Marlin",
    "marlin_moe_wna16::Marlin",
    "vllm::ConcatMLAQKernel",
    "vllm::act_and_mul_kernel",
    "vllm::concat_and_cache_ds_mla_kernel",
    "vllm::cooperative::cooperative_topk_cs8",
    "vllm::cross_device_reduce_1stage",
    "vllm::fused_add_rms_norm_kernel",
    "vllm::indexer_k_quant_and_cache_kernel",
    "vllm::moe::count_and_sort_expert_tokens_kernel",
    "vllm::moe::grouped_topk_fused_small_expert_count_kernel",
    "vllm::moe::moe_align_block_size_kernel",
    "vllm::moe::moe_align_block_size_small_batch_expert_kernel",
    "vllm::moe::moe_sum_vec_kernel",
    "vllm::moe::topkGatingSoftmax",
    "vllm::reshape_and_cache_flash_kernel",
    "vllm::rms_norm_kernel",
    "vllm::rotary_embedding_kernel",
    "vllm::scaled_fp8_quant_kernel_strided",
    "vllm::swigluoai_and_mul_kernel",
}
"""The kernels of the three recordings that are compiled from vLLM's own tree."""

UNCLAIMED = {
    # SGLang's own, one of them mangled.
    "_ZN7sgl_hip10activation18act_and_mul_kernelI14__hip_bfloat16TnPFT_RKS3_EXadL_Z4siluIS2_ES3_S5_EEEEvPS3_PS4_i",
    "clamp_position_kernel",
    "resolve_future_token_ids_kernel",
    "rotary_embedding_kernel",
    "store_kvcache",
    # AITER's, under the name that it has in vLLM too.
    "paged_attention_ll4mi_reduce_kernel",
    # Of a library that the recording does not tell.
    "groupnorm_kernel_dispatch_down",
    "groupnorm_kernel_dispatch_up",
}
"""What no family has in the other recordings, beside vLLM's."""


PYTHON = {
    "_compute_slot_mapping_kernel",
    "_convert_req_index_to_global_index_kernel",
    "_copy_page_indices_kernel",
    "_fused_indexer_q_rope_quant_kernel",
    "attn_fwd",
    "create_flashinfer_kv_indices_triton",
    "kernel_unified_attention_2d",
    "kernel_unified_attention_3d",
    "reduce_segments",
    "reshape_and_cache_kernel_flash",
    "sage_fwd",
    "sage_quant_kernel",
}
"""The kernels of all recordings that are Python functions, so that no beginning tells them."""


def of(printed: str) -> str:
    """The one family of a name; a second one would be an error of the table."""
    found = families(printed)
    assert len(found) < 2, (printed, found)
    return found[0].name if found else ""


def test_every_kernel_of_the_recordings_of_vllm_is_the_engines_or_of_one_family() -> None:
    assert {base_name(row["name"]) for row in ENGINE if not of(row["name"])} == IN_TREE


@pytest.mark.parametrize(
    ("device", "share", "most"),
    [
        ("GH200", 54.9, {"nccl": 23.2, "machete": 13.4, "flash-mla": 6.4, "inductor": 4.5}),
        ("RTX 3090", 47.3, {"cublas": 33.9, "aten": 6.2, "inductor": 2.2, "triton": 1.8}),
        ("B200", 92.7, {"trtllm-gen": 54.8, "aten": 22.6, "copy": 6.9, "nvjet": 6.7}),
    ],
)
def test_how_much_of_the_time_families_have(device: str, share: float, most: dict[str, float]) -> None:
    spent: dict[str, float] = defaultdict(float)
    for row in ENGINE:
        if row["device"] == device:
            spent[of(row["name"])] += float(row["microseconds"])
    total = sum(spent.values())
    assert 100 * (1 - spent.pop("") / total) == pytest.approx(share, abs=0.1)
    first = sorted(spent, key=lambda name: -spent[name])[:4]
    assert {name: pytest.approx(100 * spent[name] / total, abs=0.1) for name in first} == most


def test_of_the_other_recordings_next_to_nothing_is_unclaimed() -> None:
    unclaimed = [row for row in OTHERS if not of(row["name"])]
    assert {base_name(row["name"]) for row in unclaimed} - IN_TREE == UNCLAIMED
    lost = sum(float(row["microseconds"]) for row in unclaimed)
    assert lost / sum(float(row["microseconds"]) for row in OTHERS) < 0.001


def test_names_that_tell_the_library() -> None:
    told = {name for name in RECORDED if "cudnn" in base_name(name)}
    assert len(told) > 80
    assert {of(name) for name in told} == {"cudnn"}


def test_what_is_left_to_triton() -> None:
    assert {name for name in RECORDED if of(name) == "triton"} == PYTHON


WHOLE = {
    "_vllm_fa2_C": {"fa2"},
    "_vllm_fa3_C": {"fa3", "cub"},
    "_flashmla_C": {"flash-mla", "cutlass-fmha"},
    "_flashmla_extension_C": {"flash-mla"},
    "_qutlass_C": {"qutlass", "cutlass-sm100"},
    "_deepselect_C": {"deep-select", "cub"},
    "_flashkda_C": {"flash-kda"},
    "_moe_C_stable_libtorch": {"cub", ""},
    "_C_stable_libtorch": {
        "",
        "cub",
        "cutlass",
        "cutlass-2",
        "cutlass-fmha",
        "cutlass-sm90",
        "cutlass-sm100",
        "cutlass-sm120",
        "machete",
    },
}
"""What each extension of the wheels holds. Those that are fetched hold nothing of the engine's own."""


def test_what_is_compiled_into_the_wheels() -> None:
    found = defaultdict(set)
    for row in WHEELS:
        found[row["extension"]].add(of(row["printed"]))
    assert found == WHOLE


UNRECORDED = {
    "void cutlass::device_kernel<at::cuda::detail::enable_3x_kernel_for_sm9x<cutlass::gemm>>": "aten-cutlass",
    "void cutlass::device_kernel<cutlass::gemm::G<tensorrt_llm::C, MainloopSm90>>": "trtllm-cutlass",
    "void cutlass::device_kernel<cutl": "cutlass",
    "cutlass_80_tensorop_f16_s16816gemm_f16_64x64_64x5_tn_align8": "cublas",
    "kernel_cutlass_kernel_flash_attncuteflash_fwd_sm100FlashAttentionForwardSm100_object_at__t_0": "fa4",
    "kernel_cutlass_kernel_flashinfernormkernelsfused_add_rmsnormFusedAddRMSNorm_0": "flashinfer-cute",
    "void flashinfer::BatchDecodeWithPagedKVCacheKernel<(flashinfer::PosEncodingMode)0>(T9)": "flashinfer",
    "void deep_ep::intranode::dispatch<(int)2, (int)768, (int)8192>(int4 *)": "deep-ep",
    "nvjet_qqtst_128x256_128x6_2x2_2cta_h_bz_Avec32UE8M0_Bvec32UE8M0_TNT": "nvjet",
    "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x128_4x": "cudnn",
    "ncclSymDevKernel_AllReduce_AGxLL_R_sum_bf16(ncclSymDevArgs)": "nccl",
    "ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)": "rccl",
    "void humming<MmaOpClass, SharedStorage>(CUtensorMap)": "humming",
    "void kgemm_4bit_inference_naive<__half, 128, 16>(int)": "bitsandbytes",
    "nvshmemi_transfer_syncapi_update_mem()": "nvshmem",
    "void tensorrt_llm::kernels::fusedQKNormRopeKernel<c10::BFloat16, 128, true>(void*)": "",
    "void sm100::fwd_prod_v2::attn_res_fwd_online_v2_kernel<int>(int)": "",
    "void vllm::tensorrt_llm::minimax_reduce_rms_kernel_lamport<int>(int)": "",
    "void machete::prepack_B_kernel<int>(int)": "",
    "void gemm_half_q_half<int>(int)": "",
    "get_group_gemm_starts(int*)": "",
}
"""Names that no recording here holds, as others report them or as their sources declare them."""


@pytest.mark.parametrize(("printed", "family"), UNRECORDED.items())
def test_families_that_were_not_recorded(printed: str, family: str) -> None:
    assert of(printed) == family


def test_no_family_is_without_an_example() -> None:
    seen = {of(name) for name in (*RECORDED, *(row["printed"] for row in WHEELS), *UNRECORDED)}
    assert {family.name for family in all_families()} == seen - {""}


def test_the_forms_of_a_name_are_of_the_same_family() -> None:
    assert [row for row in WHEELS if families(row["printed"]) != families(row["mangled"])] == []
