"""Edits of the engine's source change the answer exactly as they say, and nothing else: it is read, not
known.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from edited import edited, library_of, replaced

from qtrace.report.model import Chain, Outcome
from qtrace.tracer.answer import answered
from qtrace.tracer.scenario import Scenario
from qtrace.tracer.sources import Source

LINEAR = "vllm/model_executor/kernels/linear"
FP8 = "vllm/model_executor/layers/quantization/fp8.py"
TRACER = Path(__file__).parent.parent.parent / "tracer"
LLAMA = {"model_type": "llama", "architectures": ["LlamaForCausalLM"]}
CHECKPOINTS: dict[str, dict[str, Any]] = {
    "fp8": {"quant_method": "fp8", "activation_scheme": "static"},
    "gptq": {"quant_method": "gptq", "bits": 4, "group_size": 128, "desc_act": False, "sym": True},
    "awq": {"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": True, "version": "gemm"},
}


def ask(source: Source, checkpoint: str, capability: int, **more: Any) -> Chain:
    scenario = Scenario(
        quantization=checkpoint,
        capability=capability,
        profile="bare",
        dtype="bfloat16",
        cuda=13000,
        shape=(4096, 4096),
        model=LLAMA | {"quantization_config": dict(CHECKPOINTS[checkpoint])},
        **more,
    )
    (chain,) = answered(library_of(source), scenario, {}).chains
    return chain


def end(chain: Chain) -> Outcome:
    (outcome,) = chain.outcomes
    return outcome


def kernel(chain: Chain) -> str:
    (held,) = end(chain).kernels
    return held.symbol.rpartition(".")[2]


def reasons(chain: Chain) -> dict[str, str | None]:
    return {c.symbol.rpartition(".")[2]: c.reason for choice in chain.choices for c in choice.candidates}


def without_lines(chain: Chain) -> Any:
    """The answer without line numbers, which every edit above a line moves."""
    return (
        [(h.kind, h.symbol, h.why, h.guard, h.depth) for h in chain.hops],
        [(c.name, c.function, [(k.symbol, k.state, k.reason) for k in c.candidates]) for c in chain.choices],
        chain.outcomes,
    )


def test_swapped_candidates_swap_the_choice(vllm_source: Source) -> None:
    def swap(text: str) -> str:
        start = text.index("_POSSIBLE_FP8_KERNELS: dict")
        head, body = text[:start], text[start:]
        first, second = "CutlassFP8ScaledMMLinearKernel,\n", "PerTensorTorchFP8ScaledMMLinearKernel,\n"
        body = body.replace(first, "@", 1).replace(second, first, 1).replace("@", second, 1)
        return head + body

    changed = edited(vllm_source, {f"{LINEAR}/__init__.py": swap})
    assert kernel(ask(vllm_source, "fp8", 90)) == "CutlassFP8ScaledMMLinearKernel"
    assert kernel(ask(changed, "fp8", 90)) == "PerTensorTorchFP8ScaledMMLinearKernel"
    assert without_lines(ask(changed, "gptq", 80)) == without_lines(ask(vllm_source, "gptq", 80))


def test_a_raised_minimum_capability_rejects(vllm_source: Source) -> None:
    path = f"{LINEAR}/mixed_precision/marlin.py"
    changed = edited(vllm_source, {path: replaced("return 75", "return 95")})
    assert kernel(ask(vllm_source, "gptq", 80)) == "MarlinLinearKernel"
    after = ask(changed, "gptq", 80)
    assert kernel(after) == "TritonW4A16LinearKernel"
    assert "requires capability 95" in (reasons(after)["MarlinLinearKernel"] or "")
    assert without_lines(ask(changed, "fp8", 90)) == without_lines(ask(vllm_source, "fp8", 90))


def _moved(text: str) -> tuple[str, str]:
    """fp8.py without its linear method, and a module that holds it under another name."""
    start = text.index("class Fp8LinearMethod(")
    stop = text.index("\nclass ", start + 1)
    imports = text[: text.index("ACTIVATION_SCHEMES")]
    quick = imports + text[start:stop].replace("Fp8LinearMethod", "QuickMethod").replace(
        "Fp8Config", "object"
    )
    rest = text[:start] + text[stop:]
    call = "            offline_method = Fp8LinearMethod(self)\n"
    late = "            from vllm.model_executor.layers.quick import QuickMethod\n\n" + call
    return rest.replace(call, late.replace("Fp8LinearMethod", "QuickMethod")), quick


def test_a_renamed_and_moved_method_is_found(vllm_source: Source) -> None:
    rest, quick = _moved(vllm_source.text(FP8) or "")
    edits: dict[str, Callable[[str], str]] = {
        FP8: lambda _: rest,
        "vllm/model_executor/layers/quick.py": lambda _: quick,
    }
    changed = edited(vllm_source, edits)
    before, after = end(ask(vllm_source, "fp8", 90)), end(ask(changed, "fp8", 90))
    assert before.method == "vllm.model_executor.layers.quantization.fp8.Fp8LinearMethod"
    assert after.method == "vllm.model_executor.layers.quick.QuickMethod"
    assert (after.config, after.kernels, after.parameters, after.ops) == (
        before.config,
        before.kernels,
        before.parameters,
        before.ops,
    )
    assert without_lines(ask(changed, "awq", 80)) == without_lines(ask(vllm_source, "awq", 80))


def test_a_negated_condition_turns_the_choice(vllm_source: Source) -> None:
    path = f"{LINEAR}/scaled_mm/cutlass.py"
    changed = edited(
        vllm_source, {path: replaced("if not cutlass_fp8_supported():", "if cutlass_fp8_supported():")}
    )
    after = ask(changed, "fp8", 90)
    assert kernel(after) == "PerTensorTorchFP8ScaledMMLinearKernel"
    assert reasons(after)["CutlassFP8ScaledMMLinearKernel"] == "CUTLASS FP8 kernels not available"
    assert without_lines(ask(changed, "gptq", 80)) == without_lines(ask(vllm_source, "gptq", 80))


def test_a_renamed_environment_variable_is_the_one_that_counts(vllm_source: Source) -> None:
    def rename(text: str) -> str:
        return text.replace('"VLLM_DISABLED_KERNELS"]', '"VLLM_SHUNNED"]').replace(
            '"VLLM_DISABLED_KERNELS" not in os.environ', '"VLLM_SHUNNED" not in os.environ'
        )

    changed = edited(vllm_source, {"vllm/envs.py": rename})
    shun = "CutlassFP8ScaledMMLinearKernel"
    old, new = {"VLLM_DISABLED_KERNELS": shun}, {"VLLM_SHUNNED": shun}
    other = "PerTensorTorchFP8ScaledMMLinearKernel"
    assert kernel(ask(vllm_source, "fp8", 90, environment=old)) == other
    assert kernel(ask(vllm_source, "fp8", 90, environment=new)) == shun
    assert kernel(ask(changed, "fp8", 90, environment=old)) == shun
    assert kernel(ask(changed, "fp8", 90, environment=new)) == other
    assert without_lines(ask(changed, "gptq", 80)) == without_lines(ask(vllm_source, "gptq", 80))


@pytest.mark.parametrize(("test", "refused"), [("is_cuda", True), ("is_rocm", False)])
def test_an_import_under_a_condition_needs_its_package(vllm_source: Source, test: str, refused: bool) -> None:
    lines = f"if current_platform.{test}():\n    from humming.schema import HummingInputSchema\n"
    changed = edited(vllm_source, {FP8: lambda text: f"{text}\n\n{lines}"})
    outcome = end(ask(changed, "gptq", 80))
    if refused:
        assert outcome.refusal is not None
        assert outcome.refusal.exception == "ModuleNotFoundError"
        assert outcome.refusal.message == "No module named 'humming'"
    else:
        assert outcome == end(ask(vllm_source, "gptq", 80))


def _classes(source: Source, prefix: str) -> set[str]:
    texts = (source.text(p) or "" for p in source.files(prefix, ".py"))
    return {name for text in texts for name in re.findall(r"^class (\w+)", text, re.M)}


@pytest.mark.parametrize("prefix", [f"{LINEAR}/", "vllm/model_executor/layers/quantization/"])
def test_no_class_of_a_method_or_kernel_is_named_in_the_tracer(vllm_source: Source, prefix: str) -> None:
    """Entry points in engines/ are the only names of engine classes; a kernel or method is never among
    them.
    """
    known = {n for n in _classes(vllm_source, prefix) if len(n) > 8}
    assert len(known) > 50
    for path in TRACER.rglob("*.py"):
        words = set(re.findall(r"\w+", path.read_text(encoding="utf-8")))
        assert not words & known, f"{path.name} names {sorted(words & known)}"


def test_engine_classes_are_named_in_engines_only(vllm_source: Source) -> None:
    known = {n for n in _classes(vllm_source, "vllm/") if len(n) > 12 and n[0].isupper()}
    for path in TRACER.rglob("*.py"):
        if "engines" not in path.parts:
            words = set(re.findall(r"\w+", path.read_text(encoding="utf-8")))
            assert not words & known, f"{path.name} names {sorted(words & known)}"
