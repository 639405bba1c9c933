"""A question without a checkpoint: asked of one that is not quantized, and of those that the flag is for.

Which standard checkpoints a flag is for, the release itself says: its configuration is evaluated with each.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from ..report.model import Chain, Coverage, Question, Report
from .evaluate.reading import agree
from .scenario import Scenario
from .standard import Standard, model_for, standards

if TYPE_CHECKING:
    from .engines.walk import Walk
    from .library import Library

PLAIN = "not quantized"
CACHED = "attention"
"""The kind of layer that has a KV cache."""

OTHER = "quantized in another way"
"""What none of the standard checkpoints stands for."""
DTYPES = ("bfloat16", "float16")
"""What a checkpoint's weights are in, where the release takes it so: the first of these."""
VERIFIER = "._verify_quantization"
"""The engine's method that holds a flag against a checkpoint."""
Configured = Callable[[Scenario], "Walk"]


def is_open(scenario: Scenario) -> bool:
    """Whether the answer hangs on a checkpoint that was not given, and something is asked of it."""
    asked = (
        scenario.quantization is not None or scenario.kv_cache_dtype is not None or scenario.layer == CACHED
    )
    return scenario.model is None and asked


def supposed(library: Library, scenario: Scenario, configured: Configured) -> Iterator[tuple[str, Scenario]]:
    """(premise, question) for each checkpoint that the question may be about."""
    model = model_for(scenario.layer).config
    yield PLAIN, replace(scenario, model=model, whole=True)
    anywhere = _anywhere(scenario)
    found = library.once(f"checkpoints for {anywhere}", lambda: _for_flag(anywhere, configured))
    for standard, dtype in found:
        config = {**model, "torch_dtype": dtype, "quantization_config": standard.config}
        words = standard.words if dtype == DTYPES[0] else f"{standard.words}, in {dtype}"
        yield words, replace(scenario, model=config, whole=True)


def _anywhere(scenario: Scenario) -> Scenario:
    """The question on no device of its own: what a flag is for does not hang on one."""
    device = replace(scenario, capability=None, arch=None, cpu=(), device_name=None, compute_units=None)
    return replace(device, kv_cache_dtype=None, layer="linear", rows=None, profile=None, packages={})


def _for_flag(anywhere: Scenario, configured: Configured) -> tuple[tuple[Standard, str], ...]:
    """The checkpoints that the release takes with the flag on some device, each with the dtype that it may
    have; none where it takes most formats, for then the flag says nothing of the checkpoint. Without a flag,
    those that say something of the cache.
    """
    if anywhere.quantization is None:
        return tuple((standard, DTYPES[0]) for standard in standards() if standard.cache)
    refused: list[tuple[Standard, set[Any]]] = []
    taken = []
    for standard in standards():
        if any(agree(read, standard.config, other.config) for other, read in refused):
            continue  # the engine reads nothing of it that is not in the other as well
        dtype, read = _taken_in(standard, anywhere, configured)
        if dtype is not None:
            taken.append((standard, dtype))
        elif read is not None:
            refused.append((standard, read))
    found = tuple(taken)
    return () if len(_formats(s for s, _ in found)) * 2 > len(_formats(standards())) else found


def _formats(of: Iterable[Standard]) -> set[str]:
    return {standard.config["quant_method"] for standard in of}


def _taken_in(
    standard: Standard, anywhere: Scenario, configured: Configured
) -> tuple[str | None, set[Any] | None]:
    """The dtype in which the release takes a checkpoint with the flag; None where it does not, or where it
    takes that checkpoint whatever the flag says. Of one that is refused, what was read of its config.
    """
    read: set[Any] = set()
    for dtype in DTYPES:
        walk = _asked(standard, dtype, anywhere, configured)
        if not walk.m.live.is_false:
            named = anywhere.quantization in (_resolved(walk), standard.config["quant_method"])
            ours = named or not _indifferent(standard, dtype, walk, anywhere, configured)
            return dtype if ours else None, None
        read |= walk.m.record.config_read
        if _mismatched(walk):
            break
    return None, read


def _mismatched(walk: Walk) -> bool:
    """Whether flag and checkpoint do not go together, whatever the dtype."""
    within = (symbol for _, exc in walk.raised for symbol in exc.attrs.get("__within__", ()))
    return any(symbol.endswith(VERIFIER) for symbol in within)


def _indifferent(
    standard: Standard, dtype: str, walk: Walk, anywhere: Scenario, configured: Configured
) -> bool:
    """Whether the checkpoint is taken with the flag of another format as well."""
    own, known = standard.config["quant_method"], walk.methods()
    others = (other.config["quant_method"] for other in standards())
    control = next((name for name in others if name in known and name != own), None)
    with_it = replace(anywhere, quantization=control)
    return control is not None and not _asked(standard, dtype, with_it, configured).m.live.is_false


def _asked(standard: Standard, dtype: str, anywhere: Scenario, configured: Configured) -> Walk:
    model = {**model_for(anywhere.layer).config, "torch_dtype": dtype}
    return configured(replace(anywhere, model={**model, "quantization_config": standard.config}, whole=True))


def _resolved(walk: Walk) -> object:
    return walk.model.attrs.get("quantization")


def under_all(scenario: Scenario, flag: Report, parts: list[tuple[str, Report]]) -> Report:
    """The whole answer: that of the flag alone stands for every checkpoint that is none of the others."""
    told = any(outcome.method for chain in flag.chains for outcome in chain.outcomes)
    rest = [] if told else [(OTHER, flag)]
    return joined(scenario, [*parts, *rest])


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
        coverage=reduce(read_together, (part.coverage for _, part in parts)),
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


def read_together(one: Coverage, other: Coverage) -> Coverage:
    """Counts of two walks; a module that both read counts once at least."""
    return Coverage(
        modules_read=max(one.modules_read, other.modules_read),
        statements=one.statements + other.statements,
        unsupported=tuple(dict.fromkeys((*one.unsupported, *other.unsupported))),
        budgets=tuple(dict.fromkeys((*one.budgets, *other.budgets))),
    )
