"""What vLLM learns of a checkpoint before it looks at the flag: its own reader, fed with the files at
hand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import tree
from ..evaluate import attributes
from ..evaluate.calls import call_value
from ..evaluate.unions import settle
from ..evaluate.values import MISSING, DictValue, Instance, ListValue, Native, Unknown, Value
from ..links import function_behind
from ..models.stdlib import box_json
from ..scenario import Scenario
from . import folder, platform as facts
from .entering import call
from .vllm_names import Fused

if TYPE_CHECKING:
    from ..evaluate.machine import Machine

MODELS = "vllm.model_executor.models"
READER = "vllm.transformers_utils.config"
CONVERTORS = "vllm.transformers_utils.model_arch_config_convertor"


def load(m: Machine, scenario: Scenario, model: Instance) -> None:
    """Fill the model config's view of the checkpoint as the engine's `get_config` would."""
    _files(m, scenario)
    # Only a shorthand for checkpoints that are not quantized comes here without a checkpoint.
    if scenario.whole:
        folder.install(m, scenario)
    hf = call(m, f"{READER}.get_config", model.attrs["model"], False)
    model.attrs["hf_config"] = hf
    model.attrs["hf_text_config"] = facts.text_config(m, settle(m, hf))
    if m.world.source.module(CONVERTORS) is not None:  # older releases ask the checkpoint's config itself
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
    m.facts[f"{READER}.get_safetensors_params_metadata"] = _headers(scenario)
    retry = Native("with_retry", lambda m, args, kwargs: call_value(m, args[0], (), {}))
    m.facts["vllm.transformers_utils.repo_utils.with_retry"] = retry


STORED_AS_SAID = {".qweight": {"dtype": "I32", "shape": []}}
"""Stands for headers that are not at hand, where a quantization method asks which modules are stored
quantized: one tensor of a module whose name is part of every other, so all of them are.
"""


HEADERS_SUPPOSED = "headers of tensors are supposed"
"""The setting that says that a quantization method was answered with them."""


def _headers(scenario: Scenario) -> Native:
    """Answer for the headers of the checkpoint's tensors."""

    def read(m: Machine, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        by_method = ".quantization." in m.frame.module.name
        if by_method and not scenario.tensors:
            m.world.settings[HEADERS_SUPPOSED] = True
        return box_json(m, scenario.tensors or (STORED_AS_SAID if by_method else {}))

    return Native("headers of the tensors", read)


def _architecture(m: Machine, model: Instance, whole: bool) -> Instance:
    """The engine's own reading of the checkpoint: its quantization config and its head counts."""
    hf = settle(m, model.attrs["hf_config"])
    convertors = facts.engine_value(m, f"{CONVERTORS}.MODEL_ARCH_CONFIG_CONVERTORS")
    base = facts.engine_value(m, f"{CONVERTORS}.ModelArchConfigConvertorBase")
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


def architecture(scenario: Scenario) -> str | None:
    """The first architecture that the checkpoint names."""
    names = (scenario.model or {}).get("architectures")
    first = names[0] if isinstance(names, list) and names else None
    return first if isinstance(first, str) else None


def model_class(m: Machine, scenario: Scenario) -> Value:
    """The class that the engine's registry names for the checkpoint's architecture; None where it names
    none.
    """
    table = facts.engine_value(m, f"{MODELS}.registry._VLLM_MODELS")
    row = table.entries.get(("constant", architecture(scenario))) if isinstance(table, DictValue) else None
    if row is None or not isinstance(row[1], tuple):
        return None
    module, cls = row[1]
    whole = m.world.source.module(module) is not None
    with m.aside():
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


def fused_names(m: Machine, mapping: Value) -> Fused:
    """A `packed_modules_mapping` in plain words."""
    out: Fused = {}
    for name, parts in mapping.entries.values() if isinstance(mapping, DictValue) else ():
        held = settle(m, parts.content) if isinstance(parts, ListValue) else parts
        if isinstance(name, str) and isinstance(held, tuple):
            out[name] = tuple(part for part in held if isinstance(part, str))
    return out


FITTER = "vllm.model_executor.model_loader.utils.configure_quant_config"
"""The engine function that gives a config object the model class's names, whose text tells how."""
MAPS = ("map_name", "_map_name")
"""What the engine's mapper calls the method that renames one module, newer releases first."""


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
        made_by = _made_by(m)
        return mapper if made_by is None else call_value(m, attributes.get(m, mapper, made_by, None), (), {})


def _made_by(m: Machine) -> str | None:
    """The method of the model's mapper whose result the engine gives to the config; None for the mapper."""
    for node in m.world.source.below(function_behind(facts.engine_value(m, FITTER)).node):
        if isinstance(node, tree.Call) and isinstance(node.func, tree.Attr):
            given = node.args[0].value if node.args else None
            if node.func.name == "apply_vllm_mapper":
                made = given.func if isinstance(given, tree.Call) else None
                return made.name if isinstance(made, tree.Attr) else None
    raise LookupError(f"{FITTER} applies no mapper")


def renamed(m: Machine, mapper: Value, name: str) -> str | None:
    """What a mapper makes of a name in the checkpoint; None where that is not known, or the module is not
    loaded.
    """
    with m.aside():
        method = next((a for n in MAPS if (a := attributes.find(m, mapper, n, None)) is not MISSING), None)
        made = None if method is None else call_value(m, method, (name,), {})
    return made if isinstance(made, str) else None
