"""What a CPU can do: its architecture and features as people write them, and what follows from a feature."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

import msgspec


class Processor(msgspec.Struct, frozen=True):
    """A processor people name, in lower case, and its kind."""

    name: str
    kind: str


class Cpus(msgspec.Struct, frozen=True):
    """The table as it lies beside this file."""

    source: str
    features: tuple[str, ...]
    """Features in an order: a processor that has one has all before it."""
    feature_machine: str
    """The architecture that has these features."""
    questions: dict[str, str]
    """What torch asks the processor, and the feature that answers it."""
    cpuid: dict[str, str]
    """`leaf.subleaf.register.bit`, and the feature that it tells."""
    machines: dict[str, tuple[str, ...]]
    """Architectures by the name Python gives them, and the macros of their compilers."""
    optional: dict[str, tuple[str, ...]]
    """Macros that only compilers for an architecture may define."""
    absent: tuple[str, ...]
    """Macros of systems that are not Linux."""
    macros: dict[str, tuple[str, ...]]
    """A macro that an option of the compiler defines, and others that come with it."""
    processors: tuple[Processor, ...]


@cache
def cpus() -> Cpus:
    """The table, read once."""
    return msgspec.json.decode(files(__package__).joinpath("cpus.json").read_bytes(), type=Cpus)


@cache
def kinds() -> tuple[str, ...]:
    """Every kind of CPU that is told apart: an architecture, or one and the highest of its features."""
    table = cpus()
    others = (name for name in table.machines if name != table.feature_machine)
    return (*(f"{table.feature_machine}+{feature}" for feature in table.features), *others)


def machine_of(kind: str) -> str:
    """The architecture of a kind of CPU."""
    return kind.partition("+")[0]


def has(kind: str, feature: str) -> bool:
    """Whether a kind of CPU has a feature."""
    order, highest = cpus().features, kind.partition("+")[2]
    return highest in order and order.index(highest) >= order.index(feature)


def with_all(names: Iterable[str], brings: dict[str, tuple[str, ...]]) -> frozenset[str]:
    """These names and all that they bring with them."""
    found: set[str] = set()
    todo = list(names)
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += brings.get(name, ())
    return frozenset(found)


def cpu(text: str) -> tuple[str, ...]:
    """The kinds that `cpu`, `x86_64`, `x86_64+amx_tile`, `sapphire-rapids` may be; none for no CPU."""
    plain = text.strip().lower()
    if plain == "cpu":
        return kinds()
    found = tuple(kind for kind in kinds() if plain in (kind, machine_of(kind)))
    words = set(re.findall(r"[a-z0-9]+", plain))
    return found or tuple(row.kind for row in cpus().processors if set(row.name.split()) <= words)[:1]
