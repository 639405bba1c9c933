"""Sections moe (backend and experts class for a kind of weights) and moe_method (the method of a config)."""

from __future__ import annotations

import re
from typing import Any

from oracle_linear import quant_config
from oracle_premises import Open, act_dtype, machine

from qtrace.tracer.engines import entering, platform as facts
from qtrace.tracer.evaluate import attributes
from qtrace.tracer.evaluate.calls import call_value
from qtrace.tracer.evaluate.fields import fields_of
from qtrace.tracer.evaluate.machine import Dead, Machine
from qtrace.tracer.evaluate.texts import message
from qtrace.tracer.evaluate.unions import alternatives, settle
from qtrace.tracer.evaluate.values import MISSING, ClassValue, Guarded, Instance
from qtrace.tracer.library import Library

MOE = "vllm.model_executor.layers.fused_moe"
KEYS = "vllm.model_executor.layers.quantization.utils.quant_utils"
PARALLEL = {
    "tp_size": 1, "tp_rank": 0, "pcp_size": 1, "pcp_rank": 0, "dp_size": 1, "dp_rank": 0, "ep_size": 1,
    "ep_rank": 0, "sp_size": 1, "use_ep": False, "all2all_backend": "allgather_reducescatter",
    "enable_eplb": False,
}  # fmt: skip
WNA16 = {
    "weight_key": "kInt4Static", "weight_bits": 4, "may_have_zp": False, "may_have_bias": False,
    "allow_tile_padding": True,
}  # fmt: skip
ASKED: dict[str, tuple[str, dict[str, Any]]] = {
    "fp8[per-tensor static]": (
        "fp8.select_fp8_moe_backend",
        {"weight_key": "kFp8StaticTensorSym", "activation_key": "kFp8StaticTensorSym"},
    ),
    "fp8[channel/token dyn]": (
        "fp8.select_fp8_moe_backend",
        {"weight_key": "kFp8StaticChannelSym", "activation_key": "kFp8DynamicTokenSym"},
    ),
    "fp8[block128]": (
        "fp8.select_fp8_moe_backend",
        {"weight_key": "kFp8Static128BlockSym", "activation_key": "kFp8Dynamic128Sym"},
    ),
    "nvfp4": (
        "nvfp4.select_nvfp4_moe_backend",
        {"weight_key": "kNvfp4Static", "activation_key": "kNvfp4Dynamic"},
    ),
    "mxfp4[w4a16]": ("mxfp4.select_mxfp4_moe_backend", {}),
    "mxfp4[gpt-oss]": ("mxfp4.select_gpt_oss_mxfp4_moe_backend", {}),
    "mxfp8": ("mxfp8.select_mxfp8_moe_backend", {}),
    "wna16[int4 g128]": ("int_wna16.select_wna16_moe_backend", WNA16),
    "int8[w8a8]": (
        "int8.select_int8_moe_backend",
        {"weight_key": "kInt8StaticChannelSym", "activation_key": "kInt8DynamicTokenSym"},
    ),
    "unquantized": ("unquantized.select_unquantized_moe_backend", {}),
}
"""Function below the oracle package, and what it is asked with."""

LAYER = {
    "layer_name": "model.layers.0.mlp.experts", "local_num_experts": 8, "global_num_experts": 8,
    "hidden_size": 4096, "intermediate_size_per_partition": 14336, "apply_router_weight_on_input": False,
    "ckpt_gate_proj_name": "gate_proj", "ckpt_down_proj_name": "down_proj", "ckpt_up_proj_name": "up_proj",
    "ckpt_names": ("gate_proj", "down_proj", "up_proj"), "scoring_func": "softmax",
    "e_score_correction_bias": None,
    "use_grouped_topk": False, "expert_map": None, "ep_size": 1, "tp_size": 1,
}  # fmt: skip


def _made(m: Machine, symbol: str, given: dict[str, Any], otherwise: Any) -> Any:
    """An object of a dataclass; a field without a default that is not given is `otherwise`."""
    cls = facts.engine_value(m, symbol)
    arguments = {}
    for field in fields_of(m, cls):
        if field.init and field.name in given:
            arguments[field.name] = given[field.name]
        elif field.init and field.default is MISSING and field.factory is None:
            arguments[field.name] = otherwise
    with entering.inside(m, symbol.rpartition(".")[0]):
        return call_value(m, cls, (), arguments)


def _member(m: Machine, symbol: str) -> Any:
    owner, _, name = symbol.rpartition(".")
    return attributes.get(m, facts.engine_value(m, owner), name, None)


