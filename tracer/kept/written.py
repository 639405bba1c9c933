"""Facts as bytes: what could not be read back exactly is not written, what is no fact is not read."""

from __future__ import annotations

import struct
from typing import Any, TypeVar

from msgspec import DecodeError
from msgspec.msgpack import Decoder, Encoder, Ext

T = TypeVar("T")

_ELLIPSIS, _COMPLEX = 1, 2
_PARTS = struct.Struct("<dd")


def encoded(fact: object) -> bytes | None:
    """The bytes of a fact; None for one that holds what they cannot: 2**64, half of a surrogate pair, too
    much depth.
    """
    try:
        return _ENCODER.encode(fact)
    except (OverflowError, ValueError, TypeError, RecursionError):
        return None


def decoded(decoder: Decoder[T], data: Any) -> T | None:
    """The fact that bytes hold; None where there are none, or none of its kind."""
    try:
        return None if data is None else decoder.decode(data)
    except (DecodeError, ValueError, RecursionError, MemoryError, struct.error):
        return None


def literal(code: int, data: memoryview) -> Any:
    """A literal of Python that msgpack has no notion of, as a decoder of trees wants it."""
    return ... if code == _ELLIPSIS else complex(*_PARTS.unpack(data))


def _extension(value: object) -> Ext:
    if value is ...:
        return Ext(_ELLIPSIS, b"")
    if isinstance(value, complex):
        return Ext(_COMPLEX, _PARTS.pack(value.real, value.imag))
    raise TypeError(f"no literal: {type(value)}")


_ENCODER = Encoder(enc_hook=_extension)
