"""Names of devices as people write them, and the compute capability each stands for."""

from __future__ import annotations

import re
from importlib.resources import files

import msgspec

from ..report.errors import UsageError
from .cpus import cpu
from .scenario import ARCHITECTURES, CAPABILITIES


class Row(msgspec.Struct, frozen=True):
    """A device people name, in lower case, and its compute capability."""

    name: str
    capability: int


class Device(msgspec.Struct, frozen=True):
    """A device: its platform; for CUDA its capability (major * 10 + minor), for a CPU its kinds."""

    platform: str
    capability: int | None
    cpu: tuple[str, ...] = ()
    arch: str | None = None


def device(text: str) -> Device:
    """Read `h100`, `"NVIDIA H100 80GB HBM3"`, `9.0`, `x86_64+amx_tile`; one clear error otherwise."""
    plain = text.strip().lower()
    found = re.fullmatch(r"(?:sm_?)?(\d{1,2})(\d)[af]?|(\d{1,2})\.(\d)", plain)
    if found:
        major, minor = (found[1], found[2]) if found[1] else (found[3], found[4])
        return _known(text, int(major) * 10 + int(minor))
    if plain == "xpu":
        return Device(plain, None)
    if plain in ARCHITECTURES:
        return Device("rocm", None, arch=plain)
    if kinds := cpu(plain):
        return Device("cpu", None, kinds)
    words = set(re.findall(r"[a-z0-9]+", re.sub(r"\b(rtx|gtx)(?=\d)", r"\1 ", plain)))
    hits = {row.capability for row in _table() if set(row.name.split()) <= words}
    if len(hits) == 1:
        return Device("cuda", hits.pop())
    known = ", ".join(row.name.replace(" ", "-") for row in _table()[:8])
    raise UsageError(
        f"unknown device {text!r}: give a name ({known}, ...), sm_90, 9.0, cpu, x86_64+amx_tile or xpu"
    )


def _known(text: str, capability: int) -> Device:
    if capability not in CAPABILITIES:
        known = ", ".join(f"{c // 10}.{c % 10}" for c in CAPABILITIES)
        raise UsageError(
            f"unknown device {text!r}: no compute capability {capability / 10}; known are {known}"
        )
    return Device("cuda", capability)


class Table(msgspec.Struct, frozen=True):
    """The table as it lies beside this file."""

    source: str
    devices: tuple[Row, ...]


def _table() -> tuple[Row, ...]:
    return msgspec.json.decode(files(__package__).joinpath("devices.json").read_bytes(), type=Table).devices
