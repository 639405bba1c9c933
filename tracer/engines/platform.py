"""What the evaluator is told instead of asking hardware: one table of facts by engine symbol."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..evaluate import attributes
from ..evaluate.calls import call_value
from ..evaluate.machine import Dead
from ..evaluate.reading import ReadEntries
from ..evaluate.unions import join, settle
from ..evaluate.values import MISSING, DictValue, Instance, Native, Unknown, Value
from ..models.stdlib import box_json
from ..models.tensors import DTYPES
from ..scenario import CAPABILITIES, Scenario

if TYPE_CHECKING:
    from ..evaluate.machine import Machine


def capability(m: Machine, scenario: Scenario) -> Value:
    """The compute capability (major * 10 + minor): known, or one of those there are."""
    if scenario.capability is not None:
        return scenario.capability
    space = m.space
    parts = [(space.choice("capability", CAPABILITIES, (c,)), c) for c in CAPABILITIES]
    with m.aside():
        return join(m, parts)


def default_dtype(m: Machine, scenario: Scenario) -> Value:
    if scenario.dtype is not None:
        return DTYPES[scenario.dtype]
    return Unknown("dtype", "dtype")


def environment(m: Machine, scenario: Scenario) -> DictValue:
    """`os.environ`: what the scenario sets, and a guarded presence for names of which nothing is known."""
    out = DictValue(m.space.true)
    for name, value in scenario.environment.items():
        held: Value = value
        if value is None:
            there = m.space.choice(f"env {name} is set", (False, True), (True,))
            with m.aside():
                held = join(
                    m, [(there, Unknown(f"env:{name}", f"env {name}", kind="str")), (~there, MISSING)]
                )
        out.entries["constant", name] = (name, held)
    return out


def always(value: Value) -> Native:
    """A fact that is the same whatever is asked."""
    return Native("a fact", lambda m, args, kwargs: value)


def ranks(m: Machine, name: str, size: int | None) -> Unknown:
    """The ranks that share something, seen from the first of them; what they exchange is not known, nor is
    anything of a group without a size.
    """
    out = Unknown(f"{name} group", f"{name} group")
    if size is not None:
        known = {"world_size": size, "rank": 0, "local_rank": 0, "rank_in_group": 0}
        for key, value in (known | {"is_first_rank": True, "is_last_rank": size == 1}).items():
            m.outside[out.key, key] = value
    return out


def unknown_fact(label: str, kind: str | None = None) -> Native:
    return Native(label, lambda m, args, kwargs: Unknown(label, label, None, kind))


def new(m: Machine, cls: Value, **attrs: Value) -> Instance:
    """An object of an engine class with these attributes, its constructor not run."""
    out = Instance(cls, m.space.true)
    out.attrs |= attrs
    return out


def construct(m: Machine, symbol: str, *args: Value) -> Value:
    """Call a class or function of the engine by its dotted name."""
    module, _, name = symbol.rpartition(".")
    with m.aside():
        owner = m.world.import_module(m, module, None)
        return call_value(m, attributes.get(m, owner, name, None), args, {})


def engine_value(m: Machine, symbol: str) -> Any:
    """The value of a global of the engine, or of a class's member, by its dotted name."""
    module, _, name = symbol.rpartition(".")
    with m.aside():
        if m.world.source.module(module) is None:
            return attributes.get(m, engine_value(m, module), name, None)
        return attributes.get(m, m.world.import_module(m, module, None), name, None)


def attempt(m: Machine, run: Callable[[], Value]) -> tuple[Value, bool]:
    """What `run` gives where it does not raise, MISSING if nowhere; whether it raises, which then has not
    happened.
    """
    live = m.live
    m.raised.append([])
    try:
        value = settle(m, run())
    except Dead:
        value = MISSING
    raised, m.live = bool(m.raised.pop()), live
    return value, raised


class Once:
    """A value made when first asked for."""

    def __init__(self, make: Callable[[], Value]) -> None:
        self._make, self._made = make, MISSING

    @property
    def value(self) -> Value:
        if self._made is MISSING:
            self._made = self._make()
        return self._made


HF_CONFIG = "transformers.PretrainedConfig"
GLOBAL = "global_"
"""Begins the names of sizes that only some layers have."""
BY_LAYER = ("is_heterogeneous", "per_layer_config")
"""What transformers makes of them by itself, in no release's source."""


def checkpoint(m: Machine, scenario: Scenario) -> Instance:
    """The checkpoint's config.json as an object with its entries as attributes; what is not known is
    unknown.
    """
    whole = scenario.whole and scenario.model is not None
    return _config_object(m, scenario.model or {}, whole, "hf_config")


def _config_object(m: Machine, entries: dict[str, Any], whole: bool, label: str) -> Instance:
    cls = m.world.outside_class(HF_CONFIG if whole else "a checkpoint config known in part")
    cls.attrs["get_text_config"] = Native("get_text_config", lambda m, args, kwargs: text_config(m, args[0]))
    cls.attrs["update"] = Native("update", _update_config)
    if not whole:
        cls.attrs["__getattr__"] = Native(
            "__getattr__", lambda m, args, kwargs: _unknown_entry(label, args[1])
        )
    out = Instance(cls, m.space.true)
    out.attrs |= dict.fromkeys(ALWAYS_THERE) if whole else {}
    for name, value in entries.items():
        if not isinstance(value, dict) or not name.endswith("_config"):
            out.attrs[name] = box_json(m, value)
        elif name in CHECKPOINT_DICTS:
            out.attrs[name] = _quantization(m, value)
        else:
            out.attrs[name] = _config_object(m, value, whole, name)
    if any(name.startswith(GLOBAL) for name in entries):
        out.attrs |= {name: _unknown_entry(label, name) for name in BY_LAYER}
    stated = entries.get("dtype") or entries.get("torch_dtype")
    if isinstance(stated, str) and stated in DTYPES:
        out.attrs |= dict.fromkeys(STATED_DTYPE, DTYPES[stated])
    return out


def _unknown_entry(label: str, name: str) -> Unknown:
    return Unknown(f"{label}.{name}", f"{label}.{name}")


def vague(m: Machine, label: str) -> Instance:
    """An object that is there, and of which nothing else is known."""
    cls = m.world.outside_class(f"{label} of some kind")
    cls.attrs["__getattr__"] = Native("__getattr__", lambda m, args, kwargs: _unknown_entry(label, args[1]))
    return Instance(cls, m.space.true)


def _update_config(m: Machine, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    if isinstance(args[1], DictValue):
        for name, value in args[1].entries.values():
            attributes.put(m, args[0], name, value, None)
    return None


def _quantization(m: Machine, config: dict[str, Any]) -> DictValue:
    out: DictValue = box_json(m, config)
    out.entries = ReadEntries(out.entries, m.record.config_read)
    return out


STATED_DTYPE = ("dtype", "torch_dtype")
"""The two names under which transformers' configs hold the dtype that config.json states, as a dtype of torch
(`PretrainedConfig.__init__` and its property `torch_dtype`).
"""

ALWAYS_THERE = ("architectures",)
"""Attributes that every such object has, None unless the file says otherwise."""

CHECKPOINT_DICTS = ("quantization_config", "compression_config")


def text_config(m: Machine, hf: Value) -> Value:
    """The part of a checkpoint's config that describes its language model."""
    if isinstance(hf, Instance):
        inner = hf.attrs.get("text_config")
        return inner if isinstance(inner, Instance) else hf
    return hf
