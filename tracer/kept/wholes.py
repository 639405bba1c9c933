"""The facts that all Python of a source is read for, by its content hash."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from msgspec import Struct

from ..imports import Own
from . import written
from .store import Store, key_of

Rewritten = dict[str, frozenset[str]]


class _Facts(Struct, array_like=True):
    """What is in the file."""

    imports: dict[str, Own]
    rewritten: dict[tuple[str, ...], Rewritten]

    @property
    def count(self) -> tuple[int, int]:
        return len(self.imports), len(self.rewritten)


_DECODER = msgspec.msgpack.Decoder(_Facts)


class KeptSource:
    """What is known of a source as a whole; `write` keeps what was added."""

    def __init__(self, store: Store, engine: str, python_hash: str) -> None:
        self._store = store
        self._key = key_of(f"source of {engine}", python_hash)
        self._facts = self._read()
        self._before = self._facts.count

    def _read(self) -> _Facts:
        data = self._store.get(self._key)
        try:
            return _Facts({}, {}) if data is None else _DECODER.decode(data)
        except written.UNREADABLE:
            return _Facts({}, {})

    @property
    def imports(self) -> dict[str, Own]:
        """What each module imports, to be added to by who reads one."""
        return self._facts.imports

    def rewritten(self, folders: tuple[str, ...], make: Callable[[], Rewritten]) -> Rewritten:
        """The fields that code in these folders rewrites, read by `make` where that is not kept."""
        if folders not in self._facts.rewritten:
            self._facts.rewritten[folders] = make()
        return self._facts.rewritten[folders]

    def write(self) -> None:
        """Keep what this process had to make."""
        if self._facts.count != self._before:
            self._store.put(self._key, written.ENCODER.encode(self._facts))
