"""Edits of the engine's source change what is told of the KV cache, exactly as they say: it is read."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest
from edited import edited, library_of, replaced

from qtrace.report.model import CandidateState, Chain, Outcome
from qtrace.tracer.answer import answered
from qtrace.tracer.scenario import Scenario
from qtrace.tracer.sources import Source

BACKENDS = "vllm/v1/attention/backends"
FLASH, REGISTRY, CUDA = f"{BACKENDS}/flash_attn.py", f"{BACKENDS}/registry.py", "vllm/platforms/cuda.py"
SCALES = "vllm/model_executor/layers/quantization/kv_cache.py"
Edits = dict[str, Callable[[str], str]]
LLAMA = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "torch_dtype": "bfloat16",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
}


def ask(source: Source, dtype: str = "fp8", tensors: Iterable[str] = ()) -> Chain:
    scenario = Scenario(
        quantization="fp8",
        kv_cache_dtype=dtype,
        capability=90,
        profile="bare",
        cuda=13000,
        layer="attention",
        model={**LLAMA, "quantization_config": {"quant_method": "fp8", "activation_scheme": "static"}},
        tensors={name: {} for name in ("model.norm.weight", *tensors)},
    )
    (chain,) = answered(library_of(source), scenario, {}).chains
    return chain


def end(chain: Chain) -> Outcome:
    (outcome,) = chain.outcomes
    return outcome


def backend(chain: Chain) -> str:
    return end(chain).kernels[0].symbol.rpartition(".")[2]


def renamed(text: str) -> str:
    return text.replace("FlashAttentionBackend", "QuickBackend")


def swapped(text: str) -> str:
    """The two backends that come first on other devices than Blackwell, in the other order."""
    start = text.rindex("AttentionBackendEnum.FLASH_ATTN,", 0, text.index("def _backend_cls_path"))
    head, tail = text[:start], text[start:]
    first, second = "AttentionBackendEnum.FLASH_ATTN,", "AttentionBackendEnum.TRITON_ATTN,"
    tail = tail.replace(first, "@", 1).replace(second, first, 1).replace("@", second, 1)
    return head + tail


inverted = replaced(
    "return flash_attn_supports_kv_cache_dtype(", "return not flash_attn_supports_kv_cache_dtype("
)


def test_sizes_scales_and_names_are_what_the_source_says(vllm_source: Source) -> None:
    """Edits that do not meet, asked for together: each turns up in its own place and nowhere else."""
    before = end(ask(vllm_source))
    edits: Edits = {
        FLASH: renamed,
        REGISTRY: renamed,
        "vllm/config/cache.py": replaced("DEFAULT_BLOCK_SIZE: ClassVar[int] = 16", "DEFAULT_BLOCK_SIZE = 32"),
        SCALES: replaced("                k_scale = 1.0\n", "                k_scale = 2.0\n"),
    }
    after = end(ask(edited(vllm_source, edits)))
    assert before.kernels[0].symbol.endswith(".FlashAttentionBackend")
    assert after.kernels[0].symbol.endswith(".QuickBackend")
    assert (after.kernels[1:], after.ops, after.method) == (before.kernels[1:], before.ops, before.method)
    assert before.cache is not None
    assert after.cache is not None
    assert [s.value for s in before.cache.scales] == [1.0, 1.0]
    assert [s.value for s in after.cache.scales] == [2.0, 1.0]
    assert (before.cache.block_size, after.cache.block_size) == (16, 32)
    assert before.cache.token_bytes == after.cache.token_bytes


@pytest.mark.full
@pytest.mark.parametrize(
    ("path", "edit", "dtype", "taken"),
    [
        (CUDA, swapped, "auto", "TritonAttentionBackend"),
        (FLASH, inverted, "fp8", "TritonAttentionBackend"),
    ],
)
def test_the_order_and_the_checks_decide(
    vllm_source: Source, path: str, edit: Callable[[str], str], dtype: str, taken: str
) -> None:
    changed = edited(vllm_source, {path: edit})
    assert backend(ask(vllm_source, dtype)) == "FlashAttentionBackend"
    assert backend(ask(changed, dtype)) == taken


@pytest.mark.full
def test_an_added_candidate_is_asked(vllm_source: Source) -> None:
    listed = "AttentionBackendEnum.{},\n                AttentionBackendEnum.FLASHINFER,"
    mine = '    QUICK = "vllm.v1.attention.backends.flash_attn.FlashAttentionBackend"\n    FLASH_ATTN = '
    changed = edited(
        vllm_source,
        {
            REGISTRY: replaced("    FLASH_ATTN = ", mine),
            CUDA: replaced(listed.format("FLASH_ATTN"), listed.format("QUICK")),
        },
    )
    (choice,) = ask(changed).choices
    assert {c.symbol: c.state for c in choice.candidates}["QUICK"] is CandidateState.TAKEN


@pytest.mark.full
def test_another_operator_writes_the_cache(vllm_source: Source) -> None:
    path = "vllm/_custom_ops.py"
    old = "torch.ops._C_cache_ops.reshape_and_cache_flash("
    native = "csrc/torch_bindings.cpp"
    renamed = {path: replaced(old, "torch.ops._C_cache_ops.quick_cache(")}
    renamed[native] = lambda text: text.replace('"reshape_and_cache_flash', '"quick_cache')
    changed = edited(vllm_source, renamed)
    before, after = end(ask(vllm_source)), end(ask(changed))
    assert [op.replace("reshape_and_cache_flash", "quick_cache") for op in before.ops] == list(after.ops)
    assert "torch.ops._C_cache_ops.quick_cache" in after.ops


@pytest.mark.full
@pytest.mark.parametrize(("loaded", "taken"), [(True, {"gelu_new", "gelu_fast"}), (False, {"gelu_fast"})])
def test_a_forward_that_asks_for_the_number_of_a_scale(
    vllm_source: Source, loaded: bool, taken: set[str]
) -> None:
    """What the checkpoint brings is not known; a default of 1.0 is."""
    old = "        num_actual_tokens = attn_metadata.num_actual_tokens\n"
    asked = "        if layer._k_scale_float == {}:\n            torch.ops._C.{}(output, query)\n"
    both = asked.format(0.0625, "gelu_new") + asked.format(1.0, "gelu_fast")
    changed = edited(vllm_source, {FLASH: lambda text: text.replace(old, old + both, 1)})
    names = [f"model.layers.0.self_attn.{one}_proj.{one}_scale" for one in "kv"] if loaded else []
    ops = {op.rpartition(".")[2] for op in end(ask(changed, tensors=names)).ops}
    assert ops & {"gelu_new", "gelu_fast"} == taken
