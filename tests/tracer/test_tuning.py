"""The tuned configuration that a layer looks for: its name is what the engine's own code makes of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest
from asking import EXAMPLE
from msgspec.structs import replace

from qtrace.report.errors import SourceError
from qtrace.report.gate import exit_for
from qtrace.report.model import Finding, Outcome, Parameter, Report, Tuned, Verdict
from qtrace.report.predicate import Always
from qtrace.report.text import render
from qtrace.rules import judge
from qtrace.rules.examples import chain, refused, reported
from qtrace.tracer.answer import answered
from qtrace.tracer.answers import Answers, FromSnapshot, FromSource
from qtrace.tracer.engines.vllm_tuned import Request
from qtrace.tracer.jit.tuned import TunedFiles
from qtrace.tracer.library import Library
from qtrace.tracer.scenario import Scenario
from qtrace.tracer.snapshot.file import Snapshot
from qtrace.tracer.sources import Held, Source, open_source
from qtrace.tracer.tuning import looked_for, with_tuned

QWEN3 = json.loads((EXAMPLE.parent / "qwen3-235b-a22b-fp8" / "config.json").read_text())
del QWEN3["quantization_config"]
H100, H200 = "NVIDIA H100 80GB HBM3", "NVIDIA H200"
FP8 = {"quant_method": "fp8", "activation_scheme": "dynamic"}
BLOCKS = {**FP8, "weight_block_size": [128, 128]}
WHOLE = {"num_bits": 8, "type": "int", "symmetric": True, "strategy": "channel", "dynamic": False}
TOKEN = {**WHOLE, "strategy": "token", "dynamic": True}
GROUPS = {**WHOLE, "num_bits": 4, "strategy": "group", "group_size": 128}
FOLDER = "vllm/model_executor/layers/fused_moe/configs"
ROUTED = "model.layers.0.mlp.experts.routed_experts"
FILE = "device_name=NVIDIA_H100_80GB_HBM3"
DISABLED = (
    "FlashInferFp8DeepGEMMDynamicBlockScaledKernel,DeepGemmFp8BlockScaledMMKernel,"
    "CutlassFp8BlockScaledMMKernel,B12xFp8BlockScaledMMKernel,MarlinFP8ScaledMMLinearKernel,"
    "HummingFP8ScaledMMLinearKernel"
)
"""What stands before the Triton kernel in 0.33.0's list for FP8 in blocks."""


def compressed(weights: dict[str, Any], activations: dict[str, Any] | None, form: str) -> dict[str, Any]:
    group = {"targets": ["Linear"], "weights": weights, "input_activations": activations}
    ignore = ["lm_head", "re:.*gate$"]
    return {
        "quant_method": "compressed-tensors",
        "format": form,
        "ignore": ignore,
        "config_groups": {"0": group},
    }


def question(quantization: dict[str, Any] | None, **asked: Any) -> Scenario:
    """16 experts of 1536 on an H100, unless something else is asked."""
    config = {**QWEN3, "num_experts": asked.pop("experts", 16)}
    config |= {"quantization_config": quantization} if quantization is not None else {}
    config["moe_intermediate_size"] = asked.pop("intermediate", 1536)
    device = {"device_name": H100, "capability": 90, "compute_units": 132, "cuda": 13000}
    return Scenario(**{"model": config, "layer": "experts", "profile": "wheel", **device, **asked})


def experts_of(layer: str = ROUTED) -> Report:
    """As much of a report as says that there are experts."""
    end = Outcome(parameters=(Parameter(name="w2_weight", dtype="bfloat16", shape=(16, 4096, 1536)),))
    return reported(chain(end, layer="experts", layers=(layer,)))


def answers_of(library: Library) -> Answers:
    made = FromSource(library.source)
    made.library = library
    return made


def looked(library: Library, scenario: Scenario, report: Report | None = None) -> tuple[Tuned, ...]:
    return with_tuned(report or experts_of(), answers_of(library), scenario).tuned


