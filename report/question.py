"""What a report was asked, and what was read to answer it."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from .predicate import Scalar

Value = Scalar | tuple[Scalar, ...]


class Question(Struct, frozen=True, kw_only=True):
    """The scenario as asked, as resolved, and what of it stayed unknown.

    Scenario variables go by the names that guards use: `quantization`, `kv_cache_dtype`,
    `compute_capability`, `M` (rows of a forward), `env.VLLM_USE_DEEP_GEMM`, ...
    """

    engine: str
    asked: Mapping[str, Value]
    """What the user gave, one entry a variable, as typed."""
    resolved: Mapping[str, Value]
    """What the variables came to after the engine's own defaults and overrides."""
    unknown: tuple[str, ...] = ()
    """Variables that were asked of and had no value: each outcome states what it needs of them."""
    assumed: tuple[str, ...] = ()
    """Assumptions made where nobody said, as sentences."""

    def came_to(self) -> dict[str, Value]:
        """What was resolved and is not what was asked already."""
        asked = self.asked
        return {
            name: value for name, value in self.resolved.items() if name not in asked or asked[name] != value
        }

    def __str__(self) -> str:
        given = " ".join(f"{name}={value}" for name, value in self.asked.items())
        return f"{self.engine} {given}".rstrip()


class Pin(Struct, frozen=True, kw_only=True):
    """The engine source that was read: a version and content hashes, never the place it was read from."""

    engine: str
    version: str
    commit: str | None = None
    """The full git commit, where it is known."""
    python_hash: str
    """sha256 (hex) over the sorted (path, sha256) of the engine's Python files."""
    native_hash: str | None = None
    """The same over its C++/CUDA files; None where they are not there."""

    def __str__(self) -> str:
        return f"{self.engine} {self.version}" + (f" @ {self.commit[:9]}" if self.commit else "")
