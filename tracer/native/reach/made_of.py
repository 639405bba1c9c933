"""The libraries that a type of the tree is made of, by the names in its text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .externals import CUTLASS_2, KERNEL2, External, external
from .files import NativeFiles
from .outline import Definition, Kind

DEEPEST = 6
"""Names that stand for names."""

NAME = re.compile(r"[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*")
_QUALIFIED = re.compile(r"[A-Za-z_]\w*(?:::[A-Za-z_]\w*)+")


def made_of(files: NativeFiles, definition: Definition) -> Iterator[External]:
    """The libraries' kernels that a class or alias is a name for."""
    older = _is_older(files, definition, 0)
    for name in dict.fromkeys(_QUALIFIED.findall(files.inside(definition))):
        found = external(name)
        if found is not None:
            yield KERNEL2 if older and found.note == KERNEL2.note else found


def _is_older(files: NativeFiles, definition: Definition, depth: int) -> bool:
    """Whether a type is made of a kernel of CUTLASS 2, which the same adapter launches another way."""
    text = files.inside(definition)
    if any(name.startswith(CUTLASS_2) for name in _QUALIFIED.findall(text)):
        return True
    near = () if depth > DEEPEST else _beside(files, definition, text)
    return any(_is_older(files, other, depth + 1) for other in near)


def _beside(files: NativeFiles, definition: Definition, text: str) -> tuple[Definition, ...]:
    """The types of the same scope that a type's text names."""
    return tuple(
        other
        for name in dict.fromkeys(NAME.findall(text))
        for other in files.definitions.get(name, ())
        if other.scope == definition.scope and other != definition and other.kind is Kind.ALIAS
    )
