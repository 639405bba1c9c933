"""What is asked of one engine: the flag, the checkpoint, the device, and what is installed around it."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

CAPABILITIES = (70, 75, 80, 86, 87, 89, 90, 100, 103, 110, 120, 121)
"""Compute capabilities an unknown CUDA device may have (major * 10 + minor), NVIDIA's published list."""

ARCHITECTURES = (
    "gfx906", "gfx908", "gfx90a", "gfx942", "gfx950", "gfx1030", "gfx1100", "gfx1101", "gfx1102", "gfx1103",
    "gfx1150", "gfx1151", "gfx1152", "gfx1200", "gfx1201", "gfx1250",
)  # fmt: skip
"""Compiler targets that a ROCm device may have, those that AMD's ROCm builds for."""

PLATFORMS = ("cuda", "rocm", "cpu", "xpu")
"""What an engine may be built for."""

RESOLVED = (
    "quantization", "is_act_and_mul", "dtype", "capability", "arch", "device_name", "compute_units",
    "platform", "cuda", "cpu",
)  # fmt: skip
"""What a report says that a question came to, in this order."""


class Scenario(Struct, frozen=True, kw_only=True):
    """One question; None means unknown unless said otherwise.

    `model` is the content of the checkpoint's config.json; `quantization_config` alone may be given in it.
    `environment` holds what is set; a value of None is set or not, nobody knows; all other names are unset.
    `profile` is `bare` (requirements common to all platforms), `wheel` (all that the release installs) or
    None; `packages` overrides it by import name. `cuda` is the toolkit the engine was built with (12090
    for 12.9).
    """

    quantization: str | None = None
    capability: int | None = None
    platform: str = "cuda"
    arch: str | None = None
    """The compiler target of a ROCm device, such as gfx942."""
    cpu: tuple[str, ...] = ()
    """The kinds of CPU that it may be, by architecture and highest feature; empty for other devices."""
    device_name: str | None = None
    """What the driver calls the device."""
    compute_units: int | None = None
    """Streaming multiprocessors, or compute units, of the device."""
    model: dict[str, Any] | None = None
    name: str = "model"
    """What the engine is given as the checkpoint's name: that of a folder."""
    files: dict[str, dict[str, Any]] = {}
    """Other configuration files of the checkpoint by name, such as hf_quant_config.json."""
    names: tuple[str, ...] = ()
    """All files of the checkpoint's folder by name, when it is at hand."""
    whole: bool = True
    """Whether `model` is all of config.json; else what it does not hold is unknown, not absent."""
    tensors: dict[str, dict[str, Any]] = {}
    """Headers of the checkpoint's safetensors files: name -> dtype and shape; empty when not at hand."""
    kv_cache_dtype: str | None = None
    """The value of `--kv-cache-dtype`; None when the question is not about the cache."""
    dtype: str | None = None
    tensor_parallel: int = 1
    expert_parallel: bool = False
    """Whether ranks hold whole experts instead of a part of each (`--enable-expert-parallel`)."""
    layer: str = "linear"
    shape: tuple[int, int] | None = None
    """(output size, input size) of the layer, when the model does not tell."""
    rows: int | None = None
    environment: dict[str, str | None] = {}
    profile: str | None = None
    packages: dict[str, bool] = {}
    cuda: int | None = None
    settings: dict[str, Any] = {}
    """Other engine arguments by field name."""
    unread: tuple[str, ...] = ()
    """Engine arguments by field name that the launch gives and whose values are not used: what they set is
    unknown."""
    ignored: tuple[str, ...] = ()
    """What was given for the launch and has no part in the answer, in words."""
    server: tuple[str, ...] = ()
    """Options of the launch that are the server's and not the engine's."""


def device_facts(scenario: Scenario) -> dict[str, str | int]:
    """What a question says of its device and build."""
    names = ("capability", "arch", "device_name", "compute_units", "platform", "cuda")
    told = {name: value for name in names if (value := getattr(scenario, name)) is not None}
    return told | ({"cpu": scenario.cpu[0]} if len(scenario.cpu) == 1 else {})