def judged(library: Library, scenario: Scenario) -> Report:
    made = with_tuned(answered(library, scenario, {}), answers_of(library), scenario)
    return replace(made, findings=judge(made))


def missing(report: Report) -> list[Finding]:
    return [found for found in report.findings if found.name == "kernel.assets_missing"]


def test_the_file_that_the_log_of_an_issue_misses(library: Library) -> None:
    """Issue 17619: `Using default MoE config [...] E=16,N=1536,...,block_shape=[128,128].json`."""
    report = judged(library, question(BLOCKS))
    (tuned,) = report.tuned
    assert tuned.wanted == f"E=16,N=1536,{FILE},dtype=fp8_w8a8,block_shape=[128,128].json"
    assert (tuned.shipped, tuned.guard, tuned.layer) == (None, Always(), ROUTED)
    (found,) = missing(report)
    assert (found.verdict, found.level, exit_for(report.findings)) == (Verdict.FAIL, "note", 0)
    assert found.expected == tuned.wanted and "measure before" in found.message
    assert (
        found.evidence[0]
        == f"nearest shipped: {FOLDER}/E=256,N=384,{FILE},dtype=fp8_w8a8,block_shape=[128,128].json"
    )
    assert "tuned configurations  1 file that kernels look for" in render(report)


@pytest.mark.parametrize(
    ("quantization", "asked", "wanted"),
    [
        (None, {}, f"E=16,N=1536,{FILE}.json"),
        (None, {"tensor_parallel": 4}, f"E=16,N=384,{FILE}.json"),
        (None, {"tensor_parallel": 8, "experts": 128, "expert_parallel": True}, f"E=16,N=1536,{FILE}.json"),
        (FP8, {}, f"E=16,N=1536,{FILE},dtype=fp8_w8a8.json"),
        # Blocks that a rank's part of the experts is no multiple of are made smaller.
        (
            BLOCKS,
            {"tensor_parallel": 8, "experts": 128},
            f"E=128,N=192,{FILE},dtype=fp8_w8a8,block_shape=[64,64].json",
        ),
        # The release has files for int8_w8a8, and no code that asks for them.
        (compressed(WHOLE, TOKEN, "int-quantized"), {}, f"E=16,N=1536,{FILE}.json"),
    ],
)
def test_names_follow_the_layer(
    library: Library, quantization: dict[str, Any] | None, asked: dict[str, Any], wanted: str
) -> None:
    assert [tuned.wanted for tuned in looked(library, question(quantization, **asked))] == [wanted]


def test_a_file_that_is_shipped(library: Library) -> None:
    asked = {"experts": 128, "intermediate": 768, "tensor_parallel": 2, "device_name": H200}
    made = with_tuned(experts_of(), answers_of(library), question(None, **asked))
    (tuned,) = made.tuned
    assert tuned.shipped == f"{FOLDER}/E=128,N=384,device_name=NVIDIA_H200.json"
    assert tuned.nearest == () and not missing(replace(made, findings=judge(made)))


def test_other_kernels_look_for_no_file(library: Library) -> None:
    """DeepGEMM and FlashInfer ignore them; of packed weights nothing is told."""
    packed = compressed(GROUPS, None, "pack-quantized")
    kernels = question(BLOCKS, experts=128, tensor_parallel=8, expert_parallel=True)
    assert looked(library, question(packed)) == looked(library, kernels) == ()


def test_linear_layers(library: Library) -> None:
    """Each layer has its own file, where the Triton kernel is what is left."""
    environment = {"VLLM_DISABLED_KERNELS": DISABLED}
    report = judged(library, question(BLOCKS, layer="linear", environment=environment))
    names = ("N=9216,K=4096", "N=4096,K=8192", "N=16,K=4096")
    assert [tuned.wanted for tuned in report.tuned] == [
        f"{name},{FILE},dtype=fp8_w8a8,block_shape=[128,128].json" for name in names
    ]
    assert {tuned.guard for tuned in report.tuned} == {Always()} and len(missing(report)) == 3


