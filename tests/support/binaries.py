"""Shared libraries with GPU code, made around real modules, and wheels that hold them."""

from __future__ import annotations

import struct
import zipfile
from pathlib import Path

DATA = Path(__file__).parent.parent / "data" / "binary"
FLASHMLA = DATA / "_flashmla_extension_C.abi3.so"
MARLIN = DATA / "marlin_default.fatbin"


def library(fatbin: bytes, section: str = ".nv_fatbin") -> bytes:
    """An ELF file whose one section holds modules of GPU code, as nvcc lays them one after another."""
    names = f"\0{section}\0.shstrtab\0".encode()
    size = 64 + len(fatbin) + len(names)
    header = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 3, 62, 1, 0, 0, size, 0, 64, 0, 0, 64, 3, 2)
    rows = (
        (0, 0, 0, 0),
        (1, 1, 64, len(fatbin)),
        (len(section) + 2, 3, 64 + len(fatbin), len(names)),
    )
    table = b"".join(
        struct.pack("<IIQQQQIIQQ", n, kind, 0, 0, at, length, 0, 0, 8, 0) for n, kind, at, length in rows
    )
    return header + fatbin + names + table


def marlin() -> bytes:
    """A library with one kernel: `marlin_moe_wna16::MarlinDefault`."""
    return library(MARLIN.read_bytes())


def member(
    name: str, content: bytes, mode: int = 0, packed: int = zipfile.ZIP_DEFLATED
) -> tuple[zipfile.ZipInfo, bytes]:
    info = zipfile.ZipInfo(name)
    info.external_attr = mode << 16
    info.compress_type = packed
    return info, content
