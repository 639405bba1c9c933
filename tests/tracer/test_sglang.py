"""SGLang's linear layers: from the server's arguments through its own start to what a forward runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from asking import EXAMPLE

from qtrace.report.errors import UsageError
from qtrace.report.model import Outcome
from qtrace.report.names import short
from qtrace.tracer.answer import answered
from qtrace.tracer.library import Library
from qtrace.tracer.scenario import Scenario
from qtrace.tracer.sources import open_source

SDIST = Path(__file__).parent.parent.parent / ".cache" / "sglang-0.5.10.tar.gz"


@pytest.fixture(scope="module")
def sglang() -> Library:
    if not SDIST.exists():
        pytest.fail(f"no SGLang source at {SDIST}: run `.ci/sdist sglang 0.5.10`", pytrace=False)
    return Library(open_source(SDIST, "sglang"))


def scheme(weights: dict[str, Any], activations: dict[str, Any] | None, form: str) -> dict[str, Any]:
    group = {"targets": ["Linear"], "weights": weights, "input_activations": activations}
    return {"quant_method": "compressed-tensors", "format": form, "config_groups": {"group_0": group}}


def numbers(kind: str, strategy: str, bits: int = 8, **more: Any) -> dict[str, Any]:
    return {"num_bits": bits, "type": kind, "symmetric": True, "strategy": strategy, **more}


CHECKPOINTS: dict[str, dict[str, Any] | None] = {
    "bfloat16": None,
    "fp8": {"quant_method": "fp8", "activation_scheme": "dynamic"},
    "fp8 blocks": {"quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": [128, 128]},
    "awq": {"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": True, "version": "gemm"},
    "gptq": {"quant_method": "gptq", "bits": 4, "group_size": 128, "desc_act": False, "sym": True},
    "int8": scheme(
        numbers("int", "channel"), numbers("int", "token", dynamic=True), "int-quantized"
    ),
    "fp8 channels": scheme(
        numbers("float", "channel"), numbers("float", "token", dynamic=True), "float-quantized"
    ),
    "fp8 tensors": scheme(
        numbers("float", "tensor"), numbers("float", "tensor", dynamic=False), "float-quantized"
    ),
    "modelopt fp8": {"quant_method": "modelopt", "quant_algo": "FP8"},
    "modelopt fp4": {
        "quant_method": "modelopt", "quant_algo": "NVFP4", "group_size": 16, "ignore": ["lm_head"]
    },
    "blockwise int8": {
        "quant_method": "blockwise_int8", "activation_scheme": "dynamic", "weight_block_size": [128, 128]
    },
    "mxfp8": {"quant_method": "mxfp8", "activation_scheme": "dynamic", "weight_block_size": [1, 32]},
}  # fmt: skip


def model(checkpoint: str) -> dict[str, Any]:
    config: dict[str, Any] = json.loads((EXAMPLE / "config.json").read_text())
    quantization = CHECKPOINTS[checkpoint]
    own = {key: value for key, value in config.items() if key != "quantization_config"}
    return own if quantization is None else {**own, "quantization_config": quantization}


def asked(library: Library, checkpoint: str, capability: int, **more: Any) -> tuple[Outcome, ...]:
    given: dict[str, Any] = {"layer": "o_proj", "profile": "wheel", "cuda": 13000, **more}
    scenario = Scenario(model=model(checkpoint), capability=capability, **given)
    (chain,) = answered(library, scenario, {}).chains
    return chain.outcomes


def told(outcome: Outcome) -> str:
    """How an answer ends, in a line."""
    if outcome.refusal is not None:
        return str(outcome.refusal)
    return f"{' '.join(map(short, outcome.steps()))}: {', '.join(map(short, outcome.ops))}"


MARLIN = "gptq_marlin_gemm"
INT8 = "_per_token_group_quant_int8, _w8a8_block_int8_matmul"
FP8 = "Fp8Config Fp8LinearMethod: "
CT = "CompressedTensorsConfig CompressedTensorsLinearMethod CompressedTensors"
MODELOPT = "ModelOptFp"
TOO_OLD = "is not supported for the current GPU. Minimum capability: "


@pytest.mark.parametrize(
    ("checkpoint", "capabilities", "end"),
    [
        ("bfloat16", (75, 90, 120), "UnquantizedLinearMethod: torch.nn.functional.linear"),
        ("fp8", (75,), f"ValueError: The quantization method fp8 {TOO_OLD}80"),
        ("fp8", (80,), FP8 + MARLIN),
        ("fp8", (89, 90, 100, 120), f"{FP8}sgl_per_token_quant_fp8, fp8_scaled_mm"),
        ("fp8 blocks", (80,), FP8 + MARLIN),
        ("fp8 blocks", (89, 120), f"{FP8}_per_token_group_quant_8bit, _w8a8_block_fp8_matmul"),
        ("awq", (75,), "ValueError: torch.bfloat16 is not supported for quantization method awq"),
        ("awq", (80, 90, 120), f"AWQMarlinConfig AWQMarlinLinearMethod: {MARLIN}"),
        ("gptq", (75,), "ValueError: torch.bfloat16 is not supported for quantization method gptq"),
        ("gptq", (80, 100), f"GPTQMarlinConfig GPTQMarlinLinearMethod: {MARLIN}"),
        ("int8", (80, 90, 100), f"{CT}W8A8Int8: _per_token_quant_int8, int8_scaled_mm"),
        ("fp8 channels", (80,), f"{CT}W8A16Fp8: {MARLIN}"),
        ("fp8 channels", (89, 120), f"{CT}W8A8Fp8: sgl_per_token_quant_fp8, fp8_scaled_mm"),
        ("fp8 tensors", (90,), f"{CT}W8A8Fp8: per_tensor_quant_fp8, torch._scaled_mm"),
        ("modelopt fp8", (80,), f"ValueError: The quantization method modelopt_fp8 {TOO_OLD}89"),
        (
            "modelopt fp8",
            (89, 100),
            "ModelOptFp8Config ModelOptFp8LinearMethod: _static_quant_fp8, fp8_scaled_mm",
        ),
        ("modelopt fp4", (90,), f"ValueError: The quantization method modelopt_fp4 {TOO_OLD}100"),
        ("modelopt fp4", (100,), f"{MODELOPT}4Config {MODELOPT}4LinearMethod: scaled_fp4_quant, mm_fp4"),
        ("blockwise int8", (90,), f"BlockInt8Config BlockInt8LinearMethod: {INT8}"),
        ("mxfp8", (90,), f"ValueError: The quantization method mxfp8 {TOO_OLD}100"),
    ],
)
def test_each_method_ends_where_the_engine_s_own_code_does(
    sglang: Library, checkpoint: str, capabilities: tuple[int, ...], end: str
) -> None:
    for capability in capabilities:
        (outcome,) = asked(sglang, checkpoint, capability)
        assert told(outcome).startswith(end)


@pytest.mark.parametrize(
    ("capability", "there", "without"),
    [(90, "fp8_gemm_nt", "fp8_blockwise_scaled_mm"), (100, "fp8_gemm_nt", "gemm_fp8_nt_groupwise")],
)
def test_a_function_that_is_chosen_by_a_package_tells_ends_apart(
    sglang: Library, capability: int, there: str, without: str
) -> None:
    ends = asked(sglang, "fp8 blocks", capability)
    assert all("deep_gemm" in str(outcome.guard) for outcome in ends)
    bare = [short(o.ops[-1]) for o in ends if "deep_gemm == False" in str(o.guard)]
    assert bare == [without]
    (known,) = asked(sglang, "fp8 blocks", capability, packages={"deep_gemm": False})
    assert short(known.ops[-1]) == without
    given = asked(sglang, "fp8 blocks", capability, packages={"deep_gemm": True})
    assert there in {short(op) for outcome in given for op in outcome.ops}


def test_what_torch_is_built_for_is_open_where_nothing_tells(sglang: Library) -> None:
    """Its source pins torch's version alone: on newer devices the build decides, on a H100 none does."""
    ends = asked(sglang, "modelopt fp4", 120, cuda=None)
    told_ = {str(outcome.guard): [short(op) for op in outcome.ops] for outcome in ends}
    assert told_ == {
        "cuda == 12060": ["scaled_fp4_quant", "mm_fp4"],
        "cuda in (12080, 12090, 13000)": ["fp4_quantize", "mm_fp4"],
    }
    (known,) = asked(sglang, "fp8", 90, cuda=None)
    assert str(known.guard) == "always"


