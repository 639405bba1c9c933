"""What is known of the GPU kernels that an engine writes in Python, and of where it launches them."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from ...report.predicate import Site


class Dialect(StrEnum):
    """The language that a kernel is written in, below Python's syntax."""

    TRITON = "triton"
    GLUON = "gluon"
    """Triton's lower level: the same launch, and the same name in a profiler."""
    CUTE = "cute-dsl"
    TILELANG = "tilelang"
    HELION = "helion"
    FLYDSL = "flydsl"


class Role(StrEnum):
    """What a compiled function is for."""

    KERNEL = "kernel"
    """A launch site names it, or may name it."""
    HELPER = "helper"
    """Kernels call it and no launch names it: it is part of them."""
    HOST = "host"
    """Compiled code of the CPU that launches kernels (a `cute.jit` around a `cute.kernel`)."""
    UNLAUNCHED = "unlaunched"
    """No launch and no call of it was found."""


class Idiom(StrEnum):
    """How the launch site comes by its kernel; several may be passed through on the way."""

    DIRECT = "direct"
    """By the name that the kernel was defined or imported under."""
    WRAPPED = "wrapped"
    """Through `wrap_triton`."""
    ALIAS = "alias"
    """Through a variable."""
    TERNARY = "ternary"
    """One of two, or the first that is there of several."""
    DICT = "dict"
    LOOP = "loop"
    """One after the other of several that are written down."""
    PARTIAL = "partial"
    ATTRIBUTE = "attribute"
    """Kept on a class, or on an object by its class."""
    RETURNED = "returned"
    """A function gives it."""
    INHERITED = "inherited"
    """A base class launches what its subclasses keep."""
    PARAMETER = "parameter"
    """The caller hands it over."""


class Action(StrEnum):
    """What is done at a launch site."""

    LAUNCH = "launch"
    WARMUP = "warmup"
    """Compiles without running."""
    COMPILE = "compile"
    """`cute.compile`: what comes back is launched elsewhere."""


class Autotune(Struct, frozen=True, kw_only=True):
    """A choice among configurations that is made by measuring at the first launch."""

    configs: int | None = None
    """How many; None where they are not written down."""
    keys: tuple[str, ...] | None = None
    """The arguments whose values each have a measurement of their own; None where not written down."""


class Kernel(Struct, frozen=True, kw_only=True):
    """One function that is compiled for the GPU, or for the CPU next to it."""

    dialect: Dialect
    name: str
    """The function's own name."""
    module: str
    qualname: str
    """Within the module, as Python writes it: `f.<locals>.g`, `C.kernel`."""
    site: Site
    """Its first line, decorators left out."""
    role: Role = Role.UNLAUNCHED
    printed: str | None = None
    """What a profiler shows, or how it begins where `prefix` says so; None where that could not be read."""
    prefix: bool = False
    unread: str | None = None
    """Why `printed` is not there."""
    decorators: tuple[str, ...] = ()
    """As the source writes them, top to bottom, without their arguments."""
    autotune: Autotune | None = None
    heuristics: tuple[str, ...] = ()
    """Arguments that are computed from others at each launch."""

    @property
    def symbol(self) -> str:
        """The qualified name in the engine's source."""
        return f"{self.module}.{self.qualname}"

    def __str__(self) -> str:
        return f"{self.symbol} at {self.site}"


class Launch(Struct, frozen=True, kw_only=True):
    """A place that launches a kernel, for one of the kernels that it may be."""

    kernel: str
    """The kernel's symbol."""
    action: Action
    site: Site
    """Where the launch is written."""
    function: str
    """The function that it stands in, qualified; the module where it stands in none."""
    idioms: tuple[Idiom, ...] = (Idiom.DIRECT,)
    condition: str | None = None
    """What the source asks before it takes this kernel and no other: the text of tests."""
    key: str | None = None
    """Of a dict: the text of the key that has this kernel."""
    via: tuple[Site, ...] = ()
    """Where the kernel was handed over to the launching function, the outermost call last."""
    caller: str | None = None
    """The function that hands it over first; `function` where nothing is handed over."""

    @property
    def idiom(self) -> Idiom:
        """The one of the idioms that is farthest from a plain name."""
        order = tuple(Idiom)
        return max(self.idioms, key=order.index)


class OpenLaunch(Struct, frozen=True, kw_only=True):
    """A place that launches something whose kernel, or one of whose kernels, could not be told."""

    site: Site
    function: str
    text: str
    """What is launched, as the source writes it."""
    reason: str
    partly: bool = False
    """Whether other kernels of this place are known."""


class Unread(Struct, frozen=True, kw_only=True):
    """A file that may hold kernels and could not be read."""

    path: str
    reason: str
