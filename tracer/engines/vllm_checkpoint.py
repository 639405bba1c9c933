"""What vLLM learns of a checkpoint before it looks at the flag: its own reader, fed with the files at
hand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..evaluate import attributes
from ..evaluate.calls import call_value
from ..evaluate.unions import settle
from ..evaluate.values import MISSING, DictValue, Instance, Native, Unknown, Value
from ..models.stdlib import box_json
from ..scenario import Scenario
from . import folder, platform as facts
from .vllm import ROOT, call

if TYPE_CHECKING:
    from ..evaluate.machine import Machine

MODELS = "vllm.model_executor.models"
READER = "vllm.transformers_utils.config"


def load(m: Machine, scenario: Scenario, model: Instance) -> None:
    """Fill the model config's view of the checkpoint as the engine's `get_config` would."""
    _files(m, scenario)
    # Only a shorthand for checkpoints that are not quantized comes here without a checkpoint.
    if scenario.whole:
        folder.install(m, scenario)
    hf = call(m, f"{READER}.get_config", model.attrs["model"], False)
    model.attrs["hf_config"] = hf
    model.attrs["hf_text_config"] = facts.text_config(m, settle(m, hf))
    model.attrs["model_arch_config"] = _architecture(m, model, scenario.whole)


def _files(m: Machine, scenario: Scenario) -> None:
    """Answer for the hub: which files there are and what they hold."""
    contents = {"config.json": scenario.model or {}, **scenario.files}

    def exists(m: Machine, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        name = args[1] if len(args) > 1 else kwargs.get("config_name")
        return name in contents

    def read(m: Machine, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        return box_json(m, contents.get(args[0]))

    parser = Instance(m.world.outside_class("a config parser"), m.space.true)
    config = facts.checkpoint(m, scenario)
    if scenario.model is None:
        config.attrs |= dict.fromkeys(
            (*facts.CHECKPOINT_DICTS, "architectures", "text_config", "sub_configs")
        )
    raw = box_json(m, scenario.model or {})
    if isinstance(config, Instance) and isinstance(raw, DictValue):
        for key, (name, _) in list(raw.entries.items()):
            if name in facts.CHECKPOINT_DICTS and name in config.attrs:
                raw.entries[key] = (name, config.attrs[name])  # the two are one object in the engine
    parser.attrs["parse"] = Native("parse", lambda m, args, kwargs: (raw, config))
    for name, fact in (
        ("file_or_path_exists", Native("file exists", exists)),
        ("get_hf_file_to_dict", Native("file", read)),
        ("is_mistral_model_repo", facts.always(False)),
        ("get_config_parser", facts.always(parser)),
        ("patch_rope_parameters", facts.always(None)),
    ):
        m.facts[f"{READER}.{name}"] = fact
    m.facts["vllm.transformers_utils.repo_utils.file_or_path_exists"] = Native("file exists", exists)
    m.facts["vllm.transformers_utils.repo_utils.get_hf_file_to_dict"] = Native("file", read)
    m.facts["vllm.transformers_utils.repo_utils.is_mistral_model_repo"] = facts.always(False)
    tensors = facts.always(box_json(m, scenario.tensors))
    m.facts[f"{READER}.get_safetensors_params_metadata"] = tensors
    retry = Native("with_retry", lambda m, args, kwargs: call_value(m, args[0], (), {}))
    m.facts["vllm.transformers_utils.repo_utils.with_retry"] = retry


def _architecture(m: Machine, model: Instance, whole: bool) -> Instance:
    """The engine's own reading of the checkpoint: its quantization config and its head counts."""
    hf = settle(m, model.attrs["hf_config"])
    convertors = facts.engine_value(
        m, "vllm.transformers_utils.model_arch_config_convertor.MODEL_ARCH_CONFIG_CONVERTORS"
    )
    base = facts.engine_value(
        m, "vllm.transformers_utils.model_arch_config_convertor.ModelArchConfigConvertorBase"
    )
    kind = hf.attrs.get("model_type") if isinstance(hf, Instance) else None
    cls = convertors.entries.get(("constant", kind), (None, base))[1]
    convertor = call_value(m, cls, (hf, model.attrs["hf_text_config"]), {})
    if whole:
        convert = attributes.get(m, convertor, "convert", None)
        # A checkpoint need not spell out what the class of its config has by default: no refusal.
        converted, raised = facts.attempt(m, lambda: call_value(m, convert, (), {}))
        if isinstance(converted, Instance) and not raised:
            return converted
    out = facts.new(m, m.world.outside_class("model architecture"))
    out.attrs["quantization_config"] = call_value(
        m, attributes.get(m, convertor, "get_quantization_config", None), (), {}
    )
    text = model.attrs["hf_text_config"]
    for name, entry in (
        ("total_num_attention_heads", "num_attention_heads"),
        ("total_num_kv_heads", "num_key_value_heads"),
    ):
        there = isinstance(text, Instance) and entry in text.attrs
        out.attrs[name] = text.attrs[entry] if there else Unknown(entry, entry, kind="int")
    return out


def model_class(m: Machine, scenario: Scenario) -> Value:
    """The class that the engine's registry names for the checkpoint's architecture; None where it names
    none.
    """
    names = (scenario.model or {}).get("architectures") or [None]
    table = facts.engine_value(m, f"{MODELS}.registry._VLLM_MODELS")
    row = table.entries.get(("constant", names[0])) if isinstance(table, DictValue) else None
    if row is None or not isinstance(row[1], tuple):
        return None
    module, cls = row[1]
    with m.aside():
        whole = module.startswith(f"{ROOT}.")  # some stand outside of the folder of models
        owner = m.world.import_module(m, module if whole else f"{MODELS}.{module}", None)
        found = attributes.find(m, owner, cls, None)
    return None if found is MISSING else found


def fused_modules(m: Machine, scenario: Scenario) -> Value:
    """The model class's `packed_modules_mapping`; empty where the architecture or the mapping is not
    known.
    """
    found = model_class(m, scenario)
    if found is None:
        return box_json(m, {})
    with m.aside():
        mapping = attributes.find(m, found, "packed_modules_mapping", None)
    return mapping if isinstance(mapping, DictValue) else box_json(m, {})


def renamer(m: Machine, scenario: Scenario) -> Value:
    """What renames the checkpoint's modules to the engine's, by the model class; None where it renames
    nothing.
    """
    found = model_class(m, scenario)
    if found is None:
        return None
    with m.aside():
        mapper = attributes.find(m, found, "hf_to_vllm_mapper", None)
        if mapper is MISSING or not isinstance(mapper, Instance):
            return None
        return call_value(m, attributes.get(m, mapper, "get_rename_mapper", None), (), {})
