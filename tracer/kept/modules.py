"""The facts of one module: its index and the blocks that were lowered, by the text that they are made from."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import msgspec
from msgspec import Raw, Struct

from ..index import ModuleIndex, index_module
from ..tree import Block
from . import written
from .store import Store, key_of

Place = tuple[int, int]
"""Where a block stands: the first line of the class around it, 0 at the left margin, and its own."""


class _Facts(Struct, frozen=True, array_like=True):
    """What is in the file."""

    index: ModuleIndex
    blocks: dict[Place, Raw]


_DECODER = msgspec.msgpack.Decoder(_Facts)


class KeptModule:
    """What is known of a text of Python; `write` keeps what was added."""

    def __init__(self, store: Store, text: str) -> None:
        self._store = store
        self._key = key_of("module", hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest())
        found = self._read()
        self.index = index_module(text) if found is None else found.index
        self._blocks = {} if found is None else found.blocks
        self._is_new = found is None
        self._added: dict[Place, Block] = {}

    def _read(self) -> _Facts | None:
        data = self._store.get(self._key)
        try:
            return None if data is None else _DECODER.decode(data)
        except written.UNREADABLE:
            return None

    def block(self, place: Place, make: Callable[[], Block]) -> Block:
        """The block at a place, lowered by `make` where it is not kept."""
        raw = self._blocks.get(place)
        kept = None if raw is None else written.read(raw)
        if kept is None:
            kept = self._added[place] = make()
        return kept

    def write(self) -> None:
        """Keep what this process had to make."""
        if not self._is_new and not self._added:
            return
        added = {place: written.written(block) for place, block in self._added.items()}
        blocks = {**self._blocks, **{place: raw for place, raw in added.items() if raw is not None}}
        try:
            data = written.ENCODER.encode(_Facts(self.index, blocks))
        except (ValueError, RecursionError):
            return
        self._store.put(self._key, data)
