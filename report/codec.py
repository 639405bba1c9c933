"""Reports to and from JSON: equal reports give equal bytes, and a reader ignores keys it does not know."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from .errors import ReportError
from .model import SCHEMA, Report


def _plain(value: object) -> object:
    """A mapping that is no dict (a read-only view, a chain of maps) as one that the encoder knows."""
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a report cannot hold {type(value).__name__}")


_encoder = msgspec.json.Encoder(order="deterministic", enc_hook=_plain)
_decoder = msgspec.json.Decoder(Report)


class _Head(msgspec.Struct):
    """As much of a file as tells whether the rest can be read."""

    schema: str


def encode(report: Report) -> bytes:
    """The report as indented UTF-8 JSON with a newline at the end; fields in the order of the types."""
    try:
        data = _encoder.encode(report)
    except UnicodeEncodeError:
        data = _encoder.encode(_text(msgspec.to_builtins(report, enc_hook=_plain)))
    return msgspec.json.format(data, indent=2) + b"\n"


def decode(data: bytes, source: str = "report") -> Report:
    """The report in `data`; `source` names it in errors."""
    schema = _schema_of(data, source)
    if schema != SCHEMA:
        raise ReportError(f"{source} has schema {schema!r}; this qtrace reads {SCHEMA!r}")
    try:
        return _decoder.decode(data)
    except msgspec.DecodeError as error:
        raise ReportError(f"{source} is not a valid {SCHEMA}: {error}") from error


def json_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of a report, made from the types."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": SCHEMA,
        **msgspec.json.schema(Report),
    }


def _text(value: Any) -> Any:
    """`value` with what is no text (a file's name in another encoding) as escapes."""
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    if isinstance(value, list | tuple):
        return [_text(item) for item in value]
    return {_text(k): _text(v) for k, v in value.items()} if isinstance(value, dict) else value


def _schema_of(data: bytes, source: str) -> str:
    try:
        return msgspec.json.decode(data, type=_Head).schema
    except msgspec.ValidationError as error:
        raise ReportError(f"{source} is not a qtrace report: it names no schema ({error})") from error
    except msgspec.DecodeError as error:
        raise ReportError(f"{source} is not JSON: {error}") from error
