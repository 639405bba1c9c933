"""Decorators that make a GPU kernel of a Python function, and what they say about it."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Iterator

from msgspec import Struct

from .facts import Autotune, Dialect

Expand = Callable[[ast.expr], str]
"""Gives a decorator's dotted name with the module's imports and aliases put in."""
Look = Callable[[str], ast.expr | None]
"""Gives the one value that a name of the module is bound to."""
Sequence = ast.List | ast.Tuple


class Mark(Struct, frozen=True):
    """What a decorator makes of the function below it."""

    dialect: Dialect
    device: bool = True
    """Whether it may be a kernel; a `cute.jit` runs on the CPU, or is part of a kernel."""


_MARKS = {
    r"triton(?:\.runtime\.jit)?\.jit": Mark(Dialect.TRITON),
    r"gluon(?:\._runtime)?\.jit": Mark(Dialect.GLUON),
    r"cute(?:\.experimental)?\.kernel": Mark(Dialect.CUTE),
    r"cute(?:\.experimental)?\.jit": Mark(Dialect.CUTE, device=False),
    r"tilelang\.jit": Mark(Dialect.TILELANG),
    r"helion\.kernel|helion\.register\.register_kernel": Mark(Dialect.HELION),
    r"fly(?:c|dsl\.compiler)\.kernel": Mark(Dialect.FLYDSL),
}
_ENDS = {re.compile(rf"(?:^|.*\.)(?:{pattern})\Z"): mark for pattern, mark in _MARKS.items()}
MARKED = re.compile("|".join(_MARKS))
"""What stands in the text of a function that applies one of these decorators itself."""
_AUTOTUNE = re.compile(r"(?:^|\.)autotune\Z")
_HEURISTICS = re.compile(r"(?:^|\.)heuristics\Z")


def mark_of(dotted: str) -> Mark | None:
    """What a decorator of this dotted name makes; None for one that makes no kernel."""
    return next((mark for ends, mark in _ENDS.items() if ends.match(dotted)), None)


def called(node: ast.expr) -> ast.expr:
    """A decorator without the arguments that it is made with."""
    return node.func if isinstance(node, ast.Call) else node


def dotted(node: ast.expr) -> str:
    """`a.b.c` of an attribute chain; nothing for any other expression."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def autotune(decorators: list[ast.expr], expand: Expand, look: Look) -> Autotune | None:
    """The configurations that a kernel chooses among by measuring."""
    for node in decorators:
        if isinstance(node, ast.Call) and _AUTOTUNE.search(expand(node.func)):
            given = {key.arg: key.value for key in node.keywords}
            configs = given.get("configs", node.args[0] if node.args else None)
            keys = given.get("key", node.args[1] if len(node.args) > 1 else None)
            return Autotune(configs=_count(configs, look), keys=_texts(_looked(keys, look)))
    return None


def heuristics(decorators: list[ast.expr], expand: Expand) -> tuple[str, ...]:
    """The arguments that heuristics compute."""
    found: list[str] = []
    for node in decorators:
        if isinstance(node, ast.Call) and _HEURISTICS.search(expand(node.func)):
            values = [*node.args, *(key.value for key in node.keywords if key.arg == "values")]
            for value in values[:1]:
                found += _keys(value)
    return tuple(found)


def _keys(node: ast.expr) -> Iterator[str]:
    for key in node.keys if isinstance(node, ast.Dict) else ():
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            yield key.value


def _looked(node: ast.expr | None, look: Look) -> ast.expr | None:
    return look(node.id) if isinstance(node, ast.Name) else node


def _count(node: ast.expr | None, look: Look, depth: int = 0) -> int | None:
    """How many entries a literal has, names and comprehensions over literals included."""
    node = _looked(node, look)
    if depth > 8 or node is None:
        return None
    if isinstance(node, Sequence):
        counts = [
            _count(each.value, look, depth + 1) if isinstance(each, ast.Starred) else 1 for each in node.elts
        ]
        known = [count for count in counts if count is not None]
        return sum(known) if len(known) == len(counts) else None
    if isinstance(node, ast.ListComp) and not any(each.ifs for each in node.generators):
        sizes = [_count(each.iter, look, depth + 1) for each in node.generators]
        known = [size for size in sizes if size is not None]
        return math.prod(known) if len(known) == len(sizes) else None
    return None


def _texts(node: ast.expr | None) -> tuple[str, ...] | None:
    if not isinstance(node, Sequence):
        return None
    texts = [each.value for each in node.elts if isinstance(each, ast.Constant)]
    if len(texts) != len(node.elts) or not all(isinstance(text, str) for text in texts):
        return None
    return tuple(map(str, texts))
