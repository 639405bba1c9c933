"""Operators held against a binary: for each kernel the code that is compiled into it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import replace

from ..report.image import Binary, Image
from ..report.model import Hop, Report
from .binary.architectures import in_order
from .binary.facts import Library
from .binary.listing import libraries
from .binary.names import base_name
from .native.images import taken, with_images


def examined(report: Report, path: Path, capability: int | None) -> Report:
    """The report with what a wheel, folder or library holds of each kernel, for a device of that capability.

    Errors are those of `binary.listing.libraries`.
    """
    found = [library for library in libraries(path) if library.kernels]
    code = _code(found)

    def image(hop: Hop) -> Image:
        return taken(Image(code=code.get(hop.symbol, ())), capability)

    kernels = {kernel.mangled for library in found for kernel in library.kernels}
    binary = Binary(name=path.name, libraries=len(found), kernels=len(kernels))
    operators = tuple(with_images(operator, image) for operator in report.operators)
    return replace(report, operators=operators, binary=binary)


def _code(found: list[Library]) -> Mapping[str, tuple[str, ...]]:
    """The architectures of each kernel by its name without template arguments, over all its instances."""
    names: dict[str, set[str]] = {}
    for library in found:
        for kernel in library.kernels:
            names.setdefault(base_name(kernel.mangled), set()).update((*kernel.architectures, *kernel.ptx))
    return {name: in_order(held) for name, held in names.items()}
