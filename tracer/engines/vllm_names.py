"""Names in a checkpoint's quantization config against the names under which the engine builds its layers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from ..scenario import Scenario

QUANTIZED = ("quantization_config", "compression_config")
"""Entries of a config.json that say how the checkpoint is quantized."""

NUMBER = re.compile(r"\.(\d+)(?=\.|$)")
"""The number of a block in a module's name."""

PATTERN = re.compile(r"[*?\[\]|^$\\]")
"""What a name has that means more modules than one."""

Fused = dict[str, tuple[str, ...]]
"""Layers of the engine by their last name, with the modules of the checkpoint that each is made of."""
Rename = Callable[[str], str | None]
"""From the checkpoint's name of a module to the engine's."""


def doubt(scenario: Scenario, prefix: str, known: bool) -> str | None:
    """What has to hold for the names in the quantization config to speak of the layer `prefix` as the engine
    does; None where they say nothing of it.

    `known` says that the model class is there to read, and keeps the layer's name.
    """
    names = _touching(scenario, prefix)
    if names and ("text_config" in (scenario.model or {}) or not known):
        return (
            f"the model names this layer {prefix}, as the checkpoint's quantization config ({names[0]}) does"
        )
    return None


def one_for_all(
    scenario: Scenario, prefix: str, rename: Rename | None = None, fused: Fused | None = None
) -> str | None:
    """What has to hold for the layer `prefix` of one block to stand for all blocks; None where no name in the
    quantization config tells blocks apart.

    With the model class's own renaming and fused layers, plain names of other layers do not matter.
    """
    model = scenario.model or {}
    nested = model.get("text_config")
    config = nested if isinstance(nested, dict) else model
    names = _touching(scenario, prefix)
    if rename is not None:
        names = [
            n for n in names if not is_plain(n) or _reaches((n, rename(n) or n), prefix, fused or SHARDS)
        ]
    apart = _apart(names, config.get("num_hidden_layers"))
    if apart is None or scenario.shape is not None or not NUMBER.search(prefix):
        return None
    return f"no name in the checkpoint's quantization config ({apart}) sets the layer's block apart"


def is_plain(name: str) -> bool:
    """Whether a name means itself: no pattern."""
    return not name.startswith("re:") and PATTERN.search(name) is None


def alike(module: str) -> str:
    """A module's name whatever the block."""
    return NUMBER.sub(".N", module, count=1)


def _reaches(names: tuple[str, ...], prefix: str, fused: Fused) -> bool:
    """Whether a plain name, in either spelling, can be found in the layer's own or its parts' names, or they
    in it: engines compare whole names, beginnings, ends and what lies between.
    """
    place, dot, last = alike(prefix).rpartition(".")
    spelled = [f"{place}{dot}{part}" for part in (last, *fused.get(last, ()))]
    return any(alike(name) in own or own in alike(name) for name in names for own in spelled)


def _touching(scenario: Scenario, prefix: str) -> list[str]:
    if scenario.shape is not None or scenario.model is None:
        return []
    return [n for n in module_names(scenario) if _may_touch(n, prefix)]


def _apart(names: list[str], blocks: object) -> str | None:
    """A name that is given for some blocks and not for others, or a pattern that may tell numbers apart."""
    given: dict[str, set[int]] = {}
    first: dict[str, str] = {}
    for name in names:
        if name.startswith("re:") and re.search(r"[\d\[]", name):
            return name
        found = NUMBER.search(name)
        if found:
            given.setdefault(alike(name), set()).add(int(found[1]))
            first.setdefault(alike(name), name)
    every = set(range(blocks)) if isinstance(blocks, int) else None
    return next((first[like] for like, numbers in given.items() if numbers != every), None)


def module_names(scenario: Scenario) -> Iterator[str]:
    """Every text in a list of the checkpoint's quantization configs: that is where modules are named."""
    model = scenario.model or {}
    texts = [*map(model.get, QUANTIZED), *scenario.files.values()]
    nested = model.get("text_config")
    if isinstance(nested, dict):
        texts.append(nested.get("quantization_config"))
    for held in texts:
        yield from _listed(held)


def _listed(held: Any) -> Iterator[str]:
    if isinstance(held, dict):
        for value in held.values():
            yield from _listed(value)
    elif isinstance(held, list):
        for value in held:
            if isinstance(value, str):
                yield value
            else:
                yield from _listed(value)


def fused_layer(module: str, fused: Fused) -> str:
    """The layer that a module is a part of, itself where it is none."""
    place, dot, last = module.rpartition(".")
    return next((f"{place}{dot}{layer}" for layer, parts in fused.items() if last in parts), module)


def whole_layers(model: Any, fused: Fused) -> tuple[Any, tuple[str, ...]]:
    """A checkpoint's config in which every list that names a part of a fused layer names all parts of it;
    and the names that were added.
    """
    added: list[str] = []
    changed = dict(model or {})
    for key in QUANTIZED:
        if key in changed:
            changed[key] = _completed(changed[key], fused, added)
    return changed, tuple(added)


def _completed(held: Any, fused: Fused, added: list[str]) -> Any:
    if isinstance(held, dict):
        return {key: _completed(value, fused, added) for key, value in held.items()}
    if not isinstance(held, list):
        return held
    names = [name for name in held if isinstance(name, str)]
    missing = [part for name in names for part in _siblings(name, fused) if part not in names]
    added += dict.fromkeys(missing)
    return [*held, *dict.fromkeys(missing)]


def _siblings(name: str, fused: Fused) -> tuple[str, ...]:
    """The modules that become one layer together with the one called `name`."""
    place, dot, last = name.rpartition(".")
    parts = next((parts for parts in fused.values() if last in parts), ())
    return tuple(f"{place}{dot}{part}" for part in parts)


def _may_touch(name: str, prefix: str) -> bool:
    """Whether a name or pattern speaks of a part of the layer's own name, or of anything at all."""
    block = prefix.split(".")
    words = {"layers", *block[3:], *SHARDS.get(block[-1], ())}
    return any(word in name for word in words) or bool(re.match(r"re:\^?\.\*$|\*$", name))


SHARDS: Fused = {
    "qkv_proj": ("q_proj", "k_proj", "v_proj"),
    "gate_up_proj": ("gate_proj", "up_proj"),
}
"""Modules of the checkpoint that become one layer."""
