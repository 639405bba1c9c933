"""Cubins and PTX, as `cuobjdump` takes them out of a library: their target, and the kernels in them."""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from .architectures import architecture
from .elf import BrokenElfError, Section, content, sections, symbols

_FUNCTION = 2
_ENTRY = 0x10
"""STO_CUDA_ENTRY: a function that a host may launch."""
_TOOL_NOTE = ".note.nv.tkinfo"
_TOLD = re.compile(rb"-arch[ =](sm_\d+[af]?)\b")
_FILE = re.compile(r"\.(sm_\d+[af]?)\.(?:cubin|ptx)\Z")
_NAME = re.compile(rb"[\w$.]+", re.ASCII)
_TARGET = re.compile(rb"^[ \t]*\.target[ \t]+sm_(\d+[af]?)\b", re.MULTILINE)
_DECLARED = re.compile(rb"[ \t]*(?:\.(?:visible|weak)[ \t]+)*\.entry[ \t]+([\w$]+)", re.ASCII)
_PREAMBLE = 1 << 16
"""How far into a PTX file its target is looked for, in bytes."""
_LINE = 80
"""How far before `.entry` its line may begin."""


class Image(Struct, frozen=True, kw_only=True):
    """One module of GPU code."""

    target: str
    """`sm_90a` of a cubin, `compute_80` of PTX."""
    kernels: frozenset[str]


def read_cubin(path: Path) -> Image:
    """Read an extracted `NAME.N.sm_90a.cubin`; BrokenElfError if it is cut off or of no architecture."""
    with path.open("rb") as file:
        found = sections(file)
        kernels = frozenset(
            _name(symbol.name)
            for symbol in symbols(file, found)
            if symbol.info & 0xF == _FUNCTION and symbol.other & _ENTRY
        )
        notes = (content(file, section) for section in found if _is_note(section))
        return Image(target=_target(path, b"\n".join(notes)), kernels=kernels)


def read_ptx(path: Path) -> Image:
    """Read an extracted `NAME.N.sm_80.ptx`; BrokenElfError where it states no target."""
    with path.open("rb") as file:
        stated = _TARGET.search(file.read(_PREAMBLE))
        if stated is None:
            raise BrokenElfError("has PTX without a target")
        target = f"compute_{stated[1].decode()}"
        _known(target)
        # Texts of vLLM's kernels take hundreds of MB: mapped, they are no memory of ours.
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
            return Image(target=target, kernels=frozenset(_entries(text)))


def _entries(text: mmap.mmap) -> Iterator[str]:
    """The names of `.entry` directives, which stand first on their lines."""
    at = -1
    while (at := text.find(b".entry", at + 1)) >= 0:
        line = text.rfind(b"\n", max(0, at - _LINE), at) + 1
        if declared := _DECLARED.match(text, line or max(0, at - _LINE)):
            yield _name(declared[1])


def _is_note(section: Section) -> bool:
    return section.name == _TOOL_NOTE


def _target(path: Path, note: bytes) -> str:
    """The architecture that ptxas says it compiled for; the file is called `sm_100` for `sm_100f` too."""
    named = _FILE.search(path.name)
    if named is None:
        raise BrokenElfError("has a cubin of no known architecture")
    plain = named[1].rstrip("af")
    told = {text.decode() for text in _TOLD.findall(note)}
    target = next(iter(told)) if len(told) == 1 else named[1]
    target = target if target.rstrip("af") == plain else named[1]
    _known(target)
    return target


def _known(target: str) -> None:
    try:
        architecture(target)
    except ValueError:
        raise BrokenElfError("has GPU code of no known architecture") from None


def _name(name: bytes) -> str:
    """A kernel's name, which nvcc writes in letters, digits, `_`, `$` and `.`."""
    if not _NAME.fullmatch(name):
        raise BrokenElfError("has a kernel whose name is none")
    return name.decode("ascii")
