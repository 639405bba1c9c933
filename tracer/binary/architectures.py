"""GPU architectures by name: what `sm_90a` and `compute_80` say, and which of them a device can load."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from msgspec import Struct

from ...report.image import Compatibility

INTEGRATED = frozenset({53, 62, 72, 87, 101, 110})
"""Compute capabilities of Tegra (Jetson, Drive), whose machine code is compatible with no other one."""

_NAME = re.compile(r"(sm|compute)_([1-9]\d{1,3})([af]?)", re.ASCII)


class Architecture(Struct, frozen=True, order=True):
    """A target of nvcc, in order of number and suffix."""

    capability: int
    """Ten times the major compute capability plus the minor one: 86, 103."""
    suffix: str = ""
    """`a`: specific to that capability; `f`: to its family; empty: neither."""
    virtual: bool = False
    """PTX (`compute_`) instead of machine code (`sm_`)."""

    @property
    def major(self) -> int:
        return self.capability // 10


class Loaded(Struct, frozen=True):
    """What a device makes of a kernel."""

    compatibility: Compatibility
    code: str | None = None
    """The architecture whose code it takes, as it was named; None where it has none to take."""


def architecture(name: str) -> Architecture:
    """Read `sm_80`, `sm_90a`, `compute_100f`; ValueError on anything else."""
    found = _NAME.fullmatch(name)
    if found is None:
        raise ValueError(f"no architecture of nvcc: {name!r}")
    kind, number, suffix = found.groups()
    return Architecture(int(number), suffix, kind == "compute")


def in_order(names: Iterable[str]) -> tuple[str, ...]:
    """Names without doubles, machine code before PTX, by number, then by suffix; ValueError as above."""
    return tuple(sorted(set(names), key=lambda name: (architecture(name).virtual, architecture(name))))


def loaded(capability: int, names: Iterable[str]) -> Loaded:
    """What a device of a compute capability (80, 103, 120) takes of the code that a kernel has.

    The nearest code wins: machine code before PTX, then the highest number, then `a` before `f` before none.
    """
    offered = sorted(((architecture(name), name) for name in names), key=_nearness, reverse=True)
    for compatibility, takes in _RULES:
        for code, name in offered:
            if takes(code, capability):
                return Loaded(compatibility, name)
    return Loaded(Compatibility.MISSING)


def _nearness(offer: tuple[Architecture, str]) -> tuple[int, int]:
    return offer[0].capability, ("", "f", "a").index(offer[0].suffix)


def _native(code: Architecture, capability: int) -> bool:
    return not code.virtual and code.capability == capability


def _older(code: Architecture, capability: int) -> bool:
    alone = code.suffix == "a" or not INTEGRATED.isdisjoint((code.capability, capability))
    return not code.virtual and not alone and _same_major(code, capability)


def _jit(code: Architecture, capability: int) -> bool:
    return code.virtual and _REACH[code.suffix](code, capability)


def _same_major(code: Architecture, capability: int) -> bool:
    return code.major == capability // 10 and code.capability <= capability


_REACH: dict[str, Callable[[Architecture, int], bool]] = {
    "a": lambda code, capability: code.capability == capability,
    "f": _same_major,
    "": lambda code, capability: code.capability <= capability,
}
"""How far PTX of each suffix reaches."""

_RULES = (
    (Compatibility.NATIVE, _native),
    (Compatibility.OLDER, _older),
    (Compatibility.JIT, _jit),
)
