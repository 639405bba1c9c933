"""Sections methods, registries, override and linear of the recordings."""

from __future__ import annotations

import json
from typing import Any

from msgspec.structs import asdict, replace
from oracle_premises import QUANTIZATION, QUESTIONS, Open, config_class, machine

from qtrace.tracer.chain import ends_of
from qtrace.tracer.engines import entering, platform as facts
from qtrace.tracer.engines.vllm_online import resolver
from qtrace.tracer.engines.vllm_walk import ARGS
from qtrace.tracer.evaluate import attributes, containers
from qtrace.tracer.evaluate.calls import call_value
from qtrace.tracer.evaluate.machine import Dead, Machine
from qtrace.tracer.evaluate.texts import message
from qtrace.tracer.evaluate.unions import settle
from qtrace.tracer.evaluate.values import Guarded, Instance, ListValue, Token
from qtrace.tracer.library import Library
from qtrace.tracer.models.stdlib import box_json
from qtrace.tracer.scenario import Scenario

KERNELS = "vllm.model_executor.kernels.linear"


def _method(library: Library, profile: str, capability: int, label: str, recorded: Any) -> Any:
    m, _ = machine(library, profile, capability)
    try:
        cls = config_class(m, label)
    except Dead:
        return _refusal(m)
    out = {"config": cls.symbol, "min_capability": _ask(m, cls, "get_min_capability")}
    dtypes = _ask(m, cls, "get_supported_act_dtypes")
    if isinstance(dtypes, ListValue):
        out["act_dtypes"] = [t.symbol for t in settle(m, dtypes.content) if isinstance(t, Token)]
    return out


def _refusal(m: Machine) -> str:
    """What was raised, as the recording writes it."""
    error = m.raised[-1][0][1]
    return f"{error.cls.name}: {message(m, error)}"


def _comparable(expected: Any) -> Any:
    return expected.removeprefix("ERR ").split(" @ ")[0] if isinstance(expected, str) else expected


def _ask(m: Machine, cls: Any, name: str) -> Any:
    """Call a class method; one that needs an object answers nothing, as in the recording."""
    try:
        return call_value(m, attributes.get(m, cls, name, None), (), {})
    except Dead:
        _again(m)
        return None


def _again(m: Machine) -> None:
    """Go on as if nothing had been raised: the recording asks one after the other."""
    m.raised[-1].clear()
    m.live = m.space.true


def _registry(library: Library, profile: str, capability: int, label: str, recorded: Any) -> Any:
    m, _ = machine(library, profile, capability)
    table = facts.engine_value(m, f"{KERNELS}.{label}")
    cuda = attributes.get(m, facts.engine_value(m, "vllm.platforms.interface.PlatformEnum"), "CUDA", None)
    found = containers.get_item(m, table, cuda, None)
    return [cls.name for cls in settle(m, found.content)]


def _override(library: Library, profile: str, capability: int, label: str, recorded: Any) -> Any:
    m, _ = machine(library, profile, capability)
    methods = settle(m, facts.engine_value(m, f"{QUANTIZATION}.QUANTIZATION_METHODS").content)
    hf = facts.checkpoint(m, Scenario(model={"model_type": "llama", "architectures": ["LlamaForCausalLM"]}))
    out: dict[str, Any] = {}
    for user in QUESTIONS["users"]:
        hits = []
        for method in methods:
            try:
                cls = config_class(m, method)
            except Dead:
                hits.append([method, f"ERR {_refusal(m)}"])
                _again(m)
                continue
            ask = attributes.get(m, cls, "override_quantization_method", None)
            config = box_json(m, json.loads(json.dumps(QUESTIONS["override"][label])))
            answer = settle(m, call_value(m, ask, (config, user), {"hf_config": hf}))
            if isinstance(answer, Guarded):
                return Open(m.space.text(answer.alts[0][0]))
            if answer is not None:
                hits.append([method, answer])
        if hits:
            out[str(user)] = hits
    return out


# --- linear


def _linear(library: Library, profile: str, capability: int, label: str, recorded: Any) -> Any:
    m, walk = machine(library, profile, capability)
    try:
        walk.quant_config = quant_config(m, label)
    except Dead:
        walk.raised = walk.take_raised()
        return _told(m, [(g, e) for g, e in ends_of(walk, None)])
    walk.used = False
    layer = next(iter(walk.walk_layers()))
    return _told(m, ends_of(walk, layer))


def quant_config(m: Machine, label: str) -> Instance:
    if label.startswith("online:"):
        made = _online(m, label.removeprefix("online:"))
    else:
        question = QUESTIONS["linear"][label]
        config = json.loads(json.dumps(question["config"]))
        serialized = config.pop("_ser", True)
        cls = config_class(m, question["method"])
        if serialized:
            made = call_value(m, attributes.get(m, cls, "from_config", None), (box_json(m, config),), {})
        else:
            made = call_value(
                m, cls, (), {"is_checkpoint_fp8_serialized": False, "activation_scheme": "dynamic"}
            )
    attributes.put(m, made, "packed_modules_mapping", containers.new_dict(m), None)
    assert isinstance(made, Instance)
    return made


def _online(m: Machine, name: str) -> Any:
    resolve = resolver(m, ARGS)
    args = None if resolve is None else entering.call(m, resolve, name, None)
    if args is None:
        table = facts.engine_value(m, "vllm.config.quantization._ONLINE_SHORTHANDS")
        args = containers.get_item(m, table, name, None)
    return call_value(m, config_class(m, "online"), (args,), {})


def _told(m: Machine, ends: list[Any]) -> Any:
    """The only outcome as the recording writes it, or the conditions of several."""
    if len(ends) != 1 or not ends[0][0].is_true:
        return Open("; ".join(str(replace(o, guard=m.space.predicate(g))) for g, o in ends))
    outcome = ends[0][1]
    if outcome.refusal is not None:
        return f"{outcome.refusal.exception}: " + outcome.refusal.message.split("\n")[0][:200]
    if not all(isinstance(size, int) for p in outcome.parameters for size in p.shape):
        return Open(str(outcome))
    out = {k: v for k, v in asdict(outcome).items() if k in ("config", "scheme") and v is not None}
    out["quant_method"] = outcome.method
    out["kernels"] = {k.attribute: k.symbol.rpartition(".")[2] for k in outcome.kernels}
    out["params"] = {p.name: [p.dtype, list(p.shape)] for p in outcome.parameters}
    return out


def _comparable_linear(expected: Any) -> Any:
    if isinstance(expected, dict) and "error" not in expected:
        return expected
    text = expected if isinstance(expected, str) else expected["error"]
    return str(text).removeprefix("ERR ")


ANSWERS = {"methods": _method, "registries": _registry, "override": _override, "linear": _linear}
COMPARABLE = {"methods": _comparable, "linear": _comparable_linear}
