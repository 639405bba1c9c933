"""Shorthands that quantize a checkpoint while it is loaded: who resolves them, and which there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import tree
from ..evaluate import attributes
from ..evaluate.enums import members
from ..evaluate.values import MISSING, ClassValue, Value
from . import platform as facts

if TYPE_CHECKING:
    from ..evaluate.machine import Machine

CONFIG = "vllm.config.quantization"
NAMES = "ONLINE_QUANT_SHORTHAND_NAMES"
"""Where newer releases list the shorthands; older ones have an enum of them."""


def resolver(m: Machine, args: str) -> str | None:
    """The function of the config module to which the arguments class `args` gives the flag; None where the
    release has no shorthands.
    """
    start = facts.engine_value(m, f"{args}.__post_init__")
    for node in m.world.source.below(start.node):
        if isinstance(node, tree.ImportFrom) and node.module == CONFIG:
            return f"{CONFIG}.{node.aliases[0].name}"
    return None


def shorthands(m: Machine) -> tuple[str, ...]:
    """The values of the flag that name a way to quantize at load time."""
    module = m.world.module(m, CONFIG)
    if module is None:
        return ()
    with m.aside():
        listed = attributes.find(m, module, NAMES, None)
        if listed is not MISSING:
            return _texts(listed)
        held = [attributes.find(m, module, name, None) for name in module.scope.named()]
        enums = [cls for cls in held if isinstance(cls, ClassValue) and "enum" in cls.flags]
        return _texts(tuple(member.attrs["value"] for cls in enums for member in members(m, cls)))


def _texts(found: Value) -> tuple[str, ...]:
    return tuple(name for name in found if isinstance(name, str)) if isinstance(found, tuple) else ()
