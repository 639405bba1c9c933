"""The names that a profiler shows of kernels that are written in Python."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from msgspec import Struct

from .facts import Dialect
from .marks import called, dotted
from .reading import Compiled, Module
from .scopes import Function, Made, Scope

CUTE = "kernel_cutlass_"
_DROPPED = str.maketrans("", "", "'-![]#,.<>()\":{}=%?@;")
"""Characters that CuTe DSL leaves out of the text of a kernel's arguments."""
_DATA = re.compile(r"(?:^|\.)(?:dataclass|define|frozen)\Z")


class Name(Struct, frozen=True):
    """A printed name, its beginning, or why there is none."""

    text: str | None = None
    prefix: bool = False
    unread: str | None = None


def printed(compiled: Compiled, module: Module) -> Name:
    """What a profiler shows for a kernel."""
    return _RULES[compiled.mark.dialect](compiled, module)


def cute_object(name: str, module: str, qualname: str) -> str:
    """How a profiler's name begins for a CuTe DSL kernel that is the method `name` of an object."""
    spelled = f"<{module}.{qualname} object at ".translate(_DROPPED).replace(" ", "_")
    return f"{CUTE}{name}_{spelled}"


def _triton(compiled: Compiled, module: Module) -> Name:
    scope = compiled.scope.above or module.scope
    for node in compiled.node.decorator_list:
        for key in node.keywords if isinstance(node, ast.Call) else ():
            if key.arg == "repr" and not _is_none(key.value):
                return _given(key.value, scope)
    return Name(compiled.node.name)


def _given(node: ast.expr, scope: Scope) -> Name:
    """The name that a `repr` gives, where it gives the same one to every specialization."""
    value: ast.expr | None = node.body if isinstance(node, ast.Lambda) else None
    if isinstance(node, ast.Name):
        for bound in scope.lookup(node.id):
            value = _returned(bound.node) if isinstance(bound, Made) else None
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        return Name(value.value)
    if isinstance(value, ast.JoinedStr) and value.values and isinstance(value.values[0], ast.Constant):
        return Name(str(value.values[0].value), prefix=True)
    return Name(unread=f"{ast.unparse(node)[:80]} computes it for each specialization")


def _returned(node: ast.AST) -> ast.expr | None:
    """What a function of one statement gives."""
    body = [each for each in getattr(node, "body", ()) if not isinstance(each, ast.Expr)]
    return body[0].value if len(body) == 1 and isinstance(body[0], ast.Return) else None


def _cute(compiled: Compiled, module: Module) -> Name:
    if not compiled.mark.device:
        return Name(unread="it runs on the CPU, or within a kernel")
    name, owner = compiled.node.name, compiled.scope.above
    if owner is not None and owner.is_class and _takes_self(compiled.node) and not _has_text(owner):
        return Name(cute_object(name, module.name, owner.qualname), prefix=True)
    return Name(f"{CUTE}{name}_", prefix=True)


def _takes_self(node: Function) -> bool:
    return bool(node.args.args) and not any(
        dotted(called(each)) == "staticmethod" for each in node.decorator_list
    )


def _has_text(owner: Scope) -> bool:
    """Whether objects of the class are printed as something else than their class and address."""
    decorators: list[ast.expr] = getattr(owner.node, "decorator_list", [])
    data = any(_DATA.search(dotted(called(each))) for each in decorators)
    return data or "__repr__" in owner.bound or "__str__" in owner.bound


def _helion(compiled: Compiled, module: Module) -> Name:
    return Name(f"_helion_{compiled.node.name}")


def _by_compiler(compiled: Compiled, module: Module) -> Name:
    return Name(unread=f"{compiled.mark.dialect} names it when it compiles")


_RULES: dict[Dialect, Callable[[Compiled, Module], Name]] = {
    Dialect.TRITON: _triton,
    Dialect.GLUON: _triton,
    Dialect.CUTE: _cute,
    Dialect.HELION: _helion,
    Dialect.TILELANG: _by_compiler,
    Dialect.FLYDSL: _by_compiler,
}


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
