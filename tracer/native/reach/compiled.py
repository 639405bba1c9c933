"""One file as a build compiles it: dead lines and comments blanked, its macros and includes apart."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from ....report.predicate import Opaque, Predicate, Site
from ..directives import Directive, spans, without_comments
from ..values import Facts, Open

_INCLUDE = re.compile(r'[ \t]*#[ \t]*include[ \t]+"([^"\n]+)"', re.M)
_DIRECTIVE = re.compile(r"[ \t]*#[ \t]*[a-z]+\b")
_MACRO = re.compile(r"[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w*)(\(([^)]*)\))?(.*)", re.S)
# What the grammar has no word for; it says nothing about what is called.
_ATTRIBUTE = re.compile(
    r"__(?:cluster_dims|maxnreg|block_size)__\s*\((?:[^()]|\([^()]*\))*\)"
    r"|\[\[\s*(?:un)?likely\s*\]\]"
)
_ODD = re.compile(rb"[^\x00-\x7f]")


class MacroText(Struct, frozen=True):
    """A `#define`: its parameters, None where it takes none, and what it stands for."""

    name: str
    params: tuple[str, ...] | None
    body: str | None
    """None from where it is undefined."""
    line: int


class Opened(Struct, frozen=True):
    """Lines of which it is not known whether they are compiled, and what would decide it."""

    first: int
    last: int
    test: Predicate


class Compiled(Struct, frozen=True):
    """What is left of a file."""

    path: str
    text: str
    """ASCII, as long as the file has lines: what is not compiled and every directive is blank."""
    macros: tuple[MacroText, ...]
    includes: tuple[tuple[int, str], ...]
    """Line and words of each quoted `#include`."""
    opened: tuple[Opened, ...]
    cut: str | None = None
    """Why it was not read to its end."""

    def test_at(self, line: int) -> tuple[Predicate, ...]:
        """The tests of open `#if`s that a line stands in."""
        return tuple(o.test for o in self.opened if o.first <= line <= o.last)


LONGEST = 2_000_000
"""Bytes of a file that are read; what is longer is generated data, and would take minutes."""


def compiled(path: str, raw: bytes, facts: Facts) -> Compiled:
    """Keep of a file what a build compiles."""
    if len(raw) > LONGEST:
        return Compiled(path, "", (), (), (), f"longer than {LONGEST} bytes")
    plain = without_comments(_ODD.sub(b"?", raw).decode("ascii"))
    lines = plain.split("\n")
    opened: list[Opened] = []
    order, regions, cut = spans(plain, facts)
    for first, last, alive, test in regions:
        if alive == 0:
            lines[first - 1 : last] = [""] * (last - first + 1)
        elif isinstance(alive, Open):
            opened.append(Opened(first, last, Opaque(test, None, Site(path, max(first - 1, 1)))))
    macros = tuple(_macros(lines, order))
    includes = tuple((n, m[1]) for n, line in enumerate(lines, 1) if (m := _INCLUDE.match(line)))
    _blank_directives(lines)
    text = _ATTRIBUTE.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), "\n".join(lines))
    return Compiled(path, text, macros, includes, tuple(opened), cut)


def _macros(lines: list[str], order: tuple[Directive, ...]) -> Iterator[MacroText]:
    for step in order:
        if step.kind == "undef" and lines[step.line - 1].strip():
            yield MacroText(step.text.strip(), None, None, step.line)
        if step.kind != "define" or not lines[step.line - 1].strip():
            continue
        found = _MACRO.match(f"#define {step.text}")
        if found:
            params = tuple(p.strip() for p in found[3].split(",") if p.strip()) if found[2] else None
            yield MacroText(found[1], params if found[2] else None, found[4].strip(), step.line)


def _blank_directives(lines: list[str]) -> None:
    """Blank what is left of directives, with the lines that they go on over."""
    number = 0
    while number < len(lines):
        is_directive = _DIRECTIVE.match(lines[number]) is not None
        while is_directive and number < len(lines):
            goes_on = lines[number].rstrip().endswith("\\")
            lines[number] = ""
            if not goes_on:
                break
            number += 1
        number += 1
