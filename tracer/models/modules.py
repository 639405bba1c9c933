"""torch.nn.Module: parameters, buffers and submodules by name."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ..evaluate import attributes, containers
from ..evaluate.unions import alternatives, each, join, settle
from ..evaluate.values import Instance, ListValue, Native, Value
from .native import Args, Kwargs, argument
from .tensors import MODULE, MODULE_LIST, PARAMETER, TENSOR, listed_names

if TYPE_CHECKING:
    from ..evaluate.machine import Machine
    from ..guards import Guard

MODULE_NAMES = listed_names("module_names.txt")
"""Every attribute of a bare `torch.nn.Module`."""


def _register(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    name, value = args[1], argument(args, kwargs, 2, "param", kwargs.get("tensor"))
    each(m, name, lambda n: attributes.put(m, args[0], n, value, None))
    return None


def _held(m: Machine, atom: Instance) -> Value:
    """((name, parameter), ...) as it is on each path: a name counts where a parameter stands under it."""
    out: Value = ()
    for name, value in tuple(atom.attrs.items()):
        parts = [(g, a) for g, a in alternatives(m, settle(m, value)) if _is_parameter(a)]
        if parts:
            out = each(m, out, partial(_with_pair, m, name, parts))
    return out


def _is_parameter(atom: Value) -> bool:
    return isinstance(atom, Instance) and PARAMETER in atom.cls.mro


def _with_pair(m: Machine, name: str, parts: list[tuple[Guard, Value]], pairs: Value) -> Value:
    """`pairs`, and on the paths of `parts` one more."""
    there = m.space.false
    for guard, _ in parts:
        there = there | guard
    value = join(m, parts)
    return m.branch(there, lambda: (*pairs, (name, value)), lambda: pairs)


def _named_parameters(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return ListValue(_held(m, args[0]), m.live)


def _parameters(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    held = _held(m, args[0])
    return ListValue(each(m, held, lambda pairs: tuple(value for _, value in pairs)), m.live)


REGISTRIES = ("_parameters", "_buffers", "_modules")


def registry(m: Machine, atom: Instance, name: str) -> Value:
    """A module's own dict of parameters, buffers or submodules, as it stands."""
    out = containers.new_dict(m)
    kinds = {"_parameters": (PARAMETER, None), "_buffers": (TENSOR, PARAMETER), "_modules": (MODULE, None)}
    wanted, but = kinds[name]
    for key, value in atom.attrs.items():
        found = [a for _, a in alternatives(m, settle(m, value)) if isinstance(a, Instance)]
        if any(wanted in a.cls.mro and but not in a.cls.mro for a in found):
            out.entries["constant", key] = (key, value)
    return out


def _itself(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    return args[0]


def _module_list(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    """A list of modules, which is a module itself."""
    items = containers.items_of(m, argument(args, kwargs, 0, "modules", ()), None)
    return Instance(MODULE_LIST, m.live, ListValue(items, m.live))


MODULE_LIST.construct = _module_list


def _forward(m: Machine, args: Args, kwargs: Kwargs) -> Value:
    from ..evaluate.calls import call_value

    return call_value(m, attributes.get(m, args[0], "forward", None), args[1:], kwargs)


for _name, _run in (
    ("register_parameter", _register),
    ("register_buffer", _register),
    ("named_parameters", _named_parameters),
    ("parameters", _parameters),
    ("to", _itself),
    ("eval", _itself),
    ("__init__", lambda m, args, kwargs: None),
    ("__call__", _forward),
):
    MODULE.attrs[_name] = Native(f"Module.{_name}", _run)
