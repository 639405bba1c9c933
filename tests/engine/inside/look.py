"""What the engine's worker holds once it has loaded: runs in the worker, as its extension class."""

from __future__ import annotations

from typing import Any

import torch

KERNELS = "vllm.model_executor.kernels."
"""Where the engine keeps its kernel classes."""


class Look:
    """Methods that the worker gets; the engine calls them on its own main thread."""

    model_runner: Any
    vllm_config: Any

    def look(self) -> dict[str, Any]:
        """The objects of block 0, and the operators that one forward of each linear layer calls."""
        model, config = self.model_runner.model, self.vllm_config
        block = model.model.layers[0]
        layers = {"qkv_proj": block.self_attn.qkv_proj, "o_proj": block.self_attn.o_proj}
        layers |= {"gate_up_proj": block.mlp.gate_up_proj, "down_proj": block.mlp.down_proj}
        return {
            "quantization": config.model_config.quantization,
            "config": _name(config.quant_config),
            "linear": {name: _linear(layer) for name, layer in layers.items()},
            "cache": _cache(block.self_attn.attn),
        }


def _name(thing: Any) -> str | None:
    return None if thing is None else type(thing).__name__


def _linear(layer: Any) -> dict[str, Any]:
    method, scheme = layer.quant_method, getattr(layer, "scheme", None)
    held = {
        "method": _name(method),
        "scheme": _name(scheme),
        "kernel": next((_name(held) for held in _held(method, scheme) if _is_kernel(held)), None),
    }
    try:
        return {**held, "operators": _operators(layer)}
    except Exception as error:  # an engine may start with a layer that cannot run
        return {**held, "raises": f"{type(error).__name__}: {error}"}


def _held(*owners: Any) -> list[Any]:
    return [value for owner in owners if owner is not None for value in vars(owner).values()]


def _is_kernel(value: Any) -> bool:
    return type(value).__module__.startswith(KERNELS)


def _operators(layer: Any) -> list[str]:
    """Operators of one forward on a row, in the order of their first call, as the profiler names them."""
    row = torch.randn(1, layer.input_size_per_partition, dtype=torch.bfloat16)
    with torch.no_grad(), torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as seen:
        layer(row)
    return list(dict.fromkeys(event.name for event in seen.events() if "::" in event.name))


def _cache(layer: Any) -> dict[str, Any]:
    held = layer.kv_cache[0] if isinstance(layer.kv_cache, list) else layer.kv_cache
    return {
        "dtype": layer.kv_cache_dtype,
        "stored": str(held.dtype).removeprefix("torch."),
        "shape": list(held.shape),
        "backend": layer.attn_backend.__name__,
        "method": _name(getattr(layer, "quant_method", None)),
    }
