"""The files of an archive, unpacked once: its sha256, taken anew at each opening, leads to them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from msgspec.msgpack import Decoder

from ..pins.cache import digest
from .store import Store, key_of
from .written import decoded, encoded

MIN_SIZE = 1 << 20
"""A smaller archive is unpacked sooner than it is looked for."""

_FILES = Decoder(list[tuple[str, str, memoryview]])


class Unpacked(NamedTuple):
    """Files by name, and the sha256 of those of which it is known."""

    content: Mapping[str, bytes | memoryview]
    digests: Mapping[str, str]


def unpacked(path: Path, engine: str, read: Callable[[], dict[str, bytes]]) -> Unpacked:
    """The files of an archive that are read for an engine: the kept ones, else what `read` gives."""
    sha256 = _digest(path)
    if sha256 is None:
        return Unpacked(read(), {})
    store, key = Store(), key_of(f"archive for {engine}", sha256)
    files = decoded(_FILES, store.get(key))
    if files is not None:
        return Unpacked({name: data for name, _, data in files}, {name: sha for name, sha, _ in files})
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


def _keep(store: Store, key: str, found: Unpacked) -> None:
    data = encoded([(name, found.digests[name], content) for name, content in found.content.items()])
    if data is not None:
        store.put(key, data)
