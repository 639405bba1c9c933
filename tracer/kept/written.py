"""Lowered blocks and other facts as bytes: what cannot be told back exactly is not written."""

from __future__ import annotations

import struct
from typing import Any

from msgspec import DecodeError, Raw, ValidationError
from msgspec.msgpack import Decoder, Encoder, Ext

from ..tree import Block

UNREADABLE = (DecodeError, ValidationError, RecursionError)
"""What reading back raises on bytes that are not as they were written."""

_ELLIPSIS, _COMPLEX = 1, 2
_PARTS = struct.Struct("<dd")


def _encoded(value: object) -> Ext:
    """The two literals of Python that msgpack has no notion of."""
    if value is ...:
        return Ext(_ELLIPSIS, b"")
    if isinstance(value, complex):
        return Ext(_COMPLEX, _PARTS.pack(value.real, value.imag))
    raise TypeError(f"no literal: {type(value)}")


def _decoded(code: int, data: memoryview) -> Any:
    return ... if code == _ELLIPSIS else complex(*_PARTS.unpack(data))


ENCODER = Encoder(enc_hook=_encoded)
_BLOCK = Decoder(Block, ext_hook=_decoded)


def written(block: Block) -> Raw | None:
    """A block as bytes; None for one that holds what they cannot: 2**64, half of a surrogate pair, too much
    depth.
    """
    try:
        return Raw(ENCODER.encode(block))
    except (OverflowError, ValueError, TypeError, RecursionError):
        return None


def read(block: Raw) -> Block | None:
    """The block that was written, None where the bytes are no block."""
    try:
        return _BLOCK.decode(block)
    except (*UNREADABLE, struct.error):
        return None
