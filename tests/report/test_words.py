"""Short names, counts, and what a guard hangs on."""

from __future__ import annotations

import pytest

from qtrace.report.conditions import deciders
from qtrace.report.names import counted, short
from qtrace.report.predicate import AllOf, Always, AnyOf, Compare, Member, Never, Not, Opaque


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("vllm.model_executor.layers.quantization.fp8.Fp8LinearMethod.apply", "Fp8LinearMethod.apply"),
        ("vllm.config.model.ModelConfig.quantization", "ModelConfig.quantization"),
        ("vllm.model_executor.kernels.linear.init_fp8_linear_kernel", "init_fp8_linear_kernel"),
        ("vllm.a._POSSIBLE_FP8_KERNELS", "_POSSIBLE_FP8_KERNELS"),
        ("vllm.a._Private.run", "_Private.run"),
        ("torch.ops._C.cutlass_scaled_mm", "torch.ops._C.cutlass_scaled_mm"),
        ("--quantization", "--quantization"),
        ("marlin_mm", "marlin_mm"),
        ("vllm::Marlin<half, 4>", "vllm::Marlin<half, 4>"),
        ("", ""),
    ],
)
def test_a_symbol_is_known_by_its_short_name(symbol: str, name: str) -> None:
    assert short(symbol) == name


def test_counts_agree_with_their_noun() -> None:
    assert [counted(n, "layer") for n in (0, 1, 2, 12345)] == [
        "0 layers",
        "1 layer",
        "2 layers",
        "12,345 layers",
    ]


def test_deciders_are_named_once_in_order() -> None:
    old = Member("compute_capability", (75,))
    groups = Compare("K % 128", "==", "0")
    marlin = Opaque("vllm.envs.VLLM_TEST_FORCE_FP8_MARLIN")
    guard = AllOf((Not(old), AnyOf((groups, old, marlin))))
    assert deciders(guard, old) == ("compute_capability", "K % 128 == 0", marlin.symbol)


def test_what_is_decided_hangs_on_nothing() -> None:
    assert deciders(Always(), Never()) == ()
