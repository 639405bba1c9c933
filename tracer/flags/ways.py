"""Under which conditions the classes are built whose methods read a name."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from ...report.predicate import Site
from ..sources import Source as Text
from .names import module_of

DEEP = 4
"""Subclasses of subclasses that are looked for."""


class Way(NamedTuple):
    """A place that builds a class, and the test that it stands under; None where it stands under none."""

    test: str | None
    """The name that is tested: `use_v2_model_runner`."""
    negated: bool
    site: Site


def ways(source: Text, module: str, cls: str, depth: int = 0) -> list[Way]:
    """Every place that builds the class, or one that is derived from it."""
    found: list[Way] = []
    for path in source.files(f"{source.engine}/", ".py"):
        text = source.text(path) or ""
        if cls not in text or (module not in text and module_of(path) != module):
            continue
        tree = ast.parse(text)
        imported = dict(_imported(tree, module, cls))
        names = {cls} if module_of(path) == module else set(imported)
        parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Name | ast.Attribute)
                and ast.unparse(node) in names
                and _built(node, parents)
            ):
                named = imported.get(ast.unparse(node), node)
                tests = (*_tests(node, parents), *_tests(named, parents))
                test, negated = next(iter(tests), (None, False))
                found.append(Way(test, negated, Site(path, node.lineno)))
            elif isinstance(node, ast.ClassDef) and names & {ast.unparse(base) for base in node.bases}:
                found += ways(source, module_of(path), node.name, depth + 1) if depth < DEEP else []
    return found


def _built(node: ast.expr, parents: dict[ast.AST, ast.AST]) -> bool:
    """Whether the class is called there, or handed to something that may call it: not in an annotation, as a
    base, for a check of a type, or for something that it has.
    """
    up = parents[node]
    if isinstance(up, ast.Call):
        return up.func is node or ast.unparse(up.func) not in ("isinstance", "issubclass", "cast")
    return isinstance(up, ast.Assign | ast.Return | ast.keyword | ast.IfExp | ast.Dict | ast.List | ast.Tuple)


def _imported(tree: ast.Module, module: str, cls: str) -> Iterator[tuple[str, ast.AST]]:
    """What the class is called in a file, and the statement that brings it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == module:
            yield from ((each.asname or each.name, node) for each in node.names if each.name == cls)


def _tests(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> Iterator[tuple[str, bool]]:
    """The plain tests under which a place stands in its function, the innermost first."""
    child = node
    while child in parents and not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
        up = parents[child]
        for before in _passed(up, child):
            plain = _plain(before.test)
            if plain is not None:
                yield plain[0], not plain[1]
        if isinstance(up, ast.If) and child is not up.test:
            plain = _plain(up.test)
            if plain is not None:
                yield plain[0], plain[1] != (child in up.orelse)
        child = up


def _passed(up: ast.AST, child: ast.AST) -> Iterator[ast.If]:
    """The `if`s before a statement in its block that leave the function where they hold."""
    for block in (getattr(up, "body", None), getattr(up, "orelse", None)):
        statements: list[ast.stmt] = block if isinstance(block, list) else []
        at = next((number for number, each in enumerate(statements) if each is child), 0)
        yield from (each for each in statements[:at] if isinstance(each, ast.If) and _leaves(each))


def _leaves(statement: ast.If) -> bool:
    return isinstance(statement.body[-1], ast.Return | ast.Raise)


def _plain(test: ast.expr) -> tuple[str, bool] | None:
    """The attribute of `self` or of the configuration that is tested, and whether it is denied."""
    negated = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
    inner = test.operand if isinstance(test, ast.UnaryOp) and negated else test
    found = re.fullmatch(r"(?:self\.)?(?:vllm_config\.)?(\w+)", ast.unparse(inner))
    return (found[1], negated) if found and isinstance(inner, ast.Attribute) else None
