"""A pasted launch line: `VAR=value vllm serve M -q fp8 -tp 2`, and what of it a question is asked with."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..report.errors import UsageError

if TYPE_CHECKING:
    from ..tracer.engines.launch_line import Line
    from ..tracer.library import Library

USED = {
    "quantization": "quantization",
    "kv_cache_dtype": "kv_cache_dtype",
    "dtype": "dtype",
    "tensor_parallel_size": "tp",
    "enable_expert_parallel": "expert_parallel",
    "allow_deprecated_quantization": "allow_deprecated_quantization",
}
"""Fields of the engine's arguments that a question takes, and what they are called before `--`."""

SAME: dict[str, dict[str, str | None]] = {
    "dtype": {"auto": None, "half": "float16", "float": "float32"},
    "quantization": {"None": None, "": None},
}
"""Values that the engine takes for another, or for none given."""

WRAPPERS = ("env", "exec", "nohup")
MODULES = re.compile(r"(\w+)\.entrypoints\.(openai\.api_server|launchers\.api_server\.entry|cli\.main)")
"""What `python -m` may run."""
SERVERS = "vllm serve ... or python -m vllm.entrypoints.openai.api_server ..."


class Launch(NamedTuple):
    """A line taken apart."""

    environment: dict[str, str]
    engine: str
    module: str | None
    """What `python -m` runs; None for the engine's own command."""
    arguments: tuple[str, ...]


def taken_apart(words: Sequence[str]) -> Launch:
    """The environment, the program and its arguments; UsageError for a line that starts no server."""
    left = [word for word in words if not word or word.strip(" \\\n")]
    environment: dict[str, str] = {}
    while left and (left[0] in WRAPPERS or re.match(r"[A-Za-z_]\w*=", left[0])):
        name, assigned, value = left.pop(0).partition("=")
        if assigned:
            environment[name] = value
    program = Path(left[0]).name if left else ""
    if program == "vllm" and left[1:2] == ["serve"]:
        return Launch(environment, "vllm", None, tuple(left[1:]))
    module, *arguments = left[left.index("-m") + 1 :] if "-m" in left[1:-1] else ("",)
    found = MODULES.fullmatch(module) if re.fullmatch(r"python[\d.]*", program) else None
    if found is not None and (found[2] != "cli.main" or arguments[:1] == ["serve"]):
        return Launch(environment, found[1], module, tuple(arguments))
    raise UsageError(f"the line after -- starts no server that qtrace reads: give {SERVERS}")


def with_line(
    args: argparse.Namespace, library: Library, launch: Launch, platform: str
) -> argparse.Namespace:
    """The arguments of a question together with what a launch line says."""
    from ..tracer.engines.launch_line import read_line

    if launch.module is not None and library.source.module_path(launch.module) is None:
        raise UsageError(f"the line after --: {library.source} has no module {launch.module}; give {SERVERS}")
    if any(re.match(r"--config(=|$)", word) for word in launch.arguments):
        raise UsageError(
            "the line after --: the file that --config names is not read; give its options instead"
        )
    line = read_line(library, launch.arguments, platform)
    out = argparse.Namespace(**vars(args))
    for field, name in USED.items():
        if field in line.given:
            _agree(out, name, line.names[field], line.given[field], _plain(field, line.given[field]))
    out.env = [*args.env, *_environment(args.env, launch.environment)]
    out.unread = tuple(field for field in line.given if field not in {*USED, *line.server})
    out.ignored = tuple(line.names[field] for field in out.unread)
    out.server = tuple(line.names[field] for field in line.given if field in line.server)
    _model(out, line)
    return out


def _plain(field: str, value: Any) -> Any:
    """A value as the option before `--` has it."""
    if field == "tensor_parallel_size":
        if not re.fullmatch(r"-?\d{1,9}", value):
            raise UsageError(f"the line after --: --tensor-parallel-size {value}: give a number")
        return int(value)
    return SAME.get(field, {}).get(value, value)


def _agree(out: argparse.Namespace, name: str, flag: str, said: Any, value: Any) -> None:
    """Take a value from the line; what stands before `--` must not say otherwise."""
    before = getattr(out, name)
    if before is not None and before != value:
        raise UsageError(f"{flag} is {before} before -- and {said} after it")
    setattr(out, name, value)


def _environment(before: Sequence[str], line: Mapping[str, str]) -> list[str]:
    """The line's assignments that `--env` does not make; two that differ are an error."""
    known = dict(setting.partition("=")[::2] for setting in before)
    for name, value in line.items():
        if known.get(name, value) != value:
            raise UsageError(f"{name} has one value in --env and another after --")
    return [f"{name}={value}" for name, value in line.items() if name not in known]


def _model(out: argparse.Namespace, line: Line) -> None:
    """The line's model where its folder is here; --model may stand for one that is not."""
    if not line.model:
        return
    here = _is_folder(line.model)
    if here and out.model not in (None, line.model):
        raise UsageError(f"the model is {out.model} before -- and {line.model} after it")
    if here:
        out.model = line.model
    elif out.model is None:
        out.elsewhere = Path(line.model).name


def _is_folder(model: str) -> bool:
    """Whether the model is a folder here; UsageError for a path that no system can have."""
    try:
        return Path(model).expanduser().is_dir()
    except (OSError, RuntimeError, ValueError) as wrong:
        raise UsageError(f"the line after --: the model {model[:80]} is no path: {_why(wrong)}") from None


def _why(wrong: Exception) -> str:
    return (wrong.strerror if isinstance(wrong, OSError) else None) or str(wrong)
