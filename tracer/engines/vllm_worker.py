"""vLLM: what the worker of a platform does before it builds a model, read from its class."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .. import tree
from ..evaluate import inheritance
from ..evaluate.unions import alternatives
from ..evaluate.values import MISSING, ClassValue, Function, Wrapper
from ..links import function_behind, link
from . import platform as facts

if TYPE_CHECKING:
    from ..evaluate.machine import Machine

CHOOSER, FIELD = "check_and_update_config", "worker_cls"
"""The platform's method that names its worker class, and the field that it writes the name to."""
START = "init_device"


def starts_with(m: Machine, callee: str) -> bool:
    """Whether a worker of the platform calls `callee` when it starts; it does where no worker is named."""
    platform = facts.engine_value(m, "vllm.platforms.current_platform").cls
    chooser = inheritance.class_attribute(m, platform, CHOOSER)
    workers = [] if chooser is MISSING else list(_named(m, function_behind(chooser)))
    return not workers or any(_calls(m, facts.engine_value(m, name), callee) for name in workers)


def _named(m: Machine, chooser: Function) -> Iterator[str]:
    """Class names that a function writes to the field."""
    for node in m.world.source.below(chooser.node):
        if not isinstance(node, tree.Assign) or not isinstance(node.value, tree.Const):
            continue
        for target in node.targets:
            if isinstance(target, tree.Attr) and target.name == FIELD and isinstance(node.value.value, str):
                yield node.value.value


def _calls(m: Machine, worker: ClassValue, callee: str) -> bool:
    """Whether the worker's start calls it, or hands on to a start above that does."""
    for cls in worker.mro:
        found = inheritance.own_attribute(m, cls, START) if isinstance(cls, ClassValue) else MISSING
        if found is MISSING:
            continue
        atoms = [atom for _, atom in alternatives(m, found) if isinstance(atom, Function | Wrapper)]
        starts = [f for f in map(function_behind, atoms) if f.symbol.rpartition(".")[2] == START]
        if not starts:
            return True  # behind a decorator that is not read
        start = starts[0]  # the same whichever decorator it has
        if link(m.world.source, start, callee).site is not None:
            return True
        if link(m.world.source, start, START).site is None:
            return False
    return False
