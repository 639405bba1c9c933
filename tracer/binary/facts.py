"""What was compiled into shared libraries: kernels, the machine code and the PTX that each one has."""

from __future__ import annotations

from msgspec import Struct


class Compiled(Struct, frozen=True, kw_only=True):
    """One kernel of a library."""

    mangled: str
    """Its name in the library's tables, as nvcc mangled it."""
    architectures: tuple[str, ...] = ()
    """What it has machine code (SASS) for: `sm_80`, `sm_90a`, `sm_100f`; by number, then by suffix."""
    ptx: tuple[str, ...] = ()
    """The targets of the PTX that holds it: `compute_80`; a driver compiles that when it is loaded (JIT)."""


class Ptx(Struct, frozen=True, kw_only=True):
    """The PTX of a library for one target."""

    target: str
    """nvcc's name of the virtual architecture: `compute_80`, which PTX itself writes `.target sm_80`."""
    images: int
    """How many modules were compiled to PTX for it, whether they hold a kernel or not."""


class Library(Struct, frozen=True, kw_only=True):
    """One shared library; without kernels and PTX it holds no GPU code."""

    path: str
    """Where it is below the folder or in the wheel, with `/`; the name alone of a library named itself."""
    kernels: tuple[Compiled, ...] = ()
    """By name."""
    ptx: tuple[Ptx, ...] = ()
    """By number, then by suffix."""