def test_what_ranks_exchange_is_no_end_of_a_forward(sglang: Library) -> None:
    for checkpoint in ("fp8", "awq", "int8"):
        (alone,) = asked(sglang, checkpoint, 90)
        (shared,) = asked(sglang, checkpoint, 90, tensor_parallel=2)
        assert (told(shared), str(shared.guard)) == (told(alone), "always")


def test_a_forward_that_raises_without_a_package_is_no_kernel_s_answer(sglang: Library) -> None:
    """Whether tensors are read well enough to say so is open; that it runs is not told as certain."""
    (there,) = asked(sglang, "mxfp8", 100, packages={"triton_kernels": True})
    assert short(there.ops[-1]) == "_mxfp8_block_scaled_matmul_kernel" and str(there.guard) == "always"
    without = asked(sglang, "mxfp8", 100, packages={"triton_kernels": False})
    said = [outcome.refusal.message for outcome in without if outcome.refusal is not None]
    assert "MXFP8 quantization requires triton_kernels with MXFP8 support." in said
    assert all("loading or running the layer raises, as read" in str(outcome.guard) for outcome in without)


def nested(quantization: dict[str, Any]) -> dict[str, Any]:
    """A checkpoint whose language model has a config of its own, which the start copies to the outer one."""
    inner = {key: value for key, value in model("bfloat16").items() if key != "architectures"}
    outer = {"architectures": ["LlavaForConditionalGeneration"], "model_type": "llava"}
    return {**outer, "text_config": {**inner, "quantization_config": quantization}}


