"""The functions of C++ that a library gives to Python: pybind11's `def`, other names for them, and ops."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from msgspec import structs

from ...report.predicate import Site
from .directives import alive_at, directives, without_comments
from .registrations import Implementation, Op, registered
from .values import Facts, Open

_DEF = re.compile(r'\b\w+\s*\.\s*def\s*\(\s*"(\w+)"\s*,\s*&?\s*((?:\w+::)*)([A-Za-z_]\w*)\s*[,)]')
_ATTR = re.compile(r'\b\w+\.attr\(\s*"(\w+)"\s*\)\s*=\s*\w+\.attr\(\s*"(\w+)"\s*\)')
_RENAMED = re.compile(r"^[ \t]*(\w+)[ \t]*=[ \t]*(\w+)[ \t]*$", re.M)
"""In the package's own Python: `fp8_gemm = fp8_fp4_gemm`."""


def bindings(texts: Mapping[str, str], facts: Facts) -> dict[str, tuple[Op, ...]]:
    """What a library registers, by the name under which Python calls it."""
    found: dict[str, list[Op]] = {}
    names: dict[str, str] = {}
    for path, text in texts.items():
        if path.endswith(".py"):
            names.update(_RENAMED.findall(text))
            continue
        for op in _of_file(path, text, facts):
            found.setdefault(op.name, []).append(op)
        names.update(_ATTR.findall(without_comments(text)))
    for name, other in names.items():
        if name not in found and other in found:
            found[name] = found[other]
    return {name: tuple(ops) for name, ops in found.items()}


def _of_file(path: str, text: str, facts: Facts) -> Iterator[Op]:
    if "TORCH_LIBRARY" in text:
        yield from registered(path, text, facts, compiled=True)
    if "pybind11" not in text and "PYBIND11" not in text and "py::" not in text:
        return
    plain = without_comments(text)
    order = directives(plain)
    for bound in _DEF.finditer(plain):
        site = Site(path, plain.count("\n", 0, bound.start()) + 1)
        alive, _ = alive_at(site.line, order, facts)
        if alive != 0:
            made = Implementation("", bound[3], site, bound[2])
            yield Op("", bound[1], "", site, not isinstance(alive, Open), (made,))


def joined(ops: tuple[Op, ...]) -> Op:
    """What is registered under one name in several places, as one."""
    every = tuple(impl for op in ops for impl in op.implementations)
    return structs.replace(ops[0], implementations=every)
