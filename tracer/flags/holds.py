"""Whether a test of the engine's configuration holds for a question."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..evaluate import attributes
from ..evaluate.machine import Dead
from ..evaluate.truth import truth

if TYPE_CHECKING:
    from ..engines.vllm_walk import Walk


def holds(walk: Walk, name: str) -> bool | None:
    """The truth of an attribute of the whole configuration; None where it is open, or no such attribute."""
    m = walk.m
    m.live = m.space.true
    try:
        found = truth(m, attributes.get(m, walk.config, name, None))
    except Dead:
        return None
    return True if found.is_true else False if found.is_false else None
