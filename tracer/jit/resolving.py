"""Follow an expression to the definitions that it may stand for, within one file."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from msgspec.structs import replace

from .facts import Idiom
from .marks import dotted, mark_of
from .reading import Module
from .scopes import Bound, Brought, Given, Handed, Made, Scope, Test, conditions
from .targets import NOTHING, Elsewhere, Found, Local, OnObject, Parameter, Unknown

_DEPTH = 12
_PASSES = {"wrap_triton": Idiom.WRAPPED, "capture_triton": Idiom.WRAPPED, "partial": Idiom.PARTIAL}
"""Functions that give what launches their first argument."""
_SAME = frozenset({"staticmethod", "classmethod", "cast"})
"""Functions that give their last argument as it is."""


class Resolver:
    """Resolves expressions of one file."""

    def __init__(self, module: Module) -> None:
        self.module = module

    def resolve(self, node: ast.expr, scope: Scope, depth: int = 0) -> Iterator[Found]:
        """What the expression may stand for, the unknown included."""
        if depth > _DEPTH:
            yield Found(Unknown("it leads on and on"))
            return
        follow = _FOLLOW.get(type(node))
        if follow is None:
            yield Found(Unknown(f"it is {_KINDS.get(type(node), 'computed')}"))
        else:
            yield from follow(self, node, scope, depth + 1)

    def member(self, owner: Scope, name: str, depth: int) -> Iterator[Found]:
        """What a class keeps under a name: in its body, or on the object."""
        kept = [*owner.bound.get(name, ()), *owner.kept.get(name, ())]
        found = [each for each in self._bounds(kept, depth) if each.target != NOTHING]
        yield from (each.through(Idiom.ATTRIBUTE) for each in found)
        if not found:
            yield Found(OnObject(owner, name), (Idiom.ATTRIBUTE,))

    def results(self, scope: Scope, at: int | None, depth: int) -> Iterator[Found]:
        """What a function of this file gives, or one entry of it."""
        for statement in _returns(scope.node):
            if statement.value is not None:
                found = self.resolve(_entry(statement.value, at), scope, depth)
                yield from (each.through(Idiom.RETURNED) for each in found if each.target != NOTHING)

    def _bounds(self, bounds: list[Bound], depth: int) -> Iterator[Found]:
        several = sum(not _is_none(bound) for bound in bounds) > 1
        for bound in bounds:
            yield from self._bound(bound, depth, several)

    def _bound(self, bound: Bound, depth: int, several: bool) -> Iterator[Found]:
        match bound:
            case Made(scope=scope):
                yield Found(Local(scope))
            case Brought(module=module, name=name):
                yield Found(Elsewhere(module, (name,) if name else ()))
            case Handed(name=name, scope=scope):
                yield Found(Parameter(scope, name))
            case Given(loop=True):
                for value in _entries(bound.value):
                    yield from self._through(value, bound, Idiom.LOOP, None, depth)
            case Given(at=int(at), value=ast.Call() as call):
                yield from self._called(call, bound.scope, depth, at)
            case Given(test=test):
                text = conditions(test) if several and isinstance(test, Test) else None
                yield from self._through(_entry(bound.value, bound.at), bound, Idiom.ALIAS, text, depth)

    def _through(
        self, value: ast.expr, bound: Given, idiom: Idiom, test: str | None, depth: int
    ) -> Iterator[Found]:
        for found in self.resolve(value, bound.scope, depth):
            yield found if found.target == NOTHING else found.through(idiom, test)

    # --- by kind of expression

    def _name(self, node: ast.Name, scope: Scope, depth: int) -> Iterator[Found]:
        bounds = scope.lookup(node.id)
        yield from self._bounds(bounds, depth)
        if not bounds:
            yield Found(Unknown(f"nothing in its file binds {node.id}"))

    def _ternary(self, node: ast.IfExp, scope: Scope, depth: int) -> Iterator[Found]:
        for value, holds in ((node.body, True), (node.orelse, False)):
            for found in self.resolve(value, scope, depth):
                yield found.through(Idiom.TERNARY, conditions(Test(node.test, holds)))

    def _either(self, node: ast.BoolOp, scope: Scope, depth: int) -> Iterator[Found]:
        for value in node.values:
            for found in self.resolve(value, scope, depth):
                yield found.through(Idiom.TERNARY)

    def _attribute(self, node: ast.Attribute, scope: Scope, depth: int) -> Iterator[Found]:
        if isinstance(node.value, ast.Name) and node.value.id in ("self", "cls") and scope.around:
            yield from self.member(scope.around, node.attr, depth)
            return
        for found in self.resolve(node.value, scope, depth):
            yield from self._attribute_of(found, node.attr, depth)

    def _attribute_of(self, found: Found, name: str, depth: int) -> Iterator[Found]:
        match found.target:
            case Local(scope=owner) if owner.is_class:
                yield from self.member(owner, name, depth)
            case Elsewhere(result=False) as there:
                yield replace(found, target=replace(there, path=(*there.path, name)))
            case Local() | Parameter() if name in ("fn", "func"):
                yield found
            case Unknown():
                yield found
            case _:
                yield replace(found, target=Unknown(f"{name} is kept on an object that is not followed"))

    def _is_entry(self, node: ast.Subscript, scope: Scope) -> bool:
        """Whether the brackets take an entry out of something, and hold no grid."""
        return isinstance(node.slice, ast.Constant) or any(self._tables(node.value, scope))

    def _subscript(self, node: ast.Subscript, scope: Scope, depth: int) -> Iterator[Found]:
        tables = [table for table in self._tables(node.value, scope) if table.keys]
        for table in tables:
            yield from self._entries_of(table, node.slice, scope, depth)
        if not tables and isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, int):
            yield from self._numbered(node.value, node.slice.value, scope, depth)
        elif not tables:
            yield Found(Unknown(f"{ast.unparse(node.value)} is no table that is written down"))

    def _numbered(self, node: ast.expr, at: int, scope: Scope, depth: int) -> Iterator[Found]:
        if isinstance(node, ast.Call):
            yield from self._called(node, scope, depth, at)
        elif isinstance(node, ast.Name):
            bounds = scope.lookup(node.id)
            whole = [each for each in bounds if isinstance(each, Given) and each.at is None and not each.loop]
            yield from self._bounds([replace(each, at=at) for each in whole], depth)
            if len(whole) < len(bounds):
                yield Found(Unknown(f"it is an entry of {node.id}"))
        else:
            yield from self.resolve(_entry(node, at), scope, depth)

    def _entries_of(self, table: ast.Dict, wanted: ast.expr, scope: Scope, depth: int) -> Iterator[Found]:
        key = ast.unparse(wanted)
        entries = [(ast.unparse(k), value) for k, value in zip(table.keys, table.values, strict=True) if k]
        if isinstance(wanted, ast.Constant):
            entries = [entry for entry in entries if entry[0] == key]
        for text, value in entries:
            for found in self.resolve(value, scope, depth):
                yield found.through(Idiom.DICT, key=text)

    def _tables(self, node: ast.expr, scope: Scope) -> Iterator[ast.Dict]:
        if isinstance(node, ast.Dict):
            yield node
        bounds: list[Bound] = []
        if isinstance(node, ast.Name):
            bounds = scope.lookup(node.id)
        elif isinstance(node, ast.Attribute) and scope.around and dotted(node.value) in ("self", "cls"):
            bounds = [*scope.around.bound.get(node.attr, ()), *scope.around.kept.get(node.attr, ())]
        for bound in bounds:
            if isinstance(bound, Given) and isinstance(bound.value, ast.Dict):
                yield bound.value

    def _called(self, node: ast.Call, scope: Scope, depth: int, at: int | None = None) -> Iterator[Found]:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else dotted(node.func)
        if name in _PASSES and node.args:
            for found in self.resolve(node.args[0], scope, depth):
                yield found.through(_PASSES[name])
        elif name in _SAME and node.args:
            yield from self.resolve(node.args[-1], scope, depth)
        elif name == "getattr" and len(node.args) > 1 and isinstance(node.args[1], ast.Constant):
            read = ast.Attribute(node.args[0], str(node.args[1].value), ast.Load())
            yield from self.resolve(read, scope, depth)
        elif name == "get" and isinstance(node.func, ast.Attribute) and node.args:
            read_at = ast.Subscript(node.func.value, node.args[0], ast.Load())
            yield from self.resolve(read_at, scope, depth)
        elif isinstance(node.func, ast.Subscript) and not self._is_entry(node.func, scope):
            yield from self.resolve(node.func.value, scope, depth)  # a launch gives the compiled kernel
        elif self._compiles(node, scope) and node.args:
            yield from self.resolve(node.args[0], scope, depth)
        else:
            yield from self._result(node, scope, depth, at)

    def _compiles(self, node: ast.Call, scope: Scope) -> bool:
        func = node.func
        while isinstance(func, ast.Call):
            func = func.func
        return mark_of(self.module.dotted(func, scope)) is not None

    def _result(self, node: ast.Call, scope: Scope, depth: int, at: int | None) -> Iterator[Found]:
        for found in self.resolve(node.func, scope, depth):
            match found.target:
                case Local(scope=made) if made.is_class:
                    yield found
                case Local(scope=made):
                    yield from self.results(made, at, depth)
                case Elsewhere(result=False) as there:
                    yield replace(found, target=replace(there, result=True, at=at))
                case Unknown():
                    yield found
                case _:
                    yield Found(Unknown(f"{ast.unparse(node.func)} gives it"))

    def _constant(self, node: ast.Constant, scope: Scope, depth: int) -> Iterator[Found]:
        yield Found(NOTHING if node.value is None else Unknown("it is a constant"))


_FOLLOW: dict[type[ast.expr], Callable[..., Iterator[Found]]] = {
    ast.Name: Resolver._name,
    ast.IfExp: Resolver._ternary,
    ast.BoolOp: Resolver._either,
    ast.Attribute: Resolver._attribute,
    ast.Subscript: Resolver._subscript,
    ast.Call: Resolver._called,
    ast.Constant: Resolver._constant,
}
_KINDS: dict[type[ast.expr], str] = {ast.Lambda: "a lambda", ast.Dict: "a dict", ast.Tuple: "a tuple"}


def _is_none(bound: Bound) -> bool:
    return isinstance(bound, Given) and isinstance(bound.value, ast.Constant) and bound.value.value is None


def _entry(value: ast.expr, at: int | None) -> ast.expr:
    """One entry of a tuple that is written down, or the value itself."""
    if at is not None and isinstance(value, ast.Tuple | ast.List) and at < len(value.elts):
        return value.elts[at]
    return value


def _entries(value: ast.expr) -> list[ast.expr]:
    if isinstance(value, ast.Dict):
        return value.values
    return value.elts if isinstance(value, ast.Tuple | ast.List | ast.Set) else [value]


def _returns(node: ast.AST | None) -> Iterator[ast.Return]:
    """The `return`s of a function, not of those within it."""
    pending = list(getattr(node, "body", ()))
    while pending:
        at = pending.pop(0)
        if isinstance(at, ast.Return):
            yield at
        elif not isinstance(at, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            pending[:0] = [child for child in ast.iter_child_nodes(at) if not isinstance(child, ast.expr)]
