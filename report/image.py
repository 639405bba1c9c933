"""The GPU code that a kernel is compiled to, and what a device makes of it."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from .predicate import Site


class Compatibility(StrEnum):
    """How a device comes to a kernel's code: "Binary Compatibility" and "PTX Compatibility" of NVIDIA's CUDA
    programming guide, with its "Family-Specific" and "Architecture-Specific" features.
    """

    NATIVE = "native"
    """Machine code (SASS) of exactly the device's compute capability, with or without a suffix."""
    OLDER = "older"
    """SASS of the same major and a lower minor capability. A cubin runs on its own minor and on later ones of
    its major, but never from or to a Tegra; `f` code so within its family; `a` code on no other capability.
    """
    JIT = "jit"
    """PTX that the driver compiles when it loads it: `compute_80` for 8.0 and all later capabilities,
    `compute_100f` within its family, `compute_90a` on 9.0 only.
    """
    MISSING = "missing"
    """None of that: the launch fails, "no kernel image is available for execution on the device"."""


class Image(Struct, frozen=True, kw_only=True):
    """What a kernel is compiled to, over all its instances."""

    code: tuple[str, ...]
    """`sm_80`, `sm_90a`, and for PTX `compute_80`; none where the binary has no such kernel."""
    site: Site | None = None
    """The line of the build's script that says so; None where it was read in a binary."""
    compatibility: Compatibility | None = None
    """What the device that was asked for makes of it; None without a device."""
    taken: str | None = None
    """The code that it takes."""

    def __str__(self) -> str:
        held = " ".join(self.code) or "no such kernel"
        return f"{self.compatibility}: {held}" if self.compatibility else held


class Binary(Struct, frozen=True, kw_only=True):
    """A wheel, package or library whose GPU code was listed."""

    name: str
    """Its file's name, without folders."""
    libraries: int
    """Shared libraries that hold GPU code."""
    kernels: int
    """Distinct kernels: instances, not names."""

    def __str__(self) -> str:
        return f"{self.name}  {self.kernels:,} kernels in {self.libraries} libraries"
