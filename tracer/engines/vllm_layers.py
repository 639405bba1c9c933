"""Where vLLM keeps its linear layers."""

from __future__ import annotations

from .linear import Home

LINEAR = "vllm.model_executor.layers.linear"
LOADING = "vllm.model_executor.model_loader.utils"
HOME = Home(LINEAR, LOADING)
