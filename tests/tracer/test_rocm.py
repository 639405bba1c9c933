"""On ROCm the architecture that AMD's library tells decides as the platform's own predicates say."""

from __future__ import annotations

from qtrace.report.model import Outcome
from qtrace.tracer.answer import report, walked
from qtrace.tracer.devices import device
from qtrace.tracer.library import Library
from qtrace.tracer.scenario import Scenario

LLAMA = {"model_type": "llama", "architectures": ["LlamaForCausalLM"]}
FP8 = {"quant_method": "fp8", "activation_scheme": "static"}


def ends(library: Library, arch: str | None) -> tuple[Outcome, ...]:
    scenario = Scenario(
        platform="rocm",
        arch=arch,
        profile="bare",
        dtype="bfloat16",
        shape=(4096, 4096),
        rows=1,
        model=LLAMA | {"quantization_config": FP8},
    )
    (chain,) = report(walked(library, scenario), {}).chains
    return chain.outcomes


def kernels(outcome: Outcome) -> list[str]:
    return [kernel.symbol.rpartition(".")[2] for kernel in outcome.kernels]


def test_a_known_architecture_has_one_answer(library: Library) -> None:
    (mi300,) = ends(library, device("gfx942").arch)
    assert kernels(mi300) == ["ROCmFP8ScaledMMLinearKernel"]
    assert "torch.ops._rocm_C.wvSplitKQ" in mi300.ops


def test_an_unknown_one_is_a_condition(library: Library) -> None:
    found = {
        tuple(kernels(outcome)): str(outcome.guard) for outcome in ends(library, None) if outcome.kernels
    }
    assert "gfx942" in found["ROCmFP8ScaledMMLinearKernel",] and len(found) > 1
    assert all(guard.count("arch") for guard in found.values())
