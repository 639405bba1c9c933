"""Who reads a flag, a field of the engine's configuration, or an environment variable."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from msgspec import Struct

from .predicate import Site

OWN = ("vllm.config.", "vllm.engine.arg_utils.")
"""Where configuration is made and checked."""
HANDING = (".EngineArgs.create_engine_config", ".EngineArgs.create_model_config", ".VllmConfig.__str__")
"""Functions that hand arguments to the fields that keep them, or print them."""


class Source(StrEnum):
    """What the name is."""

    FLAG = "flag"
    """An option of the command line, kept in a field of the engine's arguments."""
    FIELD = "field"
    """A field of a configuration class."""
    VARIABLE = "environment variable"


class Role(StrEnum):
    """What a reader does with the value."""

    DECIDES = "decides"
    """It stands in a condition."""
    CHECKS = "checks"
    """In a condition under which the engine raises, and nothing else."""
    PASSES = "passes on"
    """It is an argument, or is assigned or returned."""
    LOGS = "logs"


class Defined(Struct, frozen=True, kw_only=True):
    """Where the name is declared."""

    source: Source
    symbol: str
    """`vllm.engine.arg_utils.EngineArgs.quantization`, `vllm.envs.VLLM_USE_DEEP_GEMM`."""
    site: Site


class Behind(Struct, frozen=True, kw_only=True):
    """A condition on which the reader's class is built at all."""

    condition: str
    """What is tested: `not VllmConfig.use_v2_model_runner`."""
    site: Site
    holds: bool | None = None
    """Whether it does for the question; None where that is open."""
    asks: tuple[str, ...] = ()
    """Environment variables that it asks for itself: with these it may be turned."""


class Reader(Struct, frozen=True, kw_only=True):
    """One place that reads it."""

    function: str
    """The function around it, or the module."""
    site: Site
    role: Role
    sure: bool = True
    """Whether what it is read of certainly holds it; else another object has an attribute of the name."""
    behind: tuple[Behind, ...] = ()
    """A condition for each way in which its class is built; empty where one way has none."""
    reached: bool | None = None
    """Whether the function is run on the way of the question; None where none was asked."""

    def unreachable(self) -> bool:
        """Whether no way to it is open for the question."""
        return bool(self.behind) and all(each.holds is False for each in self.behind)


class Readers(Struct, frozen=True, kw_only=True):
    """All that is known of a name."""

    name: str
    defined: tuple[Defined, ...]
    readers: tuple[Reader, ...]
    others: int = 0
    """Attributes of the name that may be of another object."""
    decides: bool | None = None
    """Whether the answer is another with it unknown; None where nothing was asked, or that is open."""

    def outside(self) -> tuple[Reader, ...]:
        """Those that do something with it, but for the configuration's own code."""
        return tuple(reader for reader in self._acting() if not reader.function.startswith(OWN))

    def inside(self) -> tuple[Reader, ...]:
        """Code of the configuration that makes something else of it than a field."""
        own = (reader for reader in self._acting() if reader.function.startswith(OWN))
        return tuple(reader for reader in own if not reader.function.endswith(HANDING))

    def _acting(self) -> Iterator[Reader]:
        """Neither logs nor checks."""
        return (reader for reader in self.readers if reader.role in (Role.DECIDES, Role.PASSES))
