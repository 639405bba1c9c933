"""Macros that a library's own headers define from others: `#define HAS_FP8 (TORCH_VERSION_MAJOR > 2)`."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping

from .directives import Directive, alive_at, directives, value_of, without_comments
from .values import Facts

_DEFINE = re.compile(r"([A-Za-z_]\w*)\s+(\S.*)")
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"\n]+)"', re.M)
_WORD = re.compile(r"[A-Za-z_]\w*")
_ASKS = ("if", "ifdef", "ifndef", "elif", "elifdef", "elifndef")
_ROUNDS = 4
"""Macros that are made of macros."""


def with_defined(texts: Mapping[str, str], facts: Facts) -> Facts:
    """What is known, with the macros that have one definition, a number by what is known, in a file that
    everybody includes who asks for them.
    """
    plain = {path: without_comments(text) for path, text in texts.items()}
    orders = {path: directives(text) for path, text in plain.items()}
    bodies: dict[str, set[tuple[str, str]]] = {}
    for path, order in orders.items():
        for name, body in _defines(order, facts):
            bodies.setdefault(name, set()).add((path, body))
    single = {name: found.pop() for name, found in bodies.items() if len(found) == 1 and name not in facts}
    asking = _asking(orders)
    seen = _Includes(plain)
    known = dict(facts)
    for _ in range(_ROUNDS):
        for name, (home, body) in single.items():
            value = value_of(body, known) if body and name not in known else None
            if isinstance(value, int) and all(home in seen.of(path) for path in asking.get(name, ())):
                known[name] = value
    return known


def _defines(order: tuple[Directive, ...], facts: Facts) -> Iterator[tuple[str, str]]:
    """The definitions without parameters in a file; one of which it is open whether it holds has no body."""
    for before, step in zip((None, *order), order, strict=False):
        found = _DEFINE.fullmatch(step.text) if step.kind == "define" else None
        if found is None:
            continue
        alive, _ = alive_at(step.line, order, facts)
        # A build may bring its own where a file asks for that.
        default = before is not None and before.kind == "ifndef" and before.text == found[1]
        if alive != 0:
            yield found[1], found[2].strip() if alive == 1 and not default else ""


def _asking(orders: Mapping[str, tuple[Directive, ...]]) -> dict[str, list[str]]:
    """The files whose conditions name a macro, by macro."""
    out: dict[str, list[str]] = {}
    for path, order in orders.items():
        words = {word for step in order if step.kind in _ASKS for word in _WORD.findall(step.text)}
        for word in words:
            out.setdefault(word, []).append(path)
    return out


class _Includes:
    """Which files each file includes, itself among them."""

    def __init__(self, plain: Mapping[str, str]) -> None:
        self._plain = plain
        self._kept: dict[str, frozenset[str]] = {}

    def of(self, path: str) -> frozenset[str]:
        if path not in self._kept:
            seen, todo = {path}, [path]
            while todo:
                here = todo.pop()
                for words in _INCLUDE.findall(self._plain[here]):
                    target = posixpath.normpath(posixpath.join(posixpath.dirname(here), words))
                    if target in self._plain and target not in seen:
                        seen.add(target)
                        todo.append(target)
            self._kept[path] = frozenset(seen)
        return self._kept[path]
