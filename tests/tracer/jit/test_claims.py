"""Which kernels a profiler's name may be."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from kernel_names import ENGINE

from qtrace.report.launched import families
from qtrace.tracer.jit.index import JitIndex
from qtrace.tracer.sources import Source

Engine = Callable[..., Source]
HEAD = "import functools\nfrom vllm.triton_utils import tl, triton\n\n"
ELSEWHERE = {
    "kernel_unified_attention_2d",  # of December 2025: one kernel in 0.33.0
    "kernel_unified_attention_3d",
    "_compute_slot_mapping_kernel",  # a method named `kernel` in 0.33.0
}


def claimed(index: JitIndex, printed: str) -> list[str]:
    return [kernel.symbol for kernel in index.claims(printed)]


def test_the_names_of_recordings(index: JitIndex) -> None:
    """Each name that only Triton or CuTe DSL can have had is one kernel's, or is listed as gone."""
    seen = {}
    for row in ENGINE:
        if {family.name for family in families(row["name"])} & {"triton", "cute-dsl"}:
            seen[row["name"]] = claimed(index, row["name"])
    assert {name for name, found in seen.items() if not found} == ELSEWHERE
    assert {len(found) for found in seen.values() if found} == {1}
    assert len(seen) - len(ELSEWHERE) >= 6


def test_a_cute_name_is_the_method_of_one_class(index: JitIndex) -> None:
    (name,) = {row["name"] for row in ENGINE if row["name"].startswith("kernel_cutlass_")}
    module = "vllm.model_executor.kernels.linear.cute_dsl._ll_bf16_dotprod"
    assert claimed(index, name) == [f"{module}.LLBf16Dotprod.kernel"]
    assert claimed(index, name.replace("Dotprod_object", "Dotprodder_object")) == []
    assert claimed(index, name[:90]) == []
    assert claimed(index, f"{name[:90]}...") == [f"{module}.LLBf16Dotprod.kernel"]


def test_nothing_else_is_claimed(index: JitIndex) -> None:
    """Names of other families, all that recordings of the engine hold."""
    for row in ENGINE:
        if not {family.name for family in families(row["name"])} & {"triton", "cute-dsl"}:
            assert claimed(index, row["name"]) == [], row["name"]


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        ("fused_moe_kernel", ["fused_moe_kernel"]),
        ("fused_moe_kernel.kd", ["fused_moe_kernel"]),
        ("  fused_moe_kernel ", ["fused_moe_kernel"]),
        ("_w8a8_triton_block_sca...", ["_w8a8_triton_block_scaled_mm"]),
        ("_w8a8_triton_block_sca", []),
        ("void fused_moe_kernel<int>(int*)", []),
        ("vllm::fused_moe_kernel", []),
        ("fused_moe", []),
        ("_w8a8_...", []),
        ("...", []),
        ("", []),
    ],
)
def test_a_printed_name(index: JitIndex, printed: str, expected: list[str]) -> None:
    assert [kernel.name for kernel in index.claims(printed)] == expected


def test_a_name_that_several_kernels_have(index: JitIndex) -> None:
    found = index.claims("kernel")
    assert len(found) > 5 and {kernel.name for kernel in found} == {"kernel"}


@pytest.mark.parametrize(
    ("decorator", "printed", "prefix"),
    [
        ("@triton.jit(repr=lambda _: 'shown')", "shown", False),
        ("@triton.jit(repr=constant)", "shown", False),
        ("@triton.jit(repr=None)", "k", False),
        ("@triton.jit(repr=lambda s: f'shown_{s.constants}')", "shown_", True),
        ("@triton.jit(repr=computed)", None, False),
        ("@triton.jit(repr=make('x'))", None, False),
    ],
)
def test_a_kernel_that_gives_itself_a_name(
    engine: Engine, decorator: str, printed: str | None, prefix: bool
) -> None:
    text = (
        f"{HEAD}def constant(s):\n    '''Says so.'''\n    return 'shown'\n\n"
        f"def computed(s):\n    name = s.name\n    return name\n\n{decorator}\ndef k():\n    pass\n"
    )
    index = JitIndex(engine(ops=text))
    (kernel,) = index.kernels
    assert (kernel.printed, kernel.prefix) == (printed, prefix)
    assert (kernel.unread is None) is (printed is not None)
    assert claimed(index, printed or "k") == ([] if printed is None or prefix else ["vllm.ops.k"])


CUTE = """import cutlass.cute as cute
from dataclasses import dataclass

class Base:
    @cute.kernel
    def kernel(self, a):
        pass

def build():
    class Inner(Base):
        pass
    return Inner()

@dataclass
class Data:
    @cute.kernel
    def kernel(self, a):
        pass

class Still:
    @staticmethod
    @cute.kernel
    def kernel(a):
        pass
"""


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        ("kernel_cutlass_kernel_vllmopsBase_object_at__tensorptr_0", ["Base", "Data", "Still"]),
        ("kernel_cutlass_kernel_vllmopsbuildlocalsInner_object_at__x_0", ["Base", "Data", "Still"]),
        ("kernel_cutlass_kernel_vllmopsOther_object_at__x_0", ["Data", "Still"]),
        ("kernel_cutlass_other_vllmopsBase_object_at__x_0", []),
    ],
)
def test_cute_names_hold_the_object(engine: Engine, printed: str, expected: list[str]) -> None:
    index = JitIndex(engine(ops=CUTE))
    assert [kernel.qualname.partition(".")[0] for kernel in index.claims(printed)] == expected


def test_helpers_are_never_claimed(engine: Engine) -> None:
    text = (
        f"{HEAD}@triton.jit\ndef part(x):\n    return x\n\n"
        "@triton.jit\ndef k(x):\n    part(x)\n\ndef f(grid):\n    k[grid](1)\n"
    )
    index = JitIndex(engine(ops=text))
    assert (claimed(index, "part"), claimed(index, "k")) == ([], ["vllm.ops.k"])