class Nobody:
    """Must not be asked."""

    def tuned(self) -> TunedFiles:
        raise AssertionError


@pytest.mark.parametrize(
    ("report", "asked"),
    [
        (experts_of(), {"device_name": None}),
        (experts_of(), {"model": None}),
        (reported(chain(refused("no."), layer="experts", layers=("a",))), {}),
        (reported(chain(Outcome(), layer="experts", layers=("a",))), {}),
    ],
)
def test_nothing_is_told_where_device_or_shapes_are_open(report: Report, asked: dict[str, Any]) -> None:
    assert with_tuned(report, cast(Answers, Nobody()), question(FP8, **asked)) is report


def test_a_folder_of_the_user_s_own_is_not_known(library: Library) -> None:
    environment = {"VLLM_TUNED_CONFIG_FOLDER": "/somewhere"}
    assert looked(library, question(FP8, environment=environment)) == ()


def test_linear_layers_of_other_kernels_are_not_walked_again(library: Library) -> None:
    """Whether a forward comes to such a kernel stands in its hops."""
    end = experts_of().chains[0].outcomes[0]
    linear = reported(chain(end, layer="linear", layers=("qkv_proj",)))
    assert with_tuned(linear, answers_of(library), question(FP8, layer="linear")) is linear


BLANK = """import os
from vllm.names import get_device_name

def configs(N, K):
    name = f"N={N},K={K},device={get_device_name().replace(' ', '_')},shape=[1, 2].json"
    path = os.path.join(os.path.dirname(os.path.realpath(__file__)), "configs", name)
    with open(path) as file:
        return file.read()

def launch(x):
    return configs(8, 9)
"""


def test_a_file_that_blanks_in_its_name_hide() -> None:
    """As int8_utils.py of 0.20.0 asks for its files."""
    shipped = "vllm/sub/configs/N=8,K=9,device=A_B,shape=[1,2].json"
    content = {"vllm/__init__.py": b"", "vllm/sub/load.py": BLANK.encode(), shipped: b"{}"}
    files = TunedFiles(Source("vllm", Held(content)))
    asked = Request("vllm.sub.load.configs", "qkv_proj", {"N": 8, "K": 9}, Always())
    tuned = looked_for(asked, files, "A B")
    assert tuned is not None and (tuned.shipped, tuned.spelt) == (None, shipped)
    assert tuned.wanted == "N=8,K=9,device=A_B,shape=[1, 2].json"
    other = looked_for(asked._replace(given={"N": 8, "K": 10}), files, "A B")
    assert other is not None and other.spelt is None
    assert looked_for(asked._replace(given={"N": 8}), files, "A B") is None


def test_a_snapshot_has_none_without_its_source() -> None:
    said: list[str] = []

    def bring() -> FromSource:
        raise SourceError("nowhere")

    answers = FromSnapshot(cast(Snapshot, None), bring, said.append)
    assert answers.tuned() is None and len(said) == 1


@pytest.mark.full
@pytest.mark.parametrize(
    ("version", "quantization", "ends"),
    [
        ("0.20.0", BLOCKS, ",dtype=fp8_w8a8,block_shape=[128,128].json"),
        # Without scales of its activations this release takes such experts for 8 bits in weights alone.
        ("0.20.0", compressed(WHOLE, TOKEN, "int-quantized"), ",dtype=int8_w8a16.json"),
        ("0.26.0", BLOCKS, ",dtype=fp8_w8a8,block_shape=[128,128].json"),
    ],
)
def test_other_releases(vllm_sdist: Path, version: str, quantization: dict[str, Any], ends: str) -> None:
    source = vllm_sdist.parent / f"vllm-{version}.tar.gz"
    if not source.exists():
        pytest.fail(f"no source at {source}: run `.ci/sdist vllm {version}`")
    report = judged(Library(open_source(source)), question(quantization))
    assert [tuned.wanted for tuned in report.tuned] == [f"E=16,N=1536,{FILE}{ends}"]
    assert len(missing(report)) == 1
