"""The engine's own recorded answers, cell by cell, against qtrace's.

A cell is one (profile, capability, section, label). `decided` cells must be equal; an open one names its
condition.
Run as a script it prints the table: python tests/support/oracle_cells.py SDIST ORACLE.json.gz
"""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import asdict, replace

from qtrace.tracer.answer import deep
from qtrace.tracer.chain import ends_of
from qtrace.tracer.engines import platform as facts, vllm
from qtrace.tracer.engines.vllm_walk import Walk
from qtrace.tracer.evaluate import attributes, containers
from qtrace.tracer.evaluate.calls import call_value
from qtrace.tracer.evaluate.machine import Dead, Machine
from qtrace.tracer.evaluate.unions import settle
from qtrace.tracer.evaluate.values import Guarded, Instance, ListValue, Token
from qtrace.tracer.library import Library
from qtrace.tracer.models.stdlib import box_json
from qtrace.tracer.scenario import Scenario
from qtrace.tracer.sources import open_source

DATA = Path(__file__).parent.parent / "data" / "oracle"
QUESTIONS = json.loads((DATA / "questions.json").read_text())
EXCLUDED = json.loads((DATA / "excluded.json").read_text())
QUANTIZATION = "vllm.model_executor.layers.quantization"
KERNELS = "vllm.model_executor.kernels.linear"
SECTIONS = ("methods", "registries", "override", "linear")

MOCKED = dict.fromkeys(("bitsandbytes", "gguf"), True)
"""Packages that the recording puts a mock in place of, whatever the profile."""

Answers = dict[str, dict[str, dict[str, Any]]]


class Cell(NamedTuple):
    """One question of the oracle, what the engine answered, and what qtrace does."""

    profile: str
    capability: int
    section: str
    label: str
    expected: Any
    got: Any
    state: str
    """equal, wrong or open."""


def load(path: Path) -> Answers:
    answers: Answers = json.loads(gzip.decompress(path.read_bytes()))
    return answers


def machine(library: Library, profile: str, capability: int) -> tuple[Machine, Walk]:
    """The oracle's own premises: CUDA 12.9, a llama checkpoint, and for `wheel` flashinfer's compiled
    kernels.
    """
    scenario = Scenario(
        capability=capability,
        profile=profile,
        dtype="float16" if capability < 80 else "bfloat16",
        cuda=12090,
        model={"model_type": "llama", "architectures": ["LlamaForCausalLM"]},
        packages=MOCKED | ({"flashinfer_cubin": True} if profile == "wheel" else {}),
        shape=(4096, 4096),
    )
    m = vllm.machine(library, scenario)
    return m, Walk(m, scenario)


def excluded(version: str, profile: str, section: str, label: str) -> bool:
    """Cells that say more about the script that recorded them than about the engine."""
    by_version = EXCLUDED.get(version, {}).get(section, [])
    return label in by_version or label in EXCLUDED["any"].get(f"profile {profile}", [])


def cells(library: Library, answers: Answers, version: str = "0.33.0") -> Iterator[Cell]:
    """Every counted cell of the four sections, answered."""
    for profile, by_capability in answers.items():
        for capability, sections in by_capability.items():
            for section in SECTIONS:
                for label, expected in sections[section].items():
                    if not excluded(version, profile, section, label):
                        yield _cell(library, profile, int(capability), section, label, expected)


def _cell(library: Library, profile: str, capability: int, section: str, label: str, expected: Any) -> Cell:
    with deep():
        got = ANSWERS[section](library, profile, capability, label)
    if isinstance(got, Open):
        return Cell(profile, capability, section, label, expected, got, "open")
    wanted = COMPARABLE[section](expected)
    return Cell(profile, capability, section, label, wanted, got, "equal" if _same(wanted, got) else "wrong")


class Open(str):
    """An answer that hangs on a condition, which it names."""


def _same(expected: Any, got: Any) -> bool:
    """Equal; for a refusal: the exception type and the text up to its first value."""
    if isinstance(expected, str) and isinstance(got, str):
        lead = re.split(r"[{\[(=]|0x", expected)[0]
        return len(lead) > len("ValueError: ") and got.startswith(lead)
    return bool(expected == got)


# --- methods, registries, override


def _config_class(m: Machine, method: str) -> Any:
    return vllm.call(m, f"{QUANTIZATION}.get_quantization_config", method)


def _method(library: Library, profile: str, capability: int, label: str) -> Any:
    m, _ = machine(library, profile, capability)
    cls = _config_class(m, label)
    out = {"config": cls.symbol, "min_capability": _ask(m, cls, "get_min_capability")}
    dtypes = _ask(m, cls, "get_supported_act_dtypes")
    if isinstance(dtypes, ListValue):
        out["act_dtypes"] = [t.symbol for t in settle(m, dtypes.content) if isinstance(t, Token)]
    return out


def _ask(m: Machine, cls: Any, name: str) -> Any:
    """Call a class method; one that needs an object answers nothing, as in the recording."""
    try:
        return call_value(m, attributes.get(m, cls, name, None), (), {})
    except Dead:
        m.raised[-1].clear()
        m.live = m.space.true
        return None


