"""The facts that all Python of a source is read for, by its content hash."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from msgspec.msgpack import Decoder

from ..imports import Own
from .store import Store, key_of
from .written import decoded, encoded

Rewritten = dict[str, frozenset[str]]


class _Facts(Struct, array_like=True):
    """What is in the file."""

    imports: dict[str, Own]
    rewritten: dict[tuple[str, ...], Rewritten]

    @property
    def count(self) -> tuple[int, int]:
        return len(self.imports), len(self.rewritten)


_FACTS = Decoder(_Facts)


class KeptSource:
    """What is known of a source as a whole; `write` keeps what was added."""

    def __init__(self, store: Store, engine: str, python_hash: str) -> None:
        self._store = store
        self._key = key_of(f"source of {engine}", python_hash)
        self._facts = decoded(_FACTS, store.get(self._key)) or _Facts({}, {})
        self._before = self._facts.count

    @property
    def imports(self) -> dict[str, Own]:
        """What each module imports, to be added to by whoever reads one."""
        return self._facts.imports

    def rewritten(self, folders: tuple[str, ...], make: Callable[[], Rewritten]) -> Rewritten:
        """The fields that code in these folders rewrites, found by `make` where they are not kept."""
        if folders not in self._facts.rewritten:
            self._facts.rewritten[folders] = make()
        return self._facts.rewritten[folders]

    def write(self) -> None:
        """Keep what this process had to make."""
        data = None if self._facts.count == self._before else encoded(self._facts)
        if data is not None:
            self._store.put(self._key, data)
