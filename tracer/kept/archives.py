"""The files of an archive, unpacked once: the archive's own sha256 leads to them, taken anew at each opening."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from ..pins.cache import digest
from . import written
from .store import Store, key_of

MIN_SIZE = 1 << 20
"""A smaller archive is unpacked sooner than it is looked for."""


class Unpacked(NamedTuple):
    """Files by name, and the sha256 of those of which it is known."""

    content: Mapping[str, bytes | memoryview]
    digests: Mapping[str, str]


_DECODER = msgspec.msgpack.Decoder(list[tuple[str, str, memoryview]])


def unpacked(path: Path, engine: str, read: Callable[[], dict[str, bytes]]) -> Unpacked:
    """The files of an archive that are read for an engine: the kept ones, else what `read` gives."""
    sha256 = _digest(path)
    if sha256 is None:
        return Unpacked(read(), {})
    store, key = Store(), key_of(f"archive for {engine}", sha256)
    found = _kept(store, key)
    if found is None:
        content = read()
        found = Unpacked(content, {name: hashlib.sha256(data).hexdigest() for name, data in content.items()})
        if _digest(path) == sha256:  # nobody changed it while it was read
            _keep(store, key, found)
    return found


def _digest(path: Path) -> str | None:
    """The sha256 of an archive that is worth keeping; whoever reads it says what is wrong with another."""
    try:
        return digest(path) if path.stat().st_size >= MIN_SIZE else None
    except OSError:
        return None


def _kept(store: Store, key: str) -> Unpacked | None:
    data = store.get(key)
    try:
        files = None if data is None else _DECODER.decode(data)
    except written.UNREADABLE:
        return None
    if files is None:
        return None
    return Unpacked({name: data for name, _, data in files}, {name: sha256 for name, sha256, _ in files})


def _keep(store: Store, key: str, found: Unpacked) -> None:
    files = [(name, found.digests[name], data) for name, data in found.content.items()]
    try:
        store.put(key, written.ENCODER.encode(files))
    except (ValueError, MemoryError):  # a name that is no text
        return
