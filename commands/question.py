"""A command's arguments as a question: what was typed, and the scenario that it means."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..report.errors import UsageError
from .environment import shown

if TYPE_CHECKING:
    from ..report.model import Report
    from ..tracer.answers import Answers
    from ..tracer.scenario import Scenario


def known(dtype: str | None, answers: Answers, platform: str) -> None:
    """UsageError for a dtype of the cache that the release does not know."""
    known = answers.cache_dtypes(platform) if dtype is not None else ()
    if known and dtype not in known:
        raise UsageError(f"--kv-cache-dtype {dtype}: {answers} knows {', '.join(known)}")


def named(flag: str | None, report: Report, answers: Answers) -> None:
    """UsageError for a refused --quantization that the release has no name for."""
    from ..tracer.answers import unknown_flag

    refused = [chain.outcomes[0].refusal for chain in report.chains if chain.refused()]
    if flag is not None and refused and len(refused) == len(report.chains) and flag not in answers.flags:
        raise UsageError(f"{unknown_flag(answers, flag)}; the engine says: {refused[0]}")


def asked(args: argparse.Namespace) -> dict[str, Any]:
    """What the user typed, by variable; a checkpoint goes by its last name, never by its path."""
    given = {
        "quantization": args.quantization,
        "device": args.device,
        "platform": args.platform,
        "model": args.elsewhere or _model_name(args.model),
        "kv_cache_dtype": args.kv_cache_dtype,
        "dtype": args.dtype,
        "tp": args.tp,
        "expert_parallel": args.expert_parallel,
        "tokens": args.tokens,
        "layer": args.layer if args.layer != "linear" else None,
        "packages": args.packages,
        "with": ",".join(args.present) or None,
        "without": ",".join(args.absent) or None,
        "cuda": args.cuda,
        "library": ",".join(one.partition("=")[0] for one in args.libraries) or None,
        "env": tuple(map(shown, args.env)) or None,
    }
    return {name: value for name, value in given.items() if value is not None}


def _model_name(model: str | None) -> str | None:
    if model is None or model.lstrip().startswith("{"):
        return None if model is None else "JSON"
    return Path(model).resolve().name


def scenario(args: argparse.Namespace, answers: Answers) -> Scenario:
    """The arguments as a scenario; raises UsageError for what cannot be meant."""
    from ..tracer.checkpoint import read_checkpoint
    from ..tracer.devices import on_platform
    from ..tracer.scenario import Scenario

    at = on_platform(args.platform, args.device)
    model = read_checkpoint(args.model) if args.model else None
    if args.tp is not None and args.tp < 1:
        raise UsageError(f"--tp {args.tp}: give a positive number")
    return Scenario(
        quantization=args.quantization,
        capability=at.capability,
        platform=at.platform,
        arch=at.arch,
        cpu=at.cpu,
        device_name=at.driver,
        compute_units=at.counted,
        model=model.config if model else None,
        name=model.name if model else "model",
        files={k: v for k, v in model.files.items() if k != "config.json"} if model else {},
        names=model.names if model else (),
        whole=model.whole if model else False,
        tensors=model.tensors if model else {},
        kv_cache_dtype=args.kv_cache_dtype,
        dtype=args.dtype,
        tensor_parallel=args.tp or 1,
        expert_parallel=bool(args.expert_parallel),
        layer=args.layer,
        rows=_rows(args.tokens),
        environment=dict(map(_setting, args.env)),
        profile=args.packages,
        packages={**dict.fromkeys(args.present, True), **dict.fromkeys(args.absent, False)},
        cuda=_built_with(args.cuda, at.platform, answers),
        settings=_settings(args),
        unread=args.unread,
        ignored=_ignored(args),
        server=args.server,
    )


def _settings(args: argparse.Namespace) -> dict[str, Any]:
    """Fields of the engine's model configuration that the line sets and the walk reads."""
    allowed = args.allow_deprecated_quantization
    return {} if allowed is None else {"allow_deprecated_quantization": allowed}


def _ignored(args: argparse.Namespace) -> tuple[str, ...]:
    """What of a launch line has no part in the answer."""
    missing = f"the model {args.elsewhere}, of which no folder is here"
    return (*((missing,) if args.elsewhere else ()), *args.ignored)


def _rows(tokens: str | None) -> int | None:
    if tokens in (None, "prefill"):
        return None
    if tokens == "decode":
        return 1
    number = int(tokens or 0) if re.fullmatch("[0-9]{1,12}", tokens or "") else 0
    if number == 0:
        raise UsageError(f"--tokens {tokens}: give a positive number, decode or prefill")
    return number


def _setting(text: str) -> tuple[str, str | None]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise UsageError(f"--env {text}: write NAME=VALUE, or NAME=? for one that may be set or not")
    return name, None if value == "?" else value


def _built_with(cuda: str | None, platform: str, answers: Answers) -> int | None:
    """The CUDA version of the build; on other platforms there is none."""
    if platform != "cuda":
        if cuda is not None:
            raise UsageError(f"--cuda {cuda} contradicts the platform {platform}")
        return None
    return _cuda(cuda) if cuda else answers.cuda


def _cuda(text: str) -> int:
    major, _, minor = text.partition(".")
    if not major.isdigit() or not (minor or "0").isdigit():
        raise UsageError(f"--cuda {text}: write a version such as 12.9")
    return int(major) * 1000 + int(minor or 0) * 10
