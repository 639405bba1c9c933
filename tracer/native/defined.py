"""Macros that a library's own headers define from others: `#define HAS_FP8 (TORCH_VERSION_MAJOR > 2)`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from .directives import alive_at, directives, value_of, without_comments
from .values import Facts

_DEFINE = re.compile(r"([A-Za-z_]\w*)\s+(\S.*)")
_ROUNDS = 4
"""Macros that are made of macros."""


def with_defined(texts: Iterable[str], facts: Facts) -> Facts:
    """What is known, with the macros that have one definition in all files and a number by what is known."""
    bodies: dict[str, set[str]] = {}
    for text in texts:
        for name, body in _defines(text, facts):
            bodies.setdefault(name, set()).add(body)
    single = {name: body.pop() for name, body in bodies.items() if len(body) == 1 and name not in facts}
    known = dict(facts)
    for _ in range(_ROUNDS):
        for name, body in single.items():
            value = value_of(body, known) if name not in known else None
            if isinstance(value, int):
                known[name] = value
    return known


def _defines(text: str, facts: Facts) -> Iterator[tuple[str, str]]:
    """The definitions without parameters in a file; one of which it is open whether it holds has no body."""
    order = directives(without_comments(text))
    for step in order:
        found = _DEFINE.fullmatch(step.text) if step.kind == "define" else None
        if found is not None:
            alive, _ = alive_at(step.line, order, facts)
            if alive != 0:
                yield found[1], found[2].strip() if alive == 1 else ""
