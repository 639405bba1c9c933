"""The functions of C++ that a library gives to Python: pybind11's `def`, other names for them, and ops."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from ...report.predicate import Site
from .directives import alive_at, directives, without_comments
from .registrations import Implementation, Op, registered
from .values import Facts, Open

_MODULE = re.compile(
    r"PYBIND11_MODULE\s*\([^,()]*,\s*(\w+)\s*\)|(?:pybind11|py)::module_?\s*&\s*(\w+)\s*[,)]"
)
"""Where a module is at hand, and how it is called there."""
_DEF = r'\b({names})\s*\.\s*def\s*\(\s*"(\w+)"\s*,\s*&?\s*((?:\w+::)*)([A-Za-z_]\w*)\s*[,)]'
_ATTR = r'\b(?:{names})\.attr\(\s*"(\w+)"\s*\)\s*=\s*(?:{names})\.attr\(\s*"(\w+)"\s*\)'


def bindings(texts: Mapping[str, str], facts: Facts) -> dict[str, Op]:
    """What a library registers, by the name under which Python calls it.

    What is registered twice, under a condition, or written anew in Python is left out: which function is
    called is then not known.
    """
    found: dict[str, list[Op]] = {}
    names: dict[str, set[str]] = {}
    for path, text in texts.items():
        if path.endswith(".py"):
            continue
        for op in _of_file(path, text, facts):
            found.setdefault(op.name, []).append(op)
        for name, other in _renamed(text):
            names.setdefault(name, set()).add(other)
    for name, others in _in_python(texts).items():
        names.setdefault(name, set()).update(others)
    single = {name: ops[0] for name, ops in found.items() if len(ops) == 1 and ops[0].certain}
    out = {name: op for name, op in single.items() if names.get(name, {name}) == {name}}
    for name in names:
        target = _behind(name, names)
        if name not in found and target in single:
            out[name] = single[target]
    return out


def _behind(name: str, names: Mapping[str, set[str]]) -> str | None:
    """What a name is another one for, through others; None where it may be several things."""
    seen: set[str] = set()
    while name in names and name not in seen:
        seen.add(name)
        others = names[name]
        if len(others) != 1:
            return None
        (name,) = others
    return name


def _receivers(plain: str) -> str:
    return "|".join(sorted({name for pair in _MODULE.findall(plain) for name in pair if name}))


def _of_file(path: str, text: str, facts: Facts) -> Iterator[Op]:
    if "TORCH_LIBRARY" in text:
        yield from (op for op in registered(path, text, facts, compiled=True) if op.schema)
    plain = without_comments(text)
    names = _receivers(plain)
    if not names:
        return
    order = directives(plain)
    for bound in re.finditer(_DEF.format(names=names), plain):
        site = Site(path, plain.count("\n", 0, bound.start()) + 1)
        alive, _ = alive_at(site.line, order, facts)
        if alive != 0:
            made = Implementation("", bound[4], site, bound[3])
            yield Op("", bound[2], "", site, not isinstance(alive, Open), (made,))


def _renamed(text: str) -> list[tuple[str, str]]:
    plain = without_comments(text)
    names = _receivers(plain)
    return re.findall(_ATTR.format(names=names), plain) if names else []


def _in_python(texts: Mapping[str, str]) -> dict[str, set[str]]:
    """What the package's own module calls by which other names; '' for what it writes itself."""
    modules = [path for path in texts if path.endswith("/__init__.py")]
    depth = min((path.count("/") for path in modules), default=0)
    out: dict[str, set[str]] = {}
    for path in modules:
        for name, other in _bound(texts[path]) if path.count("/") == depth else ():
            out.setdefault(name, set()).add(other)
    return out


def _bound(text: str) -> Iterator[tuple[str, str]]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    todo: list[tuple[ast.AST, bool]] = [(node, True) for node in tree.body]
    while todo:
        node, plain = todo.pop()
        if isinstance(node, ast.Assign):
            other = node.value.id if plain and isinstance(node.value, ast.Name) else ""
            yield from ((target.id, other) for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name, ""
        elif isinstance(node, ast.Try):
            todo += [(inner, plain) for inner in node.body]
            todo += [(inner, False) for handler in node.handlers for inner in handler.body]
        elif isinstance(node, ast.If):
            todo += [(inner, False) for inner in (*node.body, *node.orelse)]
