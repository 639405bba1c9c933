"""`vars(x)` and `x.__dict__`: the attributes of an object as a dict."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import TYPE_CHECKING, Any

from .values import DictValue, Instance, Value

if TYPE_CHECKING:
    from .machine import Machine


class AttributeEntries(MutableMapping[Any, tuple[Value, Value]]):
    """The attributes of an object as the entries of a dict: `vars(x)` reads and writes the object itself."""

    __slots__ = ("attrs", "hidden")

    def __init__(self, attrs: dict[str, Value], hidden: tuple[str, ...]) -> None:
        self.attrs, self.hidden = attrs, hidden

    def __getitem__(self, key: Any) -> tuple[Value, Value]:
        if key[0] != "constant" or key[1] in self.hidden:
            raise KeyError(key)
        return key[1], self.attrs[key[1]]

    def __setitem__(self, key: Any, entry: tuple[Value, Value]) -> None:
        self.attrs[key[1]] = entry[1]

    def __delitem__(self, key: Any) -> None:
        del self.attrs[key[1]]

    def __iter__(self) -> Iterator[Any]:
        return iter([("constant", name) for name in self.attrs if name not in self.hidden])

    def __len__(self) -> int:
        return sum(1 for _ in self)


def instance_dict(m: Machine, atom: Instance) -> DictValue:
    """The attributes of an object as a dict: what is written there is written to the object."""
    out = DictValue(atom.born)
    out.entries = AttributeEntries(atom.attrs, ("__site__", "__within__", *m.world.models.slots(atom)))
    return out