def _registry(library: Library, profile: str, capability: int, label: str) -> Any:
    m, _ = machine(library, profile, capability)
    table = facts.engine_value(m, f"{KERNELS}.{label}")
    cuda = attributes.get(m, facts.engine_value(m, "vllm.platforms.interface.PlatformEnum"), "CUDA", None)
    found = containers.get_item(m, table, cuda, None)
    return [cls.name for cls in settle(m, found.content)]


def _override(library: Library, profile: str, capability: int, label: str) -> Any:
    m, _ = machine(library, profile, capability)
    methods = settle(m, facts.engine_value(m, f"{QUANTIZATION}.QUANTIZATION_METHODS").content)
    hf = facts.checkpoint(m, Scenario(model={"model_type": "llama", "architectures": ["LlamaForCausalLM"]}))
    out: dict[str, Any] = {}
    for user in QUESTIONS["users"]:
        hits = []
        for method in methods:
            cls = _config_class(m, method)
            ask = attributes.get(m, cls, "override_quantization_method", None)
            config = box_json(m, json.loads(json.dumps(QUESTIONS["override"][label])))
            answer = settle(m, call_value(m, ask, (config, user), {"hf_config": hf}))
            if isinstance(answer, Guarded):
                return Open(m.space.text(answer.alts[0][0]))
            if answer is not None:
                hits.append([method, answer])
        if hits:
            out[str(user)] = hits
    return out


# --- linear


def _linear(library: Library, profile: str, capability: int, label: str) -> Any:
    m, walk = machine(library, profile, capability)
    try:
        walk.quant_config = _quant_config(m, label)
    except Dead:
        walk.raised = walk.take_raised()
        return _told(m, [(g, e) for g, e in ends_of(walk, None)])
    walk.used = False
    layer = next(iter(walk.walk_layers()))
    return _told(m, ends_of(walk, layer))


def _quant_config(m: Machine, label: str) -> Instance:
    if label.startswith("online:"):
        made = _online(m, label.removeprefix("online:"))
    else:
        question = QUESTIONS["linear"][label]
        config = json.loads(json.dumps(question["config"]))
        serialized = config.pop("_ser", True)
        cls = _config_class(m, question["method"])
        if serialized:
            made = call_value(m, attributes.get(m, cls, "from_config", None), (box_json(m, config),), {})
        else:
            made = call_value(
                m, cls, (), {"is_checkpoint_fp8_serialized": False, "activation_scheme": "dynamic"}
            )
    attributes.put(m, made, "packed_modules_mapping", containers.new_dict(m), None)
    assert isinstance(made, Instance)
    return made


def _online(m: Machine, name: str) -> Any:
    args = vllm.call(m, "vllm.config.quantization.resolve_quantization_config", name, None)
    if args is None:
        table = facts.engine_value(m, "vllm.config.quantization._ONLINE_SHORTHANDS")
        args = containers.get_item(m, table, name, None)
    return call_value(m, _config_class(m, "online"), (args,), {})


def _told(m: Machine, ends: list[Any]) -> Any:
    """The only outcome as the recording writes it, or the conditions of several."""
    if len(ends) != 1 or not ends[0][0].is_true:
        return Open("; ".join(str(replace(o, guard=m.space.predicate(g))) for g, o in ends))
    outcome = ends[0][1]
    if outcome.refusal is not None:
        return f"{outcome.refusal.exception}: " + outcome.refusal.message.split("\n")[0][:200]
    if not all(isinstance(size, int) for p in outcome.parameters for size in p.shape):
        return Open(str(outcome))
    out = {k: v for k, v in asdict(outcome).items() if k in ("config", "scheme") and v is not None}
    out["quant_method"] = outcome.method
    out["kernels"] = {k.attribute: k.symbol.rpartition(".")[2] for k in outcome.kernels}
    out["params"] = {p.name: [p.dtype, list(p.shape)] for p in outcome.parameters}
    return out


def _comparable_linear(expected: Any) -> Any:
    if isinstance(expected, dict) and "error" not in expected:
        return expected
    text = expected if isinstance(expected, str) else expected["error"]
    return str(text).removeprefix("ERR ")


ANSWERS = {"methods": _method, "registries": _registry, "override": _override, "linear": _linear}
COMPARABLE = {
    "methods": lambda e: e,
    "registries": lambda e: e,
    "override": lambda e: e,
    "linear": _comparable_linear,
}


def table(found: list[Cell]) -> str:
    """Counts by section: cells, decided and equal, wrong, open."""
    rows = [f"{'section':<12}{'cells':>8}{'equal':>8}{'wrong':>8}{'open':>8}{'equal %':>10}"]
    for section in (*SECTIONS, "all"):
        states = Counter(c.state for c in found if section in (c.section, "all"))
        total = sum(states.values())
        share = 100 * states["equal"] / total if total else 0.0
        rows.append(
            f"{section:<12}{total:>8}{states['equal']:>8}{states['wrong']:>8}{states['open']:>8}{share:>9.1f}%"
        )
    return "\n".join(rows)


def main(sdist: str, oracle: str) -> None:
    source = open_source(sdist)
    found = list(cells(Library(source), load(Path(oracle)), source.pin().version))
    print(table(found))
    for cell in found:
        if cell.state != "equal":
            print(
                f"{cell.state:<6}{cell.profile} sm_{cell.capability} {cell.section} {cell.label}: {cell.got}"
            )
            if cell.state == "wrong":
                print(f"      expected {cell.expected}")


if __name__ == "__main__":
    main(*sys.argv[1:3])
