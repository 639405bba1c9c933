"""A checkpoint's folder: what is read of it, and what the engine finds there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from qtrace.report.errors import UsageError
from qtrace.report.model import Outcome
from qtrace.tracer.answer import report, walked
from qtrace.tracer.checkpoint import read_checkpoint
from qtrace.tracer.library import Library
from qtrace.tracer.scenario import Scenario

CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "torch_dtype": "bfloat16",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
}
AWQ = {"zero_point": True, "q_group_size": 128, "w_bit": 4, "version": "GEMM"}


def ask(library: Library, quantization: str, **files: dict[str, Any]) -> Outcome:
    """The one outcome for a folder of config.json and these files, `_` for the dot of their names."""
    named = {f"{name}.json": content for name, content in files.items()}
    scenario = Scenario(
        quantization=quantization,
        capability=90,
        profile="wheel",
        model=CONFIG,
        files=named,
        names=("config.json", "tokenizer.json", *named),
        layer="down_proj",
        cuda=13000,
    )
    ((outcome,),) = (chain.outcomes for chain in report(walked(library, scenario), {}).chains)
    return outcome


def message(outcome: Outcome) -> str | None:
    return None if outcome.refusal is None else outcome.refusal.message


def test_a_flag_over_a_folder_without_a_quantization_config_is_refused(library: Library) -> None:
    assert message(ask(library, "awq")) == "Cannot find the config file for awq"
    assert message(ask(library, "gptq", quant_config=AWQ)) == "Cannot find the config file for gptq"


def test_a_config_in_a_file_of_its_own_is_read(library: Library) -> None:
    outcome = ask(library, "awq", quant_config=AWQ)
    assert message(outcome) is None
    assert outcome.config is not None
    assert outcome.config.endswith(".AutoAWQConfig")
    assert outcome.kernels


def test_two_such_files_are_refused_by_name(library: Library) -> None:
    told = message(ask(library, "awq", quant_config=AWQ, quantize_config=AWQ))
    assert told is not None
    assert told.startswith("Found multiple config files for awq: ")
    assert "'model/quant_config.json'" in told
    assert "tokenizer" not in told


def test_modelopt_asks_who_produced_the_file(library: Library) -> None:
    quantized: dict[str, Any] = {"quant_algo": "FP8", "kv_cache_quant_algo": None, "exclude_modules": []}
    made = {"producer": {"name": "modelopt", "version": "0.29"}, "quantization": quantized}
    assert message(ask(library, "modelopt", hf_quant_config=made)) is None
    other = {"producer": {"name": "another"}, "quantization": quantized}
    told = message(ask(library, "modelopt", hf_quant_config=other))
    assert told is not None
    assert "does not match the quantization method" in told


def test_files_that_may_hold_a_quantization_config_are_read_and_others_listed(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    (tmp_path / "quantize_config.json").write_text(json.dumps({"bits": 4}))
    (tmp_path / "tokenizer.json").write_text("no JSON, and nobody asks")
    (tmp_path / "original").mkdir()
    found = read_checkpoint(tmp_path)
    assert found.files == {"config.json": CONFIG, "quantize_config.json": {"bits": 4}}
    assert found.names == ("config.json", "quantize_config.json", "tokenizer.json")


@pytest.mark.parametrize("name", ["config.json", "hf_quant_config.json"])
def test_a_broken_file_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    (tmp_path / name).write_text("{")
    with pytest.raises(UsageError, match=f"{name} is not JSON"):
        read_checkpoint(tmp_path)
