"""What a CPU can do: its architecture and features as people write them, and what follows from a feature."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

import msgspec


class Processor(msgspec.Struct, frozen=True):
    """A processor people name, in lower case; `features` are its highest ones."""

    name: str
    machine: str
    features: tuple[str, ...]


class Cpus(msgspec.Struct, frozen=True):
    """The table as it lies beside this file."""

    source: str
    features: dict[str, tuple[str, ...]]
    """A feature, and those that every processor with it also has."""
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


class Cpu(msgspec.Struct, frozen=True):
    """A CPU as asked about; None is unknown."""

    machine: str | None = None
    features: frozenset[str] | None = None


@cache
def cpus() -> Cpus:
    """The table, read once."""
    return msgspec.json.decode(files(__package__).joinpath("cpus.json").read_bytes(), type=Cpus)


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


def cpu(text: str) -> Cpu | None:
    """Read `cpu`, `x86_64`, `x86_64+avx512_bf16`, `sapphire-rapids`; None for what is no CPU.

    A name alone leaves features unknown; after `+`, those that are not named are not there.
    """
    table = cpus()
    machine, *features = (part.strip() for part in text.strip().lower().split("+"))
    if machine == "cpu" and not features:
        return Cpu()
    if machine in table.machines and set(features) <= set(table.features):
        known = with_all(features, table.features) if features else None
        return Cpu(machine, known if machine == table.feature_machine else frozenset())
    words = set(re.findall(r"[a-z0-9]+", machine))
    for row in table.processors:
        if not features and set(row.name.split()) <= words:
            return Cpu(row.machine, with_all(row.features, table.features))
    return None
