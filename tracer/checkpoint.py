"""A checkpoint's own files: config.json and, beside it, those that hold a quantization config."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from msgspec import Struct

from ..report.errors import UsageError

LARGEST = 64 << 20
"""Bytes of a configuration file that is still read."""


class Checkpoint(Struct, frozen=True):
    """Configuration files by name, decoded."""

    files: dict[str, dict[str, Any]]
    whole: bool = True
    """Whether config.json is there in full, rather than its quantization config alone."""
    tensors: dict[str, dict[str, Any]] = {}
    """dtype and shape of the stored tensors by name, from the headers of its safetensors files."""
    names: tuple[str, ...] = ()
    """All files of the folder, when one was given."""
    name: str = "model"
    """The folder's own name."""

    @property
    def config(self) -> dict[str, Any]:
        return self.files["config.json"]


QUANTIZED = re.compile(r".*quant.*\.json", re.I)
"""Files that may hold a quantization config of their own: hf_quant_config.json, quantize_config.json, ..."""

NAMED = ("model_type", "architectures", "quantization_config", "compression_config")
"""What a config.json has at least one of."""


def read_checkpoint(at: str | Path) -> Checkpoint:
    """Read a model folder, a JSON file, or JSON text that begins with `{`.

    A file or text that holds only a quantization config (it has `quant_method` or `quant_algo` and no
    architecture) is taken as the `quantization_config` of a checkpoint of which nothing else is known.
    """
    text = str(at).strip()
    if text.startswith("{"):
        return _whole(_decoded(text, "the JSON after --model"), "the JSON after --model")
    path = Path(text).expanduser()
    if path.is_dir():
        return _folder(path)
    if path.is_file():
        return _whole(_decoded(_text(path), str(path)), str(path))
    raise UsageError(
        f"--model {text}: no such folder or file; qtrace never downloads, give a folder, a JSON file or JSON"
    )


def _folder(path: Path) -> Checkpoint:
    try:
        names = tuple(sorted(file.name for file in path.iterdir() if file.is_file()))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error}") from error
    found = [name for name in names if name == "config.json" or QUANTIZED.fullmatch(name)]
    if not found:
        raise UsageError(f"--model {path}: the folder has no config.json")
    files = {name: _decoded(_text(path / name), str(path / name)) for name in found}
    return Checkpoint(
        {"config.json": {}, **files}, "config.json" in files, _headers(path), names, path.resolve().name
    )


def _headers(path: Path) -> dict[str, dict[str, Any]]:
    """The tensors that a folder's safetensors files declare; the tensors themselves are not read."""
    found: dict[str, dict[str, Any]] = {}
    for file in sorted(path.glob("*.safetensors")):
        found |= {
            name: row
            for name, row in _header(file).items()
            if name != "__metadata__" and isinstance(row, dict)
        }
    return {name: {"dtype": row.get("dtype"), "shape": row.get("shape")} for name, row in found.items()}


def _header(file: Path) -> dict[str, Any]:
    """One file's header: its length in 8 bytes, little endian, then JSON."""
    try:
        with file.open("rb") as stream:
            size = int.from_bytes(stream.read(8), "little")
            if not 0 < size <= LARGEST:
                raise UsageError(f"{file}: not a safetensors file (a header of {size} bytes)")
            return _decoded(stream.read(size).decode("utf-8"), f"the header of {file}")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {file}: {error}") from error


def _whole(content: dict[str, Any], name: str) -> Checkpoint:
    partial = (
        "architectures" not in content
        and "model_type" not in content
        and "quantization_config" not in content
    )
    if partial and ("quant_method" in content or "quant_algo" in content or "quantization" in content):
        return Checkpoint({"config.json": {"quantization_config": content}}, whole=False)
    if not any(key in content for key in NAMED):
        raise UsageError(f"{name} is not a model's config.json: it has none of {', '.join(NAMED)}")
    return Checkpoint({"config.json": content}, whole="model_type" in content)


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > LARGEST:
            raise UsageError(f"{path}: larger than {LARGEST >> 20} MiB, not a configuration file")
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {error}") from error


def _decoded(text: str, name: str) -> dict[str, Any]:
    try:
        content = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise UsageError(f"{name} is not JSON: {error}") from error
    if not isinstance(content, dict):
        raise UsageError(f"{name}: expected a JSON object, found {type(content).__name__}")
    return content
