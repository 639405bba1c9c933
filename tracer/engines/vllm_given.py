"""vLLM: configuration fields that an argument of the launch sets and that nobody reads: they are unknown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import tree
from ..evaluate.values import Unknown, Value
from ..links import function_behind, nodes
from . import platform as facts

if TYPE_CHECKING:
    from collections.abc import Collection

    from ..evaluate.machine import Machine
    from ..scenario import Scenario

START = "vllm.engine.arg_utils.EngineArgs.create_engine_config"
GIVEN_BY = {
    "cache_config.user_specified_block_size": {"block_size"},
    "cache_config.block_size": {"block_size"},
    "attention_config.backend": {"attention_backend", "attention_config"},
    "vllm_config.kv_transfer_config": {"kv_transfer_config"},
}
"""Engine arguments that set a field of another object or name, of those that are settled here by hand."""


def unless_given(scenario: Scenario, field: str, default: Value) -> Value:
    """The default of a field, unknown where an argument that sets it was given."""
    return Unknown(field, field) if GIVEN_BY[field] & set(scenario.unread) else default


def made_of(m: Machine, arguments: Collection[str]) -> frozenset[str]:
    """Names that the engine's start binds to something that it makes of one of these arguments.

    A part of the configuration is passed on under the name that it is bound to (`lora_config` of
    `self.enable_lora`).
    """
    if not arguments:
        return frozenset()
    start = function_behind(facts.engine_value(m, START))
    return frozenset(
        target.id
        for node in nodes(start.node)
        if isinstance(node, tree.Assign) and _mentions(node.value, arguments)
        for target in node.targets
        if isinstance(target, tree.Name)
    )


def _mentions(value: tree.Node, arguments: Collection[str]) -> bool:
    return any(
        isinstance(node, tree.Attr)
        and node.name in arguments
        and isinstance(node.value, tree.Name)
        and node.value.id == "self"
        for node in nodes(value)
    )
