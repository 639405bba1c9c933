"""vLLM: configuration fields that an argument of the launch sets and that nobody reads: they are unknown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import tree
from ..evaluate.fields import fields_of
from ..evaluate.values import Unknown, Value
from ..links import function_behind
from . import platform as facts

if TYPE_CHECKING:
    from collections.abc import Collection

    from ..evaluate.machine import Machine
    from ..evaluate.values import Instance
    from ..scenario import Scenario

START = "vllm.engine.arg_utils.EngineArgs.create_engine_config"
BLOCK_SIZE = "cache_config.block_size"
_TRANSFER = {"kv_transfer_config", "kv_offloading_size"}
_FACTOR = "attention_config.sparse_mla_prefill_workspace_factor"
GIVEN_BY: dict[str, set[str]] = {
    BLOCK_SIZE: {"block_size"},
    "cache_config.user_specified_block_size": {"block_size"},
    "attention_config.backend": {"attention_backend", "attention_config"},
    "attention_config.hisparse_config": {"attention_config", *_TRANSFER},
    _FACTOR: {"attention_config"},
    "vllm_config.kv_transfer_config": _TRANSFER,
}
"""Engine arguments that set a field of another object or name, or with which the engine sets it."""
AT_REST: dict[str, Value] = {
    "cache_config.user_specified_block_size": False,
    "attention_config.backend": None,
    "attention_config.hisparse_config": None,
    _FACTOR: Unknown(_FACTOR, _FACTOR, None, "int", positive=True),
    "vllm_config.kv_transfer_config": None,
}
"""What those fields are where none of the arguments was given."""


def unless_given(scenario: Scenario, field: str, default: Value) -> Value:
    """The default of a field, unknown where an argument that sets it was given."""
    return Unknown(field, field) if GIVEN_BY[field] & set(scenario.unread) else default


def settle_at_rest(m: Machine, config: Instance, scenario: Scenario) -> None:
    """Set the fields of `AT_REST` that this release has: its start rewrites them, but not by itself."""
    for field, default in AT_REST.items():
        owner, _, name = field.partition(".")
        part = config if owner == "vllm_config" else config.attrs[owner]
        if name in {known.name for known in fields_of(m, part.cls)}:
            part.attrs[name] = unless_given(scenario, field, default)


Fields = frozenset[str] | None
"""Names of fields, None for all that there are."""


def made_of(m: Machine, arguments: Collection[str]) -> dict[str, Fields]:
    """Names that the engine's start binds to something that it makes of one of these arguments, each with
    the fields that are made of them.

    A part of the configuration is passed on under the name that it is bound to (`lora_config` of
    `self.enable_lora`).
    """
    start = function_behind(facts.engine_value(m, START))
    found: dict[str, Fields] = {}
    for node in m.world.source.below(start.node) if arguments else ():
        if isinstance(node, tree.Assign) and _mentions(node.value, arguments):
            fields = _fields(node.value, arguments)
            for target in node.targets:
                if isinstance(target, tree.Name):
                    known = found.get(target.id, frozenset())
                    found[target.id] = None if fields is None or known is None else known | fields
    return found


def _fields(value: tree.Node, arguments: Collection[str]) -> Fields:
    """The keywords of a call that mention one of the arguments; None where it is not in keywords alone."""
    if not isinstance(value, tree.Call) or _mentions(value.func, arguments):
        return None
    names = {arg.name for arg in value.args if _mentions(arg.value, arguments)}
    return None if None in names else frozenset(name for name in names if name is not None)


def _mentions(value: tree.Node, arguments: Collection[str]) -> bool:
    return any(
        isinstance(node, tree.Attr)
        and node.name in arguments
        and isinstance(node.value, tree.Name)
        and node.value.id == "self"
        for node in tree.nodes(value)
    )
