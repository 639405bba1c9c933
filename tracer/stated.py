"""What the checkpoint says of itself: its method, its dtype, whether activations are quantized too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..report.model import Checkpoint, Excluded
from .engines.vllm_names import QUANTIZED, fused_layer, is_plain
from .scenario import Scenario

if TYPE_CHECKING:
    from .engines.walk import Walk

DTYPES = ("dtype", "torch_dtype")
"""Where a config.json states its dtype, the newer name first."""

ALGORITHMS = {
    "FP8": True, "FP8_PER_CHANNEL_PER_TOKEN": True, "NVFP4": True, "MXFP8": True, "W4A8_AWQ": True,
    "W4A16_AWQ": False, "W8A16": False, "W4A16": False, "FP8_PB_WO": False,
}  # fmt: skip
"""Whether ModelOpt's algorithms quantize activations: `QUANTIZATION_*` in its `export/model_config.py`
(github.com/NVIDIA/TensorRT-Model-Optimizer).
"""

WEIGHT_ONLY = ("awq", "gptq")
"""Formats that have no place for quantized activations: their papers, and config classes of transformers."""


def stated(walk: Walk) -> Checkpoint | None:
    """The checkpoint's own words, where there is one."""
    scenario = walk.scenario
    if scenario.model is None:
        return None
    texts = tuple(_texts(scenario))
    method = next((str(t["quant_method"]) for t in texts if "quant_method" in t), None)
    dtype = next((scenario.model[name] for name in DTYPES if scenario.model.get(name)), None)
    return Checkpoint(
        method=method,
        dtype=dtype if isinstance(dtype, str) else None,
        activations=next((said for said in map(_activations, texts) if said is not None), None),
        excluded=tuple(_excluded(walk, texts)),
    )


def _texts(scenario: Scenario) -> Iterator[dict[str, Any]]:
    """The quantization configs of the checkpoint, wherever they stand."""
    model = scenario.model or {}
    nested = model.get("text_config")
    held = [model.get(key) for key in QUANTIZED]
    held += [nested.get(key) for key in QUANTIZED] if isinstance(nested, dict) else []
    files = [text.get("quantization", text) for text in scenario.files.values()]
    yield from (text for text in (*held, *files) if isinstance(text, dict))


def _activations(text: dict[str, Any]) -> bool | None:
    """Whether one quantization config quantizes activations; None where it has no words for that."""
    groups = text.get("config_groups")
    if isinstance(groups, dict) and groups:
        return any(isinstance(g, dict) and g.get("input_activations") is not None for g in groups.values())
    if "activation_scheme" in text:
        return True
    if text.get("quant_algo") in ALGORITHMS:
        return ALGORITHMS[text["quant_algo"]]
    return False if text.get("quant_method") in WEIGHT_ONLY else None


def _excluded(walk: Walk, texts: tuple[dict[str, Any], ...]) -> Iterator[Excluded]:
    fused = walk.fused()
    names = dict.fromkeys(name for text in texts for name in _left_out(text))
    for name in names:
        module = walk.renamed(name)
        if module is not None:
            yield Excluded(name=name, module=fused_layer(module, fused))


def _left_out(held: Any, key: str = "") -> Iterator[str]:
    """Names in lists, but for those of what is quantized (`targets`, `modules_in_block_to_quantize`)."""
    if "target" in key or "to_quantize" in key:
        return
    if isinstance(held, dict):
        for inner, value in held.items():
            yield from _left_out(value, str(inner))
    elif isinstance(held, list):
        yield from (name for name in held if isinstance(name, str) and is_plain(name))
