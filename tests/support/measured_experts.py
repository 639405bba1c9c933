"""Layers of experts as the recorder builds them: one `FusedMoE`, and what qtrace says of it."""

from __future__ import annotations

from functools import cache
from typing import Any

from measured import GPUS, NVFP4, compressed
from measured_models import KIMI_K3, ROUTING, Experts

from qtrace.tracer.answer import roomy
from qtrace.tracer.engines import entering, platform as facts, vllm
from qtrace.tracer.engines.release import cuda_of
from qtrace.tracer.engines.vllm_layers import LOADING
from qtrace.tracer.evaluate import attributes
from qtrace.tracer.evaluate.calls import call_value
from qtrace.tracer.evaluate.machine import Dead, Machine
from qtrace.tracer.evaluate.texts import message
from qtrace.tracer.evaluate.unions import alternatives, settle
from qtrace.tracer.evaluate.values import MISSING, ClassValue, Instance
from qtrace.tracer.library import Library
from qtrace.tracer.models.stdlib import box_json
from qtrace.tracer.models.tensors import DTYPES
from qtrace.tracer.scenario import Scenario

METHODS = "vllm.model_executor.layers.quantization"
LAYER = "vllm.model_executor.layers.fused_moe.layer"
COMPRESSED = f"{METHODS}.compressed_tensors.compressed_tensors.CompressedTensorsConfig.from_config"
INT4 = {
    "num_bits": 4,
    "type": "int",
    "strategy": "group",
    "group_size": 32,
    "symmetric": True,
    "dynamic": False,
}
MXFP4 = {**INT4, "type": "float"}
BLOCKS = {
    "is_checkpoint_fp8_serialized": True,
    "activation_scheme": "dynamic",
    "weight_block_size": [128, 128],
}
STATIC = {
    "quant_method": "FP8",
    "is_checkpoint_fp8_serialized": True,
    "kv_cache_quant_method": None,
    "exclude_modules": [],
}
Maker = tuple[str, tuple[Any, ...], dict[str, Any]]
"""A function of the engine, and its arguments."""

CONFIGS: dict[str, Maker] = {
    "fp8": (f"{METHODS}.modelopt.ModelOptFp8Config", (), STATIC),
    "fp8_block": (f"{METHODS}.fp8.Fp8Config", (), BLOCKS),
    "nvfp4": (COMPRESSED, (compressed("nvfp4-pack-quantized", NVFP4, NVFP4),), {}),
    "int4_wo": (COMPRESSED, (compressed("pack-quantized", INT4, None),), {}),
    "w4a16_mxfp4": (f"{METHODS}.mxfp4.Mxfp4Config", (), {}),
    "w4a8_mxfp4_mxfp8": ("vllm.models.deepseek_v4.quant_config.DeepseekV4FP8Config", (), BLOCKS),
}
"""What the recorder makes its quantization config with, by dtype."""
KIMI_K3_CONFIG: Maker = (COMPRESSED, (compressed("mxfp4-pack-quantized", MXFP4, None),), {})
"""Kimi K3 comes as compressed-tensors under the dtype by which gpt-oss comes as mxfp4."""

BATCHED = 16384
"""The most tokens that the recorder gives a layer."""


def layer_labels(
    library: Library, gpu: str, dtype: str, model: Experts, tp: int = 1, ep: int = 1
) -> list[tuple[str, str]]:
    """(condition, label) of every outcome for a layer of experts: as the recorder labels it, or what is
    raised.
    """
    return _layer_labels(library, *GPUS[gpu], dtype, model, max(tp, ep), ep > 1)


@cache
def _layer_labels(
    library: Library,
    platform: str,
    capability: int | None,
    dtype: str,
    model: Experts,
    ranks: int,
    whole_experts: bool,
) -> list[tuple[str, str]]:
    m = _machine(library, platform, capability, dtype, ranks, whole_experts)
    with roomy():
        try:
            value = _built(m, dtype, model, ranks)
        except Dead:
            value = MISSING
        found = list(_labels(m, value)) if value is not MISSING else []
        found += [(g, f"{e.cls.name}: {message(m, e)}") for g, e in m.raised[-1]]
        if not m.abandoned.is_false:
            found.append((m.abandoned, "not followed to its end"))
        return [(str(m.space.predicate(guard)), label) for guard, label in found]


