"""Devices by the names that people and drivers give them, and what each can do: the table beside it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from functools import lru_cache
from importlib.resources import files
from typing import Any

import msgspec

from ..report.errors import UsageError
from .cpus import cpu
from .scenario import ARCHITECTURES, CAPABILITIES


class Device(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a device; None is not known, or nothing that the hardware has.

    Rates are the vendor's peaks for dense matrices, in 10^12 operations a second.
    """

    platform: str
    cpu: tuple[str, ...] = ()
    """The kinds of CPU that it may be."""
    capability: int | None = None
    """CUDA's compute capability, major * 10 + minor."""
    arch: str | None = None
    """The compiler's target on ROCm: gfx942."""
    driver: str | None = None
    """The name that NVIDIA's driver reports."""
    memory_gb: float | None = None
    """As the vendor names it, not what the driver reports."""
    bandwidth_gbs: float | None = None
    fp16: float | None = None
    bf16: float | None = None
    fp8: float | None = None
    fp4: float | None = None
    int8: float | None = None
    units: int | None = None
    """Streaming multiprocessors, or compute units."""

    @property
    def sm(self) -> str | None:
        """The compute capability as CUDA's compilers write it."""
        return None if self.capability is None else f"sm_{self.capability}"

    @property
    def counted(self) -> int | None:
        """`units` where the driver counts the same; on RDNA it may count them in pairs."""
        return None if (self.arch or "").startswith("gfx1") else self.units


class Row(Device, frozen=True, kw_only=True):
    """One product of the table."""

    name: str
    key: tuple[str, ...]
    """Words that a text must have to mean this family; each entry is enough."""
    source: str

    @property
    def words(self) -> frozenset[str]:
        """Every word that may stand beside the key."""
        size = f"{self.memory_gb:g}gb" if self.memory_gb else ""
        return frozenset().union(*map(words, (self.name, size, self.driver or "", *self.key)))

    def keys(self, given: frozenset[str]) -> Iterable[frozenset[str]]:
        """The keys that `given` holds in full."""
        return (key for key in map(words, self.key) if key <= given)

    def __str__(self) -> str:
        return f"{self.name} ({self.arch or self.sm})"


NEUTRAL = frozenset(
    (
        "nvidia", "geforce", "tesla", "rtx", "gtx", "jetson", "amd", "instinct", "radeon", "rx", "oam",
        "gpu", "graphics", "accelerator", "generation", "edition",
    )
)  # fmt: skip
"""Words that tell no product from another."""

SPELLINGS = (
    (r"\b(rtx|gtx|rx)(?=\d)", r"\1 "),
    (r"(?<=\d{4})(ti|super|xtx|xt|gre)\b", r" \1"),
    (r"\b(\d+)\s*gi?b?\b", r"\1gb"),
    (r"\bsxm\d\b", "sxm"),
)
"""What is written in several ways, and the one way that the table has."""

SHARED = ("platform", "cpu", "capability", "arch")
FACTS = tuple(name for name in Device.__struct_fields__ if name not in SHARED)
"""Fields that variants of a product may differ in."""


def device(text: str) -> Device:
    """Read `h100`, `"NVIDIA H100 80GB HBM3"`, `sm_90`, `sm90a`, `9.0`, `mi300x`, `gfx942`, `xpu`, `cpu`,
    `x86_64+amx_tile`.

    Where a text names several products, what they agree on is known.
    """
    plain = text.strip().lower()
    if plain == "xpu":
        return Device(platform=plain)
    if kinds := cpu(plain):
        return Device(platform="cpu", cpu=kinds)
    if found := re.fullmatch(r"(?:sm_?)?(\d{1,2})(\d)[af]?|(\d{1,2})\.(\d)", plain):
        return _cuda(text, int(found[1] or found[3]) * 10 + int(found[2] or found[4]))
    if found := re.fullmatch(r"(gfx[0-9a-f]{3,4})(:.*)?", plain):
        return _rocm(text, found[1])
    return _named(text, plain)


def words(text: str) -> frozenset[str]:
    """The words of a device's name that tell it from others, spelt one way."""
    plain = text.lower().replace("_", " ")
    for pattern, spelt in SPELLINGS:
        plain = re.sub(pattern, spelt, plain)
    return frozenset(re.findall(r"[a-z0-9]+", plain)) - NEUTRAL


def _cuda(text: str, capability: int) -> Device:
    if capability not in CAPABILITIES:
        known = ", ".join(f"{c // 10}.{c % 10}" for c in CAPABILITIES)
        raise UsageError(
            f"unknown device {text!r}: no compute capability {capability / 10}; known are {known}"
        )
    return Device(platform="cuda", capability=capability)


def _rocm(text: str, arch: str) -> Device:
    if arch not in ARCHITECTURES:
        raise UsageError(f"unknown device {text!r}: known architectures are {', '.join(ARCHITECTURES)}")
    return Device(platform="rocm", arch=arch)


def _named(text: str, plain: str) -> Device:
    """The device of that name: what the products it may mean agree on."""
    for row in table():
        if row.driver is not None and plain == row.driver.lower():
            return _agreed([row])
    given = words(text)
    family = _family(given)
    if not family:
        raise UsageError(f"unknown device {text!r}: {_hint(given)}")
    if len({(row.platform, row.capability, row.arch) for row in family}) > 1:
        raise UsageError(f"device {text!r} may be any of {', '.join(map(str, family))}: say which")
    exact = [row for row in family if given == words(row.name)]
    variants = exact or [row for row in family if given <= row.words]
    return _agreed(variants) if variants else _without_facts(_agreed(family))


def _family(given: frozenset[str]) -> list[Row]:
    """Rows whose key the text has, but for those whose key is part of a longer one that it has."""
    found = [(row, key) for row in table() for key in row.keys(given)]
    return [row for row, key in found if not any(key < other for _, other in found)]


def _agreed(rows: list[Row]) -> Device:
    """What rows have in common."""
    facts = {name: _common(getattr(row, name) for row in rows) for name in Device.__struct_fields__}
    return Device(**facts)


def _common(values: Iterable[Any]) -> Any:
    first, *rest = dict.fromkeys(values)
    return None if rest else first


def _without_facts(found: Device) -> Device:
    """A variant that the table does not have: its family's architecture is all that is known."""
    return msgspec.structs.replace(found, **dict.fromkeys(FACTS))


def _hint(given: frozenset[str]) -> str:
    known = {word for row in table() for key in row.key for word in words(key)}
    near = {some for word in given for some in difflib.get_close_matches(word, known, n=2, cutoff=0.8)}
    meant = [str(row) for row in table() if any(near & words(key) for key in row.key)]
    if meant:
        return f"did you mean {', '.join(meant[:6])}?"
    return "give a name (h100, 'NVIDIA L40S', mi300x), sm_90, 9.0, gfx942, cpu or xpu"


class Table(msgspec.Struct, frozen=True):
    """The table as it lies beside this file."""

    devices: tuple[Row, ...]


@lru_cache(maxsize=1)
def table() -> tuple[Row, ...]:
    """All products, with where their figures are from."""
    data = files(__package__).joinpath("devices.json").read_bytes()
    return msgspec.json.decode(data, type=Table).devices


def on_platform(platform: str | None, text: str | None) -> Device:
    """The device that `--platform` and `--device` name together; CUDA where nobody says."""
    if text is None:
        return Device(platform=platform or "cuda")
    found = device(text)
    if platform not in (None, found.platform):
        raise UsageError(f"--platform {platform} contradicts --device {text}, which is on {found.platform}")
    return found