def _config(m: Machine, capability: int) -> Any:
    given = {
        "num_experts": 8, "experts_per_token": 2, "hidden_dim": 4096,
        "intermediate_size_per_partition": 14336, "intermediate_size": 14336,
        "num_local_experts": 8, "num_logical_experts": 8,
        "moe_parallel_config": _made(m, f"{MOE}.config.FusedMoEParallelConfig", PARALLEL, False),
        "in_dtype": act_dtype(capability), "max_num_tokens": 256, "device": "cuda", "moe_backend": "auto",
        "activation": _member(m, f"{MOE}.activation.MoEActivation.SILU"),
        "routing_method": _member(m, f"{MOE}.config.RoutingMethodType.Renormalize"),
        "has_bias": False, "is_act_and_mul": True, "is_lora_enabled": False,
        "router_logits_dtype": act_dtype(capability),
    }  # fmt: skip
    return _made(m, f"{MOE}.config.FusedMoEConfig", given, None)


def _backend(library: Library, profile: str, capability: int, label: str, recorded: Any) -> Any:
    m, _ = machine(library, profile, capability)
    function, extra = ASKED[label]
    try:
        config = _config(m, capability)
        select = facts.engine_value(m, f"{MOE}.oracle.{function}")
        given = {}
        for param in select.node.params.items:
            if param.name in ("config", "moe_config"):
                given[param.name] = config
            elif param.name in extra:
                given[param.name] = _argument(m, extra[param.name])
            elif param.name == "quant_config" and extra is WNA16:
                given[param.name] = _weight_arguments(m)
            elif param.default is None:
                given[param.name] = None
        with entering.inside(m, select.module.name):
            found = call_value(m, select, (), given)
    except Dead:
        found = MISSING
    return _told(m, found, _names)


def _weight_arguments(m: Machine) -> Any:
    """What compressed-tensors says of 4-bit weights in groups of 128."""
    symbol = "compressed_tensors.quantization.QuantizationArgs"
    kind = {"num_bits": 4, "type": "int", "symmetric": True, "strategy": "group", "group_size": 128}
    return call_value(m, m.world.library(m, symbol, None), (), kind)


def _argument(m: Machine, value: Any) -> Any:
    return facts.engine_value(m, f"{KEYS}.{value}") if isinstance(value, str) else value


def _names(found: Any) -> Any:
    if isinstance(found, tuple):
        return [_name(part) for part in found]
    return _name(found)


def _name(value: Any) -> Any:
    if isinstance(value, Instance) and "name" in value.attrs:
        return value.attrs["name"]
    if isinstance(value, ClassValue):
        return value.name
    return repr(value)[:80]


def _told(m: Machine, found: Any, tell: Any) -> Any:
    """The one outcome as the recording writes it, or the conditions of several."""
    ends = [] if found is MISSING else [(g, tell(v)) for g, v in alternatives(m, found)]
    ends += [(g, f"{e.cls.name}: {_text(m, e)}") for g, e in m.raised[-1]]
    if len(ends) == 1 and m.abandoned.is_false and "Guarded(" not in str(ends[0][1]):
        return ends[0][1]
    return Open("; ".join(f"{told} when {m.space.predicate(g)}" for g, told in ends))


def _text(m: Machine, error: Instance) -> str:
    text = message(m, error)
    return str(getattr(text, "label", text)).split("\n")[0][:200]


def _method(library: Library, profile: str, capability: int, label: str, recorded: Any) -> Any:
    m, _ = machine(library, profile, capability)
    symbol = recorded["meta"]["moe_layer_classes"][-1]
    found = MISSING
    try:
        config = quant_config(m, label)
        layer = facts.new(m, facts.engine_value(m, symbol), moe_config=_config(m, capability), **LAYER)
        layer.attrs["activation"] = _member(m, f"{MOE}.activation.MoEActivation.SILU")
        ask = attributes.get(m, config, "get_quant_method", None)
        with entering.inside(m, symbol.rpartition(".")[0]):
            found = call_value(m, ask, (layer, LAYER["layer_name"]), {})
    except Dead:
        pass
    return _told(m, found, lambda made: _described(m, made))


def _described(m: Machine, made: Any) -> dict[str, Any]:
    if made is None:
        return {"method": None}
    out = {"method": made.cls.symbol}
    for name, held in made.attrs.items():
        value = settle(m, held)
        if "backend" in name or "experts_cls" in name:
            out[name] = str(value) if isinstance(value, Guarded) else _name(value)
    return out


def _comparable(expected: Any) -> Any:
    if not isinstance(expected, str):
        return expected
    return re.split(r" @ ", expected.removeprefix("ERR "))[0]


ANSWERS = {"moe": _backend, "moe_method": _method}
COMPARABLE = {"moe": _comparable, "moe_method": _comparable}
