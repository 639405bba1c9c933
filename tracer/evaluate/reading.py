"""A dict of which it is noted what the engine asked it for: two that agree in that are one to the engine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any

from msgspec.json import encode

from .values import Value

Entry = tuple[Value, Value]
WHOLE = "whole"
"""Noted where all keys, or their number, were asked for."""


class ReadEntries(MutableMapping[Any, Entry]):
    """The entries of a dict; `read` gets the keys that were looked up, whether they are there or not."""

    __slots__ = ("entries", "read")

    def __init__(self, entries: MutableMapping[Any, Entry], read: set[Any]) -> None:
        self.entries, self.read = entries, read

    def __getitem__(self, key: Any) -> Entry:
        self.read.add(key)
        return self.entries[key]

    def __setitem__(self, key: Any, entry: Entry) -> None:
        self.entries[key] = entry

    def __delitem__(self, key: Any) -> None:
        del self.entries[key]

    def __iter__(self) -> Iterator[Any]:
        self.read.add(WHOLE)
        return iter(self.entries)

    def __len__(self) -> int:
        self.read.add(WHOLE)
        return len(self.entries)


def agree(read: set[Any], one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two dicts of plain data are the same to who has read this much of either: as text, for
    `1 == True`, and dicts are equal in any order.
    """
    if WHOLE in read:
        return encode(one) == encode(other)
    return all(encode(_held(one, name)) == encode(_held(other, name)) for _, name in read)


def _held(config: Mapping[str, Any], name: str) -> list[Any]:
    return [config[name]] if name in config else []
