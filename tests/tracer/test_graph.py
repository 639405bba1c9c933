"""The path that `--quantization fp8` takes through vLLM 0.33.0, edge by edge, as read in its source by
people.
"""

from __future__ import annotations

import ast

import networkx as nx
import pytest

from qtrace.tracer.answer import walked
from qtrace.tracer.engines.walk import Walk
from qtrace.tracer.graph import graph, registries
from qtrace.tracer.library import Library
from qtrace.tracer.scenario import Scenario
from qtrace.tracer.sources import Source

Q = "vllm.model_executor.layers.quantization"
K = "vllm.model_executor.kernels.linear"
FP8 = f"{K}.scaled_mm.ScaledMMLinearKernel.FP8ScaledMMLinearKernel"
CUTLASS = f"{K}.scaled_mm.cutlass.CutlassFP8ScaledMMLinearKernel"
ARGS = "vllm.engine.arg_utils.EngineArgs"
CONFIG = "vllm.config.vllm.VllmConfig"
WEIGHTS = "vllm.model_executor.model_loader.weight_utils"
LINEAR = "vllm.model_executor.layers.linear"

EDGES = {
    "E1": (f"{ARGS}.create_engine_config", f"{ARGS}.create_model_config"),
    "E2": (f"{CONFIG}.__post_init__", f"{CONFIG}._get_quantization_config"),
    "E2b": (f"{CONFIG}._get_quantization_config", f"{WEIGHTS}.get_quant_config"),
    "E3": (f"{WEIGHTS}.get_quant_config", f"{Q}.get_quantization_config"),
    "E4": (f"{Q}.get_quantization_config", f"{Q}.fp8.Fp8Config"),
    "E5": (f"{Q}.fp8.Fp8Config.get_quant_method", f"{Q}.fp8.Fp8LinearMethod"),
    "E6": (f"{Q}.base_config.resolve_quant_method", f"{Q}.fp8.Fp8Config.get_quant_method"),
    "E7": (f"{LINEAR}.ColumnParallelLinear.forward", f"{Q}.fp8.Fp8LinearMethod.apply"),
    "E8": (f"{Q}.fp8.Fp8LinearMethod.create_weights", f"{K}.init_fp8_linear_kernel"),
    "E9": (f"{K}.init_fp8_linear_kernel", CUTLASS),
    "E10": (f"{Q}.fp8.Fp8LinearMethod.apply", f"{FP8}.apply_weights"),
    "E11": (f"{FP8}.apply_weights", f"{CUTLASS}.apply_scaled_mm"),
    "E12": (f"{CUTLASS}.apply_scaled_mm", "vllm._custom_ops.cutlass_scaled_mm"),
    "E13": ("vllm._custom_ops.cutlass_scaled_mm", "torch.ops._C.cutlass_scaled_mm"),
}


@pytest.fixture(scope="module")
def walk(library: Library) -> Walk:
    model = {
        "model_type": "llama",
        "architectures": ["LlamaForCausalLM"],
        "hidden_size": 4096,
        "intermediate_size": 14336,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "quantization_config": {"quant_method": "fp8", "activation_scheme": "static"},
    }
    scenario = Scenario(
        quantization="fp8",
        capability=90,
        profile="bare",
        dtype="bfloat16",
        cuda=13000,
        model=model,
        layer="gate_up_proj",
    )
    return walked(library, scenario)


@pytest.fixture(scope="module")
def drawn(walk: Walk) -> nx.MultiDiGraph:
    return graph(walk)


@pytest.mark.parametrize("name", EDGES)
def test_edge_of_the_true_path_is_in_the_graph(drawn: nx.MultiDiGraph, name: str) -> None:
    assert drawn.has_edge(*EDGES[name])


def test_one_path_leads_from_the_flag_to_the_op(drawn: nx.MultiDiGraph) -> None:
    assert nx.has_path(drawn, f"{LINEAR}.ColumnParallelLinear.forward", "torch.ops._C.cutlass_scaled_mm")
    assert nx.has_path(drawn, f"{CONFIG}._get_quantization_config", f"{Q}.fp8.Fp8Config")


def test_the_registry_has_one_target_for_the_flag(walk: Walk) -> None:
    """E4: of the table's config classes exactly one is reached for the flag."""
    reached = {
        e.callee
        for e in walk.m.record.edges
        if e.phase == "_get_quantization_config" and e.why == "dispatches" and e.caller == EDGES["E4"][0]
    }
    assert reached == {EDGES["E4"][1]}


def test_the_config_has_one_layer_method(drawn: nx.MultiDiGraph) -> None:
    """E5: of all methods that `get_quant_method` can return, a linear layer gets exactly one."""
    made = {t for _, t, data in drawn.out_edges(EDGES["E5"][0], data=True) if data["why"] == "constructs"}
    assert made == {EDGES["E5"][1]}


def _source_list(source: Source, table: str, platform: str) -> list[str]:
    """The names in a candidate table, read by the standard parser alone."""
    tree = ast.parse(source.text("vllm/model_executor/kernels/linear/__init__.py") or "")
    for node in tree.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == table:
            assert isinstance(node.value, ast.Dict)
            for key, value in zip(node.value.keys, node.value.values, strict=True):
                if isinstance(key, ast.Attribute) and key.attr == platform and isinstance(value, ast.List):
                    return [n.id for n in value.elts if isinstance(n, ast.Name)]
    raise AssertionError(f"{table}[{platform}] is not in the source")


def test_the_kernel_candidates_are_the_sources_list_and_no_more(
    walk: Walk, drawn: nx.MultiDiGraph, vllm_source: Source
) -> None:
    """E9: the choice runs over the table's own entries and takes one; on SM90 one is moved forward by the
    engine.
    """
    chooser = f"{K}.choose_scaled_mm_linear_kernel"
    asked = registries(walk)["_POSSIBLE_FP8_KERNELS[CUDA]"]
    candidates = [t for _, t, data in drawn.out_edges(chooser, data=True) if data["why"] == "candidate"]
    assert candidates == list(asked)
    names = [s.rpartition(".")[2] for s in asked]
    listed = _source_list(vllm_source, "_POSSIBLE_FP8_KERNELS", "CUDA")
    humming = "HummingFP8ScaledMMLinearKernel"
    assert sorted(names) == sorted(listed)
    assert [n for n in names if n != humming] == [n for n in listed if n != humming]
    built = {t for _, t, data in drawn.out_edges(EDGES["E9"][0], data=True) if data["why"] == "constructs"}
    assert built & set(asked) == {CUTLASS}