def _machine(
    library: Library, platform: str, capability: int | None, dtype: str, ranks: int, whole_experts: bool
) -> Machine:
    v4 = {"model_type": "deepseek_v4", "expert_dtype": "fp4"}
    scenario = Scenario(
        platform=platform,
        capability=capability,
        profile="wheel",
        dtype="bfloat16",
        cuda=cuda_of(library),
        model=v4 if dtype == "w4a8_mxfp4_mxfp8" else {"model_type": ""},
        tensor_parallel=ranks,
        expert_parallel=whole_experts,
    )
    m = vllm.machine(library, scenario)
    config = m.world.settings["engine config"].value
    scheduler = facts.engine_value(m, "vllm.config.scheduler.SchedulerConfig")
    config.attrs["scheduler_config"] = facts.new(m, scheduler, max_num_batched_tokens=BATCHED)
    return m


def _built(m: Machine, dtype: str, model: Experts, ranks: int) -> Any:
    """The layer; arguments that the release does not know are left out."""
    arguments = {
        "num_experts": model.experts,
        "top_k": model.topk,
        "hidden_size": model.hidden,
        "intermediate_size": model.inner,
        "params_dtype": DTYPES["bfloat16"],
        "quant_config": _config(m, dtype, model),
        "tp_size": ranks,
        "dp_size": 1,
        "pcp_size": 1,
        "prefix": "collector_moe",
        **_routing(m, model),
    }
    make = facts.engine_value(m, f"{LAYER}.FusedMoE")
    init = attributes.get(m, make, "__init__", None) if isinstance(make, ClassValue) else make
    known = {parameter.name for parameter in init.node.params.items}
    with entering.inside(m, LAYER):
        return call_value(m, make, (), {k: v for k, v in arguments.items() if k in known})


def _config(m: Machine, dtype: str, model: Experts) -> Any:
    if dtype not in CONFIGS:
        return None
    symbol, args, kwargs = KIMI_K3_CONFIG if model is KIMI_K3 else CONFIGS[dtype]
    boxed = {name: box_json(m, value) for name, value in kwargs.items()}
    with entering.inside(m, METHODS):
        return call_value(m, facts.engine_value(m, symbol), tuple(box_json(m, a) for a in args), boxed)


def _routing(m: Machine, model: Experts) -> dict[str, Any]:
    given = dict(ROUTING[model.routing])
    if given.pop("bias", False):
        given["e_score_correction_bias"] = m.world.models.tensor(m, (model.experts,), DTYPES["float32"])
        given["router_logits_dtype"] = DTYPES["float32"]
    if "custom_routing_function" in given:
        given["custom_routing_function"] = facts.engine_value(m, given["custom_routing_function"])
    return given


def _labels(m: Machine, value: Any) -> Any:
    """(guard, label) of the layer's methods: method, backend and experts class, joined as by the recorder."""
    live = m.live
    for guard, layer in alternatives(m, value):
        m.live = guard
        inner = layer.attrs.get("routed_experts", layer)
        for under, holder in alternatives(m, inner):
            m.live = under
            for part, method in alternatives(m, holder.attrs["quant_method"]):
                m.live = part
                yield from _of_method(m, part, holder, method)
    m.live = live


def _of_method(m: Machine, guard: Any, holder: Instance, method: Instance) -> Any:
    for under, backend in alternatives(m, _held(method, "backend")):
        m.live = under
        for part, experts in alternatives(m, _experts(m, holder, method)):
            words = (method.cls.name.removesuffix("Method"), _name(backend), _name(experts))
            yield part, f"vllm_{'_'.join(words)}".lower()


def _held(method: Instance, word: str) -> Any:
    return next((v for k, v in method.attrs.items() if k.endswith(word)), None)


def _experts(m: Machine, holder: Instance, method: Instance) -> Any:
    """The class of experts: the one that the method has chosen, else that of the kernel it makes once the
    weights are there.
    """
    chosen = _held(method, "experts_cls")
    if chosen is not None or _held(method, "backend") is not None:
        return settle(m, chosen)
    with entering.phase(m, "process_weights_after_loading", LOADING):
        call_value(m, attributes.get(m, method, "process_weights_after_loading", None), (holder,), {})
    kernel = settle(m, method.attrs.get("kernel"))
    return settle(m, kernel.attrs.get("fused_experts")) if isinstance(kernel, Instance) else None


def _name(atom: Any) -> str:
    """How the recorder writes a backend, a class or an object: `direct` where there is none."""
    if isinstance(atom, Instance):
        return str(atom.attrs.get("name", atom.cls.name))
    return atom.name if isinstance(atom, ClassValue) else "direct"
