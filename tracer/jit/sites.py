"""The places of one file that launch something, with what they launch as far as the file itself tells."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from msgspec import Struct

from ...report.predicate import Site
from .facts import Action
from .marks import dotted
from .reading import Called, Module
from .resolving import Resolver
from .scopes import Given, Scope
from .targets import Step, plain

_TYPES = frozenset({"list", "dict", "set", "tuple", "frozenset", "type", "deque", "defaultdict"})
_COMPILE = re.compile(r"(?:^|\.)cute\.compile\Z")
_ACTIONS = {"run": Action.LAUNCH, "warmup": Action.WARMUP}


class Place(Struct, frozen=True):
    """A place that launches something."""

    action: Action
    site: Site
    function: str
    text: str
    steps: tuple[Step, ...]
    sure: bool
    """Whether it is a launch even where no kernel is found for it."""


def places(module: Module) -> Iterator[Place]:
    """Everything in the file that may launch a kernel."""
    resolver = Resolver(module)
    for call in module.calls:
        for action, value, sure in _launched(call, module):
            yield Place(
                action=action,
                site=Site(module.path, call.node.lineno),
                function=module.function(call.scope),
                text=ast.unparse(value)[:200],
                steps=tuple(plain(found, module.name) for found in resolver.resolve(value, call.scope)),
                sure=sure,
            )


def _launched(call: Called, module: Module) -> Iterator[tuple[Action, ast.expr, bool]]:
    func = call.node.func
    if isinstance(func, ast.Subscript):
        yield Action.LAUNCH, func.value, _is_grid(func)
    elif isinstance(func, ast.Attribute) and func.attr in _ACTIONS:
        yield _ACTIONS[func.attr], func.value, False
    elif isinstance(func, ast.Attribute) and func.attr == "launch":
        for made in _made(func.value, call.scope):
            yield Action.LAUNCH, made.func, any(key.arg == "grid" for key in call.node.keywords)
    elif call.node.args and _COMPILE.search(module.dotted(func, call.scope)):
        yield Action.COMPILE, call.node.args[0], True


def _made(node: ast.expr, scope: Scope) -> Iterator[ast.Call]:
    """The calls that make what is launched: `kernel(x).launch(...)`, or by way of a variable."""
    if isinstance(node, ast.Call):
        yield node
    for bound in scope.lookup(node.id) if isinstance(node, ast.Name) else ():
        if isinstance(bound, Given) and isinstance(bound.value, ast.Call):
            yield bound.value


def _is_grid(node: ast.Subscript) -> bool:
    """Whether what is in the brackets is the grid of a launch, and no key or type."""
    last = dotted(node.value).rpartition(".")[2]
    if last in _TYPES or last[:1].isupper():
        return False
    if isinstance(node.slice, ast.Lambda):
        return True
    if isinstance(node.slice, ast.Tuple):
        return all(_is_number(each) for each in node.slice.elts)
    return "grid" in dotted(node.slice).rpartition(".")[2].lower()


def _is_number(node: ast.expr) -> bool:
    return not (isinstance(node, ast.Constant) and not isinstance(node.value, int)) and not (
        isinstance(node, ast.Name) and node.id in ("int", "str", "float", "bool", "object", "Any")
    )
