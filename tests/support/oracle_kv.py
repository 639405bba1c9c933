"""Section kv: which attention backend takes a KV cache dtype, and why the others do not."""

from __future__ import annotations

import json
from os.path import commonprefix  # of characters, which is what is wanted
from typing import Any

from oracle_premises import Open, act_dtype, machine

from qtrace.tracer.engines import entering, platform as facts
from qtrace.tracer.evaluate import attributes
from qtrace.tracer.evaluate.calls import call_value
from qtrace.tracer.evaluate.fields import fields_of
from qtrace.tracer.evaluate.machine import Dead, Machine
from qtrace.tracer.evaluate.unions import alternatives, settle
from qtrace.tracer.evaluate.values import DictValue, Guarded, Instance, ListValue
from qtrace.tracer.library import Library

SELECTOR = "vllm.v1.attention.selector"
LATENT = {
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
    "kv_lora_rank": 512,
    "index_topk": False,
}
"""What the recording's second stand-in for a model config says; the first had none of these."""


FIRST = ("but got 1", "requires model with index_topk", "requires a model with index_topk")
"""What the engine said of the first."""


def _answer(library: Library, profile: str, capability: int, label: str, recorded: Any) -> Any:
    m, _ = machine(library, profile, capability)
    if _second_stand_in(recorded["kv"]):
        model = m.world.settings["engine config"].value.attrs["model_config"]
        for name in ("hf_config", "hf_text_config"):
            model.attrs[name].attrs.update(LATENT)
    if label == "_dtypes":
        return _dtypes(m)
    if label == "_quant_mode":
        return {name: _mode(m, name) for name in _dtypes(m)}
    return _backends(m, capability, label)


def _second_stand_in(kv: Any) -> bool:
    """Whether the recording of this device was made again with the second stand-in: its messages tell."""
    text = json.dumps(kv)
    return not any(words in text for words in FIRST)


def _dtypes(m: Machine) -> list[str]:
    """The values that the flag lists."""
    module = m.world.module(m, "vllm.config.cache")
    assert module is not None
    literal = attributes.get(m, module, "CacheDType", None)
    arguments = call_value(m, m.world.library(m, "typing.get_args", None), (literal,), {})
    return [name for name in arguments if isinstance(name, str)]


def _mode(m: Machine, name: str) -> str:
    mode = entering.call(m, "vllm.v1.kv_cache_interface.get_kv_quant_mode", name)
    return str(mode.attrs["value"])


def _backends(m: Machine, capability: int, label: str) -> Any:
    latent = label.startswith("mla:")
    given = {
        "head_size": 576 if latent else 128,
        "dtype": act_dtype(capability),
        "kv_cache_dtype": label.removeprefix("mla:"),
        "block_size": None,
        "use_mla": latent,
    }
    cls = facts.engine_value(m, f"{SELECTOR}.AttentionSelectorConfig")
    names = {field.name for field in fields_of(m, cls)}
    platform = facts.engine_value(m, "vllm.platforms.current_platform")
    try:
        with entering.inside(m, SELECTOR):
            asked = call_value(m, cls, (), {name: v for name, v in given.items() if name in names})
            more = {"attn_selector_config": asked, "num_heads": 32}
            chosen = call_value(m, attributes.get(m, platform, "get_attn_backend_cls", None), (None,), more)
            device = call_value(m, attributes.get(m, platform, "get_device_capability", None), (), {})
            ask = attributes.get(m, platform, "get_valid_backends", None)
            _, invalid = call_value(m, ask, (), {"device_capability": device, **more})
    except Dead:
        return _refused(m)
    if m.raised[-1] or not m.abandoned.is_false or isinstance(chosen, Guarded):
        ends = [f"{v} when {m.space.predicate(g)}" for g, v in alternatives(m, chosen)]
        return Open("; ".join([*ends, _refused(m)]))
    return (
        {"chosen": chosen, "invalid": _reasons(m, invalid)} if _certain(m, invalid) else _unsure(m, invalid)
    )


def _certain(m: Machine, invalid: DictValue) -> bool:
    return not any(isinstance(r, Guarded) for _, r in _rows(m, invalid))


def _rows(m: Machine, invalid: DictValue) -> list[tuple[str, Any]]:
    """(backend, its reasons), each reason as it stands."""
    out: list[tuple[str, Any]] = []
    for shown, held in invalid.entries.values():
        value = settle(m, held)
        reasons = value[1] if isinstance(value, tuple) else value
        content = settle(m, reasons.content) if isinstance(reasons, ListValue) else reasons
        parts = content if isinstance(content, tuple) else (content,)
        out += [(shown.attrs["name"], settle(m, part)) for part in parts] or [(shown.attrs["name"], None)]
    return out


def _reasons(m: Machine, invalid: DictValue) -> dict[str, list[Any]]:
    out: dict[str, list[Any]] = {}
    for name, reason in _rows(m, invalid):
        out.setdefault(name, []).append(reason)
    return out


def _unsure(m: Machine, invalid: DictValue) -> Open:
    rows = [(n, r) for n, r in _rows(m, invalid) if isinstance(r, Guarded)]
    return Open(
        "; ".join(f"{n}: {v} when {m.space.predicate(g)}" for n, r in rows for g, v in alternatives(m, r))
    )


def _refused(m: Machine) -> Any:
    told = [(g, f"{e.cls.name}: {_text(e)}") for g, e in m.raised[-1]]
    if len(told) == 1 and told[0][0].is_true:
        return told[0][1]
    return Open("; ".join(f"{text} when {m.space.predicate(g)}" for g, text in told))


def _text(error: Instance) -> str:
    """What the message begins with, whatever it hangs on."""
    args = error.attrs.get("args") or ("",)
    texts = [a for _, a in args[0].alts] if isinstance(args[0], Guarded) else [args[0]]
    return commonprefix([str(getattr(text, "label", text)) for text in texts])[:200]  # noqa: RUF071


def _comparable(expected: Any) -> Any:
    return expected.removeprefix("ERR ").split(" @ ")[0] if isinstance(expected, str) else expected


ANSWERS = {"kv": _answer}
COMPARABLE = {"kv": _comparable}
