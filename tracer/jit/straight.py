"""Compute the text that a short function of an engine gives for given arguments, by plain rules on texts."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

_MAX = 2_000
"""Characters of a text; the rules are about file names."""
_DEPTH = 8
_SAFE_PATTERN = re.compile(r"(?:\\[swd]|\[[^\]\\]*(?:\\[swd][^\]\\]*)*\]|[\w /,-])[+]?")
"""One class of characters: nothing that a matching could get lost in."""
_DEVICE = "get_device_name"
_METHODS = frozenset({"replace", "split", "lower", "upper", "strip", "removeprefix", "removesuffix"})
_BUILTINS: dict[str, Callable[..., Any]] = {"all": all, "any": any, "str": str, "bool": bool, "int": int}
_COMPARES: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}
Function = ast.FunctionDef
Find = Callable[[str], "tuple[Function, Find] | None"]
"""Gives the function of a name, and how names are found where it stands."""
Wanted = Callable[[ast.expr], ast.expr | None]
"""Gives the part of an assigned value that is asked for, if it has that."""


class UnreadableError(ValueError):
    """The rule is none of those that are computed here."""


class _Returned(Exception):  # noqa: N818 - no error: how a function ends
    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value


class Straight:
    """Runs one function: assignments, tests and returns, one after the other."""

    def __init__(self, device: str, find: Find, depth: int = 0) -> None:
        self._device, self._find, self._depth = device, find, depth
        self._names: dict[str, Any] = {}
        self._lost: dict[str, str] = {}
        self.unless: list[str] = []
        """Tests that could not be decided, and under which the function gives up early."""

    def run(self, function: Function, given: Mapping[str, Any], wanted: Wanted | None = None) -> Any:
        """What the function gives; with `wanted`, the first such value that it assigns."""
        self._names = {**_defaults(function), **given}
        try:
            self._block(function.body, wanted)
        except _Returned as end:
            return end.value
        raise UnreadableError(f"{function.name} ends without giving anything")

    # --- statements

    def _block(self, body: list[ast.stmt], wanted: Wanted | None) -> None:
        for node in body:
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    self._assign(name, value, wanted)
                case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                    self._assign(name, value, wanted)
                case ast.Return(value=value):
                    raise _Returned(None if value is None else self.value(value))
                case ast.If():
                    self._if(node, wanted)
                case ast.Expr() | ast.Import() | ast.ImportFrom() | ast.Pass() | ast.Assert():
                    pass
                case _:
                    raise UnreadableError(f"line {node.lineno} is no plain step")

    def _assign(self, name: str, value: ast.expr, wanted: Wanted | None) -> None:
        asked = wanted(value) if wanted is not None else None
        if asked is not None:
            raise _Returned(self.value(asked))
        try:
            self._names[name] = self.value(value)
            self._lost.pop(name, None)
        except UnreadableError as problem:
            self._names.pop(name, None)
            self._lost[name] = str(problem)

    def _if(self, node: ast.If, wanted: Wanted | None) -> None:
        try:
            holds = bool(self.value(node.test))
        except UnreadableError:
            if not all(isinstance(each, ast.Return) for each in node.body) or node.orelse:
                raise
            self.unless.append(ast.unparse(node.test))
            return
        self._block(node.body if holds else node.orelse, wanted)

    # --- expressions

    def value(self, node: ast.expr) -> Any:
        """The value of an expression."""
        rule = _RULES.get(type(node))
        if rule is None:
            raise UnreadableError(f"{ast.unparse(node)[:80]} is no plain rule")
        found = rule(self, node)
        if isinstance(found, str) and len(found) > _MAX:
            raise UnreadableError("the text is too long")
        return found

    def _name(self, node: ast.Name) -> Any:
        if node.id not in self._names:
            raise UnreadableError(self._lost.get(node.id, f"{node.id} is not given"))
        return self._names[node.id]

    def _joined(self, node: ast.JoinedStr) -> str:
        return "".join(str(self.value(part)) for part in node.values)

    def _formatted(self, node: ast.FormattedValue) -> str:
        if node.format_spec is not None or node.conversion != -1:
            raise UnreadableError(f"{ast.unparse(node.value)} is formatted")
        return str(self.value(node.value))

    def _ternary(self, node: ast.IfExp) -> Any:
        return self.value(node.body if self.value(node.test) else node.orelse)

    def _either(self, node: ast.BoolOp) -> Any:
        ends = isinstance(node.op, ast.Or)
        found: Any = None
        for part in node.values:
            found = self.value(part)
            if bool(found) is ends:
                break
        return found

    def _not(self, node: ast.UnaryOp) -> bool:
        if not isinstance(node.op, ast.Not):
            raise UnreadableError("it computes with numbers")
        return not self.value(node.operand)

    def _compare(self, node: ast.Compare) -> bool:
        compare = _COMPARES.get(type(node.ops[0]))
        if compare is None or len(node.ops) > 1:
            raise UnreadableError(f"{ast.unparse(node)[:80]} is no plain test")
        try:
            return compare(self.value(node.left), self.value(node.comparators[0]))
        except TypeError as problem:
            raise UnreadableError(str(problem)) from None

    def _list(self, node: ast.List | ast.Tuple) -> list[Any]:
        return [self.value(each) for each in node.elts]

    def _call(self, node: ast.Call) -> Any:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if isinstance(node.func, ast.Name):
            name = node.func.id
        if name == _DEVICE:
            return self._device
        given = [self.value(each) for each in node.args]
        if node.keywords or len(given) > 8:
            raise UnreadableError(f"{ast.unparse(node)[:80]} is no plain call")
        try:
            return self._plain_call(node, name, given)
        except (TypeError, ValueError, AttributeError, re.error) as problem:
            raise UnreadableError(str(problem)) from None

    def _plain_call(self, node: ast.Call, name: str, given: list[Any]) -> Any:
        if isinstance(node.func, ast.Name):
            found = self._find(name)
            if found is None and name in _BUILTINS:
                return _BUILTINS[name](*given)
            return self._inner(name, found, given)
        assert isinstance(node.func, ast.Attribute), node
        if name == "sub" and ast.unparse(node.func.value) in ("re", "regex"):
            return _substituted(*given)
        held = self.value(node.func.value)
        if name in _METHODS and isinstance(held, str):
            return getattr(held, name)(*given)
        raise UnreadableError(f"{ast.unparse(node)[:80]} is no plain call")

    def _inner(self, name: str, found: tuple[Function, Find] | None, given: list[Any]) -> Any:
        if found is None or self._depth > _DEPTH:
            raise UnreadableError(f"{name} is not in the engine's source")
        function, find = found
        names = [each.arg for each in function.args.args]
        inner = Straight(self._device, find, self._depth + 1)
        result = inner.run(function, dict(zip(names, given, strict=False)))
        self.unless += inner.unless
        return result


_RULES: dict[type[ast.expr], Callable[..., Any]] = {
    ast.Constant: lambda _, node: node.value,
    ast.Name: Straight._name,
    ast.JoinedStr: Straight._joined,
    ast.FormattedValue: Straight._formatted,
    ast.IfExp: Straight._ternary,
    ast.BoolOp: Straight._either,
    ast.UnaryOp: Straight._not,
    ast.Compare: Straight._compare,
    ast.List: Straight._list,
    ast.Tuple: Straight._list,
    ast.Call: Straight._call,
}


def _substituted(pattern: str, by: str, text: str) -> str:
    if not _SAFE_PATTERN.fullmatch(pattern) or "\\" in by:
        raise UnreadableError(f"the pattern {pattern[:40]!r} is no class of characters")
    return re.sub(pattern, by, text)


def _defaults(function: Function) -> dict[str, Any]:
    """Parameters that have a constant as default."""
    given = function.args
    positional = [*given.posonlyargs, *given.args]
    behind = positional[len(positional) - len(given.defaults) :]
    pairs = [
        *zip(behind, given.defaults, strict=True),
        *zip(given.kwonlyargs, given.kw_defaults, strict=True),
    ]
    return {name.arg: value.value for name, value in pairs if isinstance(value, ast.Constant)}
