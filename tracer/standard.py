"""Standard checkpoints: the formats that are published most, on two models whose sizes are typical.

They are facts about formats, none about what an engine does with them: that is read in its source.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

import msgspec
from msgspec import Struct

MODELS = {"experts": "experts"}
"""The model that a kind of layer is asked of, where it is not the dense one."""
DENSE = "dense"


class Standard(Struct, frozen=True):
    """A `quantization_config` as a family of checkpoints has it."""

    name: str
    words: str
    config: dict[str, Any]
    cache: bool = False
    """Whether it says something of the KV cache."""


class Model(Struct, frozen=True):
    """The config.json of a model, without a quantization."""

    words: str
    config: dict[str, Any]


class _File(Struct, frozen=True):
    models: dict[str, Model]
    checkpoints: tuple[Standard, ...]


@cache
def _read() -> _File:
    return msgspec.json.decode((files(__package__) / "standard.json").read_bytes(), type=_File)


def standards() -> tuple[Standard, ...]:
    """Every standard checkpoint."""
    return _read().checkpoints


def model_for(layer: str) -> Model:
    """The model that stands in where none was given."""
    return _read().models[MODELS.get(layer, DENSE)]
