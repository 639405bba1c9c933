"""The facts of one module, by its text: its index, and the blocks of it that were lowered."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from msgspec import Raw, Struct
from msgspec.msgpack import Decoder

from ..index import ModuleIndex, index_module
from ..tree import Block
from .store import Store, key_of
from .written import decoded, encoded, literal

Place = tuple[int, int]
"""Where a block stands: the first line of the class around it, 0 at the left margin, and its own."""


class _Facts(Struct, frozen=True, array_like=True):
    """What is in the file; a block is read when it is asked for."""

    index: ModuleIndex
    blocks: dict[Place, Raw]


_FACTS = Decoder(_Facts)
_BLOCK = Decoder(Block, ext_hook=literal)


class KeptModule:
    """What is known of a text of Python; `write` keeps what was added."""

    def __init__(self, store: Store, text: str) -> None:
        self._store = store
        self._key = key_of("module", hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest())
        found = decoded(_FACTS, store.get(self._key))
        self.index = index_module(text) if found is None else found.index
        self._blocks = {} if found is None else found.blocks
        self._is_new = found is None
        self._added: dict[Place, Block] = {}

    def block(self, place: Place, make: Callable[[], Block]) -> Block:
        """The block at a place, lowered by `make` where it is not kept."""
        kept = decoded(_BLOCK, self._blocks.get(place))
        if kept is None:
            kept = self._added[place] = make()
        return kept

    def write(self) -> None:
        """Keep what this process had to make."""
        added = {place: encoded(block) for place, block in self._added.items()}
        blocks = {place: Raw(data) for place, data in added.items() if data is not None}
        if not self._is_new and not blocks:
            return
        data = encoded(_Facts(self.index, {**self._blocks, **blocks}))
        if data is not None:
            self._store.put(self._key, data)
