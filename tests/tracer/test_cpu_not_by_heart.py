"""Edits of what a CPU chooses among change the answer exactly as they say: it is read, not known."""

from __future__ import annotations

from typing import Any

import pytest
from edited import edited, library_of, replaced

from qtrace.report.model import Chain, Outcome
from qtrace.tracer.answer import answered
from qtrace.tracer.scenario import Scenario
from qtrace.tracer.sources import Source

LINEAR = "vllm/model_executor/kernels/linear"
CHOICE, PACKED = f"{LINEAR}/__init__.py", f"{LINEAR}/mixed_precision/cpu.py"
NAMES = f"{LINEAR}/mixed_precision/__init__.py"
LLAMA = {"model_type": "llama", "architectures": ["LlamaForCausalLM"]}
CHECKPOINTS: dict[str, dict[str, Any]] = {
    "fp8": {"quant_method": "fp8", "activation_scheme": "static"},
    "gptq": {"quant_method": "gptq", "bits": 4, "group_size": 128, "desc_act": False, "sym": True},
}
TAKEN = "CPUWNA16LinearKernel"
HOLDERS = (CHOICE, NAMES, PACKED, f"{LINEAR}/mixed_precision/zentorch.py")
"""Modules that name it."""


def end(source: Source, checkpoint: str, cpu: str = "x86_64+amx_tile") -> Outcome:
    (outcome,) = chain(source, checkpoint, cpu).outcomes
    return outcome


def chain(source: Source, checkpoint: str, cpu: str) -> Chain:
    scenario = Scenario(
        quantization=checkpoint,
        platform="cpu",
        cpu=(cpu,),
        profile="wheel",
        dtype="bfloat16",
        shape=(4096, 4096),
        rows=1,
        model=LLAMA | {"quantization_config": dict(CHECKPOINTS[checkpoint])},
    )
    (found,) = answered(library_of(source), scenario, {}).chains
    return found


def kernel(outcome: Outcome) -> str:
    (held,) = outcome.kernels
    return held.symbol.rpartition(".")[2]


def test_swapped_candidates_swap_the_choice(vllm_source: Source) -> None:
    def swap(text: str) -> str:
        start = text.index("PlatformEnum.CPU: [", text.index("_POSSIBLE_FP8_KERNELS: dict"))
        head, body = text[:start], text[start:]
        first, second = "CPUFp8PerTensorScaledMMLinearKernel,\n", "PerTensorTorchFP8ScaledMMLinearKernel,\n"
        body = body.replace(f"        {first}", "@", 1).replace(f"        {second}", f"        {first}", 1)
        return head + body.replace("@", f"        {second}", 1)

    assert kernel(end(vllm_source, "fp8")) == "CPUFp8PerTensorScaledMMLinearKernel"
    assert kernel(end(edited(vllm_source, {CHOICE: swap}), "fp8")) == "PerTensorTorchFP8ScaledMMLinearKernel"


def test_an_inverted_predicate_refuses(vllm_source: Source) -> None:
    wrong = replaced("if not current_platform.is_cpu():", "if current_platform.is_cpu():")
    outcome = end(edited(vllm_source, {PACKED: wrong}), "gptq")
    assert outcome.refusal is not None and outcome.refusal.exception == "ValueError"
    assert "CPUWNA16 only supported on CPU" in outcome.refusal.message


@pytest.mark.full
def test_a_renamed_kernel_is_found(vllm_source: Source) -> None:
    new = "QuickLinearKernel"
    before = end(vllm_source, "gptq")
    after = end(edited(vllm_source, dict.fromkeys(HOLDERS, replaced(TAKEN, new, -1))), "gptq")
    assert (kernel(before), kernel(after)) == (TAKEN, new)
    assert (after.config, after.method, after.ops, after.parameters) == (
        before.config,
        before.method,
        before.ops,
        before.parameters,
    )


@pytest.mark.full
def test_a_moved_function_is_followed(vllm_source: Source) -> None:
    text = vllm_source.text(PACKED) or ""
    start = text.index("def _get_isa_hint(")
    moved = f"import torch\nfrom vllm.platforms import CpuArchEnum, current_platform\n\n\n{text[start:]}"
    imported = "from vllm.scalar_type import scalar_types\nfrom .hints import _get_isa_hint\n"
    rest = text[:start].replace("from vllm.scalar_type import scalar_types\n", imported)
    changed = edited(
        vllm_source, {PACKED: lambda _: rest, f"{LINEAR}/mixed_precision/hints.py": lambda _: moved}
    )
    where = "x86_64+avx512_bf16"
    assert end(changed, "gptq", where) == end(vllm_source, "gptq", where)
    assert end(changed, "gptq", where).ops == ("torch.ops._C.cpu_gemm_wna16",)


@pytest.mark.full
def test_an_added_candidate_is_asked_first(vllm_source: Source) -> None:
    added = f"        QuickLinearKernel,\n        {TAKEN},\n"
    new = (
        f"from .mixed_precision.cpu import {TAKEN}\n\n\nclass QuickLinearKernel({TAKEN}):\n"
        "    @classmethod\n    def can_implement(cls, c):\n"
        '        return c.group_size == SIZE, "only groups of SIZE"\n'
    )

    def with_it(text: str) -> str:
        start = text.index("_POSSIBLE_KERNELS: dict")
        body = text[start:].replace(f"        {TAKEN},\n", added, 1)
        return f"{text[:start]}from .quick import QuickLinearKernel\n\n{body}"

    for size, taken in ((128, "QuickLinearKernel"), (64, TAKEN)):
        text = new.replace("SIZE", str(size))
        changed = edited(
            vllm_source,
            {CHOICE: with_it, f"{LINEAR}/quick.py": lambda _, text=text: text},  # type: ignore[misc]
        )
        assert kernel(end(changed, "gptq")) == taken
