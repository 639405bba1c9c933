"""What qtrace says of a launch on a CPU, held against what a real engine held."""

from __future__ import annotations

import platform
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cpu_variants import Variant

from qtrace.report.model import Chain, Outcome, Report
from qtrace.tracer.answer import report, walked
from qtrace.tracer.checkpoint import read_checkpoint
from qtrace.tracer.cpus import cpu, cpus
from qtrace.tracer.library import Library
from qtrace.tracer.scenario import Scenario

OPERATORS = ("torch.ops._C.", "torch._")
"""Beginnings of the operators that a profiler names as well; functions of torch.nn have other names there."""


def this_cpu() -> tuple[str, ...]:
    """The kind of the CPU that this runs on, from what Linux says of it."""
    text = Path("/proc/cpuinfo").read_text()
    named = re.search(r"^flags\s*:(.*)$", text, re.M)
    flags = set(named[1].split()) if named else set()
    highest = [feature for feature in cpus().features if feature in flags]
    return cpu("+".join([platform.machine(), *highest[-1:]]))


def asked(
    library: Library,
    variant: Variant,
    checkpoint: Path,
    kinds: tuple[str, ...],
    layer: str,
) -> Report:
    """qtrace's report on one launch."""
    model, flags = read_checkpoint(str(checkpoint)), dict(variant.flags)
    scenario = Scenario(
        quantization=flags.get("--quantization"),
        kv_cache_dtype=flags.get("--kv-cache-dtype") or ("auto" if layer == "attention" else None),
        platform="cpu",
        cpu=kinds,
        model=model.config,
        name=model.name,
        names=model.names,
        whole=model.whole,
        tensors=model.tensors,
        layer=layer,
        rows=1,
        profile="wheel",
    )
    return report(walked(library, scenario), {})


def differences(seen: Mapping[str, Any], linear: Report, attention: Report | None) -> list[str]:
    """Where qtrace and the engine do not say the same; empty where they do."""
    if "refused" in seen:
        return _refusal(seen["refused"], (*linear.chains, *(attention.chains if attention else ())))
    resolved = linear.question.resolved.get("quantization")
    out = [] if resolved == seen["quantization"] else [f"resolves {resolved}, not {seen['quantization']}"]
    for chain in linear.chains:
        for name in (layer for layer in chain.layers if layer in seen["linear"]):
            out += [f"{name}: {text}" for text in _layer(seen["config"], seen["linear"][name], chain)]
    return out + (_cache(seen["cache"], attention) if attention is not None else [])


def _refusal(words: str, chains: tuple[Chain, ...]) -> list[str]:
    """Some layer is refused in the engine's words, whatever else is possible for it under a condition."""
    found = [
        f"{o.refusal.exception}: {' '.join(o.refusal.message.split())}"
        for chain in chains
        for o in chain.outcomes
        if o.refusal is not None
    ]
    return [] if any(words.rstrip() == text for text in found) else [f"refused with {found}, not {words}"]


def _layer(config: str | None, held: Mapping[str, Any], chain: Chain) -> list[str]:
    if "raises" in held:
        return _refusal(held["raises"], (chain,))
    if len(chain.outcomes) != 1 or chain.outcomes[0].refusal is not None:
        return [f"not one accepted outcome: {chain.outcomes}"]
    (outcome,) = chain.outcomes
    wanted = {"config": config, "method": held["method"], "scheme": held["scheme"]}
    wanted["kernel"] = held["kernel"]
    got = _names(outcome)
    out = [f"{name} is {got[name]}, not {wanted[name]}" for name in wanted if got[name] != wanted[name]]
    return out + _operators(set(held["operators"]), outcome)


def _names(outcome: Outcome) -> dict[str, str | None]:
    kernel = outcome.kernels[0].symbol if outcome.kernels else None
    held = {"config": outcome.config, "method": outcome.method, "scheme": outcome.scheme, "kernel": kernel}
    return {name: symbol and symbol.rpartition(".")[2] for name, symbol in held.items()}


def _operators(ran: set[str], outcome: Outcome) -> list[str]:
    """The engine's own ops are the same; those of torch that qtrace names have run."""
    named = {_profiled(op) for op in outcome.ops if op.startswith(OPERATORS)}
    own = {op for op in ran if op.startswith("_C::")}
    wrong = {op for op in named if op.startswith("_C::")} ^ own | (named - ran)
    return [f"operators {sorted(named)}, not {sorted(own) or sorted(ran)}"] if wrong or not named else []


def _profiled(op: str) -> str:
    """An operator as a profiler calls it."""
    name = op.removeprefix("torch.ops.")
    return f"aten::{op.removeprefix('torch.')}" if name == op else name.replace(".", "::")


def _cache(held: Mapping[str, Any], told: Report) -> list[str]:
    (chain,) = told.chains
    (outcome,) = chain.outcomes
    cache = outcome.cache
    assert cache is not None
    names = {symbol.symbol.rpartition(".")[2] for symbol in outcome.kernels}
    method = outcome.method and outcome.method.rpartition(".")[2]
    out = [] if cache.dtype == held["stored"] else [f"the cache holds {cache.dtype}, not {held['stored']}"]
    out += [] if method in (held["method"], held["backend"]) else [f"cache method {method}"]
    return out if held["backend"] in {*names, method} else [*out, f"backend {names}, not {held['backend']}"]
