"""Which fields of an engine's configuration its own start may rewrite: their defaults say nothing then."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager

from ..kept.wholes import Rewritten
from ..library import Library
from ..readings import Reading

ANY = "*"
"""In place of a field's name: whichever the code is asked to rewrite."""
IN_PLACE = frozenset(
    [
        "add",
        "append",
        "clear",
        "discard",
        "extend",
        "insert",
        "pop",
        "popitem",
        "remove",
        "reverse",
        "setdefault",
        "sort",
        "update",
    ]
)
"""Methods that change a list, a dict or a set: one that is a field's default is no longer what it was."""
SETTERS = frozenset({"setattr", "delattr", "__setattr__", "__delattr__"})

Field = tuple[str, str]
"""Its owner's name and its own."""


def rewritten(library: Library, prefixes: tuple[str, ...]) -> Rewritten:
    """Names of fields by their owner: `a.b.x = ...` rewrites x of `b`, `self.x = ...` in class C that of
    `C`; so do `a.b.x.append(...)`, `a.b.x[...] = ...` and `setattr(a.b, "x", ...)`.
    """
    library.note([Reading("rewritten", "\n".join(prefixes))])
    return library.whole.rewritten(prefixes, lambda: _read(library, prefixes))


def fields_of(found: Rewritten, owner: str, declared: set[str]) -> frozenset[str]:
    """The fields of an owner that are rewritten: with `ANY`, all that are declared."""
    names = found.get(owner, frozenset())
    return (names - {ANY}) | declared if ANY in names else names


def _read(library: Library, prefixes: tuple[str, ...]) -> Rewritten:
    writes = _Writes()
    for prefix in prefixes:
        for path in library.source.files(prefix, ".py"):
            text = library.source.text(path)
            if text is not None:
                writes.visit(ast.parse(text))
    return {owner: frozenset(names) for owner, names in writes.found.items()}


class _Writes(ast.NodeVisitor):
    """All that code writes to fields, whichever object has them: the names alone are compared."""

    def __init__(self) -> None:
        self.found: dict[str, set[str]] = {}
        self._cls = ""
        self._held: dict[str, list[Field]] = {}
        """Fields whose values a local name may hold."""

    # --- where it stands

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        outside, self._cls = self._cls, node.name
        self.generic_visit(node)
        self._cls = outside

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        with self._inside(node):
            self.generic_visit(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        with self._inside(node):
            self.generic_visit(node)

    @contextmanager
    def _inside(self, function: ast.AST) -> Iterator[None]:
        outside, self._held = self._held, dict(self._held)
        for node in ast.walk(function):
            if isinstance(node, ast.Assign):
                self._hold(node.targets, node.value)
            elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
                self._hold([node.target], node.value)
        yield
        self._held = outside

    def _hold(self, targets: list[ast.expr], value: ast.expr) -> None:
        for target in targets:
            if isinstance(target, ast.Name) and (fields := list(self._fields(value))):
                self._held[target.id] = [*self._held.get(target.id, ()), *fields]

    # --- what it writes

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if not isinstance(node.ctx, ast.Load):
            self._write(node)
        self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if not isinstance(node.ctx, ast.Load):
            self._write(node.value)
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._write(node.target)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        func = node.func
        if _called(func) in SETTERS and len(node.args) > 1:
            self._note(self._named(*node.args[:2]))
        elif isinstance(func, ast.Attribute) and func.attr in IN_PLACE:
            self._write(func.value)
        self.generic_visit(node)

    def visit_Dict(self, node: ast.Dict) -> None:
        """A table of fields by their owners, for code that goes through it with `setattr`."""
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(value, ast.Dict) and (owner := _text(key)):
                self._note((owner, name) for name in _leaves(value))
        self.generic_visit(node)

    def _write(self, value: ast.expr) -> None:
        self._note(self._fields(value))

    def _note(self, fields: Iterator[Field]) -> None:
        for owner, name in fields:
            self.found.setdefault(owner, set()).add(name)

    # --- which field it is

    def _fields(self, value: ast.expr) -> Iterator[Field]:
        """The fields that may hold what an expression gives, or that which it is part of."""
        match value:
            case ast.Attribute(owner, name):
                yield from ((o, name) for o in self._owners(owner))
            case ast.Name(name):
                yield from self._held.get(name, ())
            case ast.Call(ast.Name("getattr"), [owner, name, *_]):
                yield from self._named(owner, name)
            case ast.Subscript(whole):
                yield from self._fields(whole)
            case ast.BoolOp(values=parts):
                yield from (field for part in parts for field in self._fields(part))
            case ast.IfExp(body=one, orelse=other):
                yield from (field for part in (one, other) for field in self._fields(part))

    def _named(self, owner: ast.expr, name: ast.expr) -> Iterator[Field]:
        yield from ((o, _text(name) or ANY) for o in self._owners(owner))

    def _owners(self, value: ast.expr) -> Iterator[str]:
        if isinstance(value, ast.Name):
            yield self._cls if value.id == "self" else value.id
        yield from (name for _, name in self._fields(value))


def _called(func: ast.expr) -> str:
    match func:
        case ast.Name(name) | ast.Attribute(attr=name):
            return name
    return ""


def _leaves(table: ast.Dict) -> Iterator[str]:
    """The keys that no further table is under."""
    for key, value in zip(table.keys, table.values, strict=True):
        if not isinstance(value, ast.Dict) and (name := _text(key)):
            yield name


def _text(value: ast.expr | None) -> str | None:
    return value.value if isinstance(value, ast.Constant) and isinstance(value.value, str) else None
