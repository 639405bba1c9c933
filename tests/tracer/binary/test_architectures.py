"""What a device takes of the code a kernel has, by NVIDIA's rules of binary and PTX compatibility."""

from __future__ import annotations

import pytest

from qtrace.report.image import Compatibility
from qtrace.tracer.binary.architectures import Architecture, architecture, in_order, loaded

MARLIN_MOE = ("sm_80", "sm_120f", "compute_80")
"""As `marlin_moe_wna16::Marlin` of u4b8 is in vLLM 0.33.0's wheel."""
MARLIN_FP8 = ("sm_89", "sm_120f")
SCALED_MM = ("sm_90a", "sm_100f")


@pytest.mark.parametrize(
    ("capability", "names", "compatibility", "code"),
    [
        (75, MARLIN_MOE, "missing", None),
        (80, MARLIN_MOE, "native", "sm_80"),
        (86, MARLIN_MOE, "older", "sm_80"),
        (89, MARLIN_MOE, "older", "sm_80"),
        (90, MARLIN_MOE, "jit", "compute_80"),
        (100, MARLIN_MOE, "jit", "compute_80"),
        (120, MARLIN_MOE, "native", "sm_120f"),
        (121, MARLIN_MOE, "older", "sm_120f"),
        (86, MARLIN_FP8, "missing", None),
        (90, MARLIN_FP8, "missing", None),
        (89, SCALED_MM, "missing", None),
        (90, SCALED_MM, "native", "sm_90a"),
        (100, SCALED_MM, "native", "sm_100f"),
        (103, SCALED_MM, "older", "sm_100f"),
        (120, SCALED_MM, "missing", None),
        (103, ("sm_100a", "compute_100a"), "missing", None),
        (103, ("compute_100f",), "jit", "compute_100f"),
        (120, ("compute_100f",), "missing", None),
        (100, ("compute_90a",), "missing", None),
        (90, ("compute_90a",), "jit", "compute_90a"),
        (100, ("compute_103f", "sm_103"), "missing", None),
        (80, ("sm_86", "compute_86"), "missing", None),
        (89, ("sm_80", "sm_86", "compute_89"), "older", "sm_86"),
        (90, ("compute_80", "compute_75"), "jit", "compute_80"),
        (90, ("sm_90", "sm_90a"), "native", "sm_90a"),
        # Orin is an 8.7, but machine code is no more shared between Tegra and other GPUs.
        (87, ("sm_80", "sm_86"), "missing", None),
        (87, MARLIN_MOE, "jit", "compute_80"),
        (89, ("sm_87",), "missing", None),
        (90, (), "missing", None),
    ],
)
def test_what_a_device_takes(
    capability: int, names: tuple[str, ...], compatibility: str, code: str | None
) -> None:
    found = loaded(capability, names)
    assert (found.compatibility, found.code) == (Compatibility(compatibility), code)
    assert loaded(capability, reversed(names)) == found


def test_names_are_read() -> None:
    assert architecture("sm_90a") == Architecture(90, "a")
    assert architecture("compute_100f") == Architecture(100, "f", True)


@pytest.mark.parametrize(
    "name", ["", "sm_", "sm_9", "sm_90b", "SM_90", "lto_90", "sm_90a ", "sm_\u0669\u0660"]
)
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="no architecture"):
        architecture(name)


def test_the_order_is_by_number() -> None:
    names = ("compute_80", "sm_120f", "sm_90a", "sm_100", "sm_90", "sm_75", "sm_90")
    assert in_order(names) == ("sm_75", "sm_90", "sm_90a", "sm_100", "sm_120f", "compute_80")