def test_a_config_within_the_config_is_read_as_the_start_reads_it(sglang: Library) -> None:
    config = nested({"quant_method": "fp8", "activation_scheme": "dynamic"})
    scenario = Scenario(model=config, capability=90, layer="o_proj", profile="wheel", cuda=13000)
    (outcome,) = answered(sglang, scenario, {}).chains[0].outcomes
    assert told(outcome) == f"{FP8}sgl_per_token_quant_fp8, fp8_scaled_mm"


@pytest.mark.parametrize(
    ("architecture", "doubted"), [("LlamaForCausalLM", False), ("NemotronHForCausalLM", True)]
)
def test_names_of_layers_are_in_doubt_where_the_model_s_class_renames_them(
    sglang: Library, architecture: str, doubted: bool
) -> None:
    left = ["model.layers.0.self_attn.o_proj"]
    skipped = {"quant_method": "fp8", "activation_scheme": "dynamic", "ignored_layers": left}
    config = {**model("bfloat16"), "architectures": [architecture], "quantization_config": skipped}
    scenario = Scenario(model=config, capability=90, layer="o_proj", profile="wheel", cuda=13000)
    ends = answered(sglang, scenario, {}).chains[0].outcomes
    assert {"the model names this layer" in str(outcome.guard) for outcome in ends} == {doubted}


def test_a_flag_that_the_checkpoint_contradicts_is_refused_in_the_engine_s_words(sglang: Library) -> None:
    (outcome,) = asked(sglang, "fp8", 90, quantization="awq")
    assert told(outcome).startswith("ValueError: Quantization method specified in the model config (fp8)")
    (taken,) = asked(sglang, "bfloat16", 90, quantization="w8a8_int8")
    assert told(taken) == "W8A8Int8Config W8A8Int8LinearMethod: _per_token_quant_int8, int8_scaled_mm"


def test_the_start_of_the_server_is_the_release_s_own(sglang: Library) -> None:
    scenario = Scenario(model=model("awq"), capability=90, layer="o_proj", profile="wheel", cuda=13000)
    report = answered(sglang, scenario, {})
    assert report.question.resolved["quantization"] == "awq_marlin"
    hops = [hop for hop in report.chains[0].hops if hop.symbol.endswith("ModelConfig._verify_quantization")]
    assert [hop.note for hop in hops] == [None]
    assert report.coverage is not None and not report.coverage.budgets


@pytest.mark.parametrize(
    ("scenario", "said"),
    [
        ({"layer": "experts"}, "--layer experts: of SGLang qtrace reads linear layers"),
        ({"kv_cache_dtype": "fp8_e4m3"}, "--kv-cache-dtype: qtrace does not read SGLang's cache yet"),
        ({"expert_parallel": True}, "--expert-parallel: qtrace does not read SGLang's experts yet"),
        ({"platform": "rocm"}, "--platform rocm: qtrace reads SGLang for CUDA"),
    ],
)
def test_what_is_not_read_yet_is_one_line(sglang: Library, scenario: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        answered(sglang, Scenario(model=model("fp8"), capability=90, **scenario), {})
