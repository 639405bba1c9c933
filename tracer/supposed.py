"""A question without a checkpoint: asked of one that is not quantized, and of those that the flag is for.

Which standard checkpoints a flag is for, the release itself says: its configuration is evaluated with each.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import reduce
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ..report.model import Chain, Coverage, Question, Report
from .scenario import Scenario
from .standard import Standard, model_for, standards

if TYPE_CHECKING:
    from .engines.vllm_walk import Walk
    from .library import Library

PLAIN = "not quantized"
CACHED = "attention"
"""The kind of layer that has a KV cache."""

Ask = Callable[[Scenario], Report]


def is_open(scenario: Scenario) -> bool:
    """Whether the answer hangs on a checkpoint that was not given, and something is asked of it."""
    asked = (
        scenario.quantization is not None or scenario.kv_cache_dtype is not None or scenario.layer == CACHED
    )
    return scenario.model is None and asked


def supposed(
    library: Library, scenario: Scenario, configured: Callable[[Scenario], Walk]
) -> Iterator[tuple[str, Scenario]]:
    """(premise, question) for each checkpoint that the question may be about."""
    model = model_for(scenario.layer).config
    yield PLAIN, replace(scenario, model=model, whole=True)
    flag, platform = scenario.quantization, scenario.platform
    found = library.once(
        f"checkpoints for {flag} on {platform}", lambda: _for_flag(flag, platform, configured)
    )
    for standard in found:
        config = {**model, "quantization_config": standard.config}
        yield standard.words, replace(scenario, model=config, whole=True)


def _for_flag(
    flag: str | None, platform: str, configured: Callable[[Scenario], Walk]
) -> tuple[Standard, ...]:
    """The checkpoints that the release takes with the flag on some device, and not as of another method;
    without a flag, those that say something of the cache.
    """
    if flag is None:
        return tuple(standard for standard in standards() if standard.cache)
    model, found = model_for("linear").config, []
    for standard in standards():
        config = {**model, "quantization_config": standard.config}
        walk = configured(Scenario(quantization=flag, platform=platform, model=config))
        named = flag in (walk.model.attrs.get("quantization"), standard.config["quant_method"])
        if named and not walk.m.live.is_false:
            found.append(standard)
    return tuple(found)


def joined(scenario: Scenario, parts: list[tuple[str, Report]]) -> Report:
    """One report of the answers under each premise; chains that are the same are told once."""
    first = parts[0][1]
    chains: dict[Chain, tuple[str, ...]] = {}
    for premise, report in parts:
        for chain in report.chains:
            chains[chain] = (*chains.get(chain, ()), premise)
    question = first.question
    sizes = f"no checkpoint was given: its sizes are those of {model_for(scenario.layer).words}"
    resolved = {
        name: value
        for name, value in question.resolved.items()
        if all(part.question.resolved.get(name) == value for _, part in parts)
    }
    unknown = {"model", *(name for _, part in parts for name in part.question.unknown)}
    return replace(
        first,
        question=replace(
            question,
            resolved=resolved,
            unknown=tuple(sorted(unknown)),
            assumed=(sizes, *_assumed([part.question for _, part in parts])),
        ),
        chains=tuple(replace(chain, premises=premises) for chain, premises in chains.items()),
        checkpoint=None,
        coverage=reduce(_with, (part.coverage for _, part in parts)),
    )


def _assumed(questions: list[Question]) -> Iterator[str]:
    """Every assumption once; of those that count something, the one that counts most."""
    said: dict[str, str] = {}
    for sentence in (sentence for question in questions for sentence in question.assumed):
        key = re.sub(r"\d+ places?", "places", sentence)
        said[key] = max(said.get(key, sentence), sentence, key=_count)
    yield from said.values()


def _count(sentence: str) -> int:
    return max(map(int, re.findall(r"(\d+) places?", sentence)), default=0)


def _with(one: Coverage, other: Coverage) -> Coverage:
    """Counts of two walks; a module that both read counts once at least."""
    return Coverage(
        modules_read=max(one.modules_read, other.modules_read),
        statements=one.statements + other.statements,
        unsupported=tuple(dict.fromkeys((*one.unsupported, *other.unsupported))),
        budgets=tuple(dict.fromkeys((*one.budgets, *other.budgets))),
    )
