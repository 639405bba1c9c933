"""Layers of experts: the method, backend and experts class that were measured are those that qtrace names."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from measured import GPUS, Group, Release, groups
from measured_experts import layer_labels
from measured_families import FAMILIES, OTHERWISE
from measured_models import (
    DEEPSEEK_V4_FLASH,
    GEMMA_4,
    GPT_OSS_20B,
    KIMI_K2,
    KIMI_K3,
    MEASURED,
    QWEN3_30B,
    QWEN3_235B,
    QWEN3_CODER,
    Experts,
)

VERSION = "0.24.0"
APPROXIMATED = "_situ_as_silu"
"""The recorder's mark on layers of Kimi K3, whose activation 0.24.0 does not have."""
EXPERTS = [group for group in groups() if group.op == "moe"]
SPLITS = ((1, 1), (2, 1), (1, 2))
"""Ranks that share every expert, and ranks that hold whole ones."""

CASES = (
    ("h100_sxm", "fp8_block", QWEN3_235B, (2, 1), "vllm_fp8moe_triton_tritonexperts"),
    ("h100_sxm", "fp8_block", QWEN3_235B, (1, 2), "vllm_fp8moe_flashinfer_cutlass_flashinferexperts"),
    ("h200_sxm", "bfloat16", GEMMA_4, (1, 1), "vllm_unquantizedfusedmoe_triton_tritonexperts"),
    (
        "b200_sxm",
        "bfloat16",
        GEMMA_4,
        (1, 1),
        "vllm_unquantizedfusedmoe_flashinfer_cutlass_flashinferexperts",
    ),
    ("b200_sxm", "fp8_block", QWEN3_235B, (1, 1), "vllm_fp8moe_flashinfer_trtllm_trtllmfp8expertsmonolithic"),
    (
        "gb200",
        "fp8_block",
        DEEPSEEK_V4_FLASH,
        (1, 1),
        "vllm_fp8moe_flashinfer_trtllm_trtllmfp8expertsmodular",
    ),
)


@pytest.mark.parametrize(
    ("gpu", "dtype", "model", "ranks", "measured"), CASES, ids=[f"{c[0]}-{c[-1]}" for c in CASES]
)
def test_measured_experts_are_the_only_outcome(
    release: Release, gpu: str, dtype: str, model: Experts, ranks: tuple[int, int], measured: str
) -> None:
    assert layer_labels(release(VERSION), gpu, dtype, model, *ranks) == [("always", measured)]
    assert measured in _measured(gpu, dtype)


def _measured(gpu: str, dtype: str) -> set[str]:
    """Labels of one GPU and dtype, those of approximated layers left out."""
    of_kimi_k3 = "compressedtensorsw4a4mxfp4moe"
    return {
        group.kernel
        for group in EXPERTS
        if (group.release, group.gpu, group.dtype) == (VERSION, gpu, dtype) and of_kimi_k3 not in group.kernel
    }


def test_of_kimi_k3_hopper_agrees_and_blackwell_was_forced(release: Release) -> None:
    """The recorder takes the first choice of Blackwell away, for the activation that it leaves out."""
    measured = {g.gpu: g.kernel for g in EXPERTS if "compressedtensorsw4a4mxfp4moe" in g.kernel}
    answered = {gpu: layer_labels(release(VERSION), gpu, "w4a16_mxfp4", KIMI_K3) for gpu in measured}

    marlin = "vllm_compressedtensorsw4a4mxfp4moe_marlin_marlinexperts"
    assert {kernel.removesuffix(APPROXIMATED) for kernel in measured.values()} == {marlin}
    assert answered["h100_sxm"] == answered["h200_sxm"] == [("always", marlin)]
    first = marlin.replace("_marlinexperts", "_cutlassexpertsmxfp4")
    assert answered["b200_sxm"] == answered["gb200"] == [("always", first)]


# --- the whole table


@pytest.mark.full
@pytest.mark.parametrize("gpu", sorted({g.gpu for g in EXPERTS if g.release == VERSION}))
def test_what_was_measured_is_what_is_answered(release: Release, gpu: str) -> None:
    """Over all models that were measured under a dtype, the answers are the measured labels, no more."""
    print()
    for dtype, models in MEASURED.items():
        wanted = _measured(gpu, dtype)
        if wanted:
            answered = list(_answers(release, gpu, dtype, models))
            for label in sorted(wanted):
                print(f"| {VERSION} | {gpu} | {dtype} | {label} | {answered.count([('always', label)])} |")
            assert all(len(answer) == 1 and answer[0][0] == "always" for answer in answered)
            assert {answer[0][1] for answer in answered} == wanted


def _answers(
    release: Release, gpu: str, dtype: str, models: tuple[Experts, ...]
) -> Iterator[list[tuple[str, str]]]:
    for model in models:
        for ranks in SPLITS:
            if (dtype, model, ranks) != ("nvfp4", GEMMA_4, (2, 1)):  # measured on one rank only
                yield layer_labels(release(VERSION), gpu, dtype, model, *ranks)


def _model(group: Group) -> Experts:
    """A model that was measured on every release and GPU with this dtype."""
    if group.gpu == "b60" and group.dtype == "bfloat16":
        return QWEN3_30B
    return {"int4_wo": KIMI_K2, "w4a16_mxfp4": GPT_OSS_20B}.get(group.dtype, QWEN3_CODER)


OLDER = [group for group in EXPERTS if group.release not in (VERSION, "0.12.0")]
"""0.12.0 stands for development builds that were never released."""


@pytest.mark.full
def test_families_of_older_releases(release: Release) -> None:
    """The layer's own choice is of the family that was measured, or of the one that is explained."""
    print()
    for group in OLDER:
        family = FAMILIES[group.kernel]
        answers = layer_labels(release(group.release), group.gpu, group.dtype, _model(group))
        chosen = OTHERWISE.get((group.release, group.dtype, GPUS[group.gpu][1]), family.word)
        print(f"| {' | '.join(group[:2])} | {group.dtype} | {group.kernel} | {_told(answers)} |")
        assert any(chosen in label for _, label in answers), group
        assert all(family.word in label or chosen in label for _, label in answers), group


def _told(answers: list[tuple[str, str]]) -> str:
    return " or ".join(label if when == "always" else f"{label} when {when}" for when, label in answers)
