"""What a name is: an option of the command line, fields that keep it, or an environment variable."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple, TypeGuard

from ...report.errors import UsageError
from ...report.predicate import Site
from ...report.readers import Defined, Source
from ..sources import Source as Text

ENVIRONMENT = "vllm/envs.py"
ARGUMENTS = "vllm/engine/arg_utils.py"
CONFIGS = "vllm/config/"
OWNER = "EngineArgs"


class TextConstant(ast.Constant):
    """A constant that is a text."""

    value: str


class Named(NamedTuple):
    """A name as the engine knows it."""

    name: str
    """As it is asked for: `kv_cache_dtype`, `VLLM_USE_DEEP_GEMM`."""
    defined: tuple[Defined, ...]
    fields: dict[str, frozenset[str]]
    """Attributes that hold it, each with its classes; none for an environment variable."""


def named(source: Text, asked: str) -> Named:
    """Find a name; UsageError where the release has none like it."""
    owner, _, last = asked.rpartition(".")
    name = last.lstrip("-").replace("-", "_")
    arguments = ast.parse(source.text(ARGUMENTS) or "")
    option = _option(arguments, name) if owner in ("", OWNER) else None
    name = option.symbol.rpartition(".")[2] if option is not None else name
    declared = [*([option] if option else []), *_declared(source, arguments, name, owner, option is not None)]
    if not declared and not owner:
        declared = list(_variables(source, name))
    if not declared:
        raise UsageError(
            f"{asked}: {source} has no engine argument, field of a configuration or environment variable "
            "of that name"
        )
    fields: dict[str, frozenset[str]] = {}
    for defined in declared:
        *_, cls, attribute = defined.symbol.split(".")
        if defined.source is not Source.VARIABLE:
            fields[attribute] = fields.get(attribute, frozenset()) | {cls}
    return Named(name, tuple(declared), fields)


def _declared(source: Text, arguments: ast.Module, name: str, owner: str, option: bool) -> Iterator[Defined]:
    """The fields that hold it in the engine's arguments and its configuration classes."""
    handed = {(OWNER, name), *_handed(arguments, name)} if option else None
    wanted = [name] if handed is None else [f"class {cls}" for cls, _ in handed]
    for path in (ARGUMENTS, *source.files(CONFIGS, ".py")):
        text = source.text(path) or ""
        for node in ast.parse(text).body if any(word in text for word in wanted) else ():
            if isinstance(node, ast.ClassDef) and owner in ("", node.name):
                mine = {name} if handed is None else {field for cls, field in handed if cls == node.name}
                yield from _fields(node, path, mine)


def _option(arguments: ast.Module, name: str) -> Defined | None:
    """The place at which the option is added to the parser, under any of its names."""
    for node in ast.walk(arguments):
        options = [arg.value for arg in node.args if _is_option(arg)] if isinstance(node, ast.Call) else []
        fields = [option.lstrip("-").replace("-", "_") for option in options]
        long = [f for f, o in zip(fields, options, strict=True) if o.startswith("--") and f]
        if isinstance(node, ast.Call) and long and (name in fields or name.removeprefix("no_") in fields):
            kept = next((k.value.value for k in node.keywords if k.arg == "dest" and _is_text(k.value)), None)
            symbol = f"{module_of(ARGUMENTS)}.{OWNER}.{kept or long[0]}"
            return Defined(source=Source.FLAG, symbol=symbol, site=Site(ARGUMENTS, node.lineno))
    return None


def _is_text(node: ast.expr) -> TypeGuard[TextConstant]:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_option(node: ast.expr) -> TypeGuard[TextConstant]:
    return _is_text(node) and node.value.startswith("-")


def _handed(arguments: ast.Module, name: str) -> Iterator[tuple[str, str]]:
    """The fields of other classes that are given the engine's argument: `(CacheConfig, cache_dtype)`."""
    for function in ast.walk(arguments):
        if not isinstance(function, ast.FunctionDef):
            continue
        own = {f"self.{name}"}
        given = (node for node in ast.walk(function) if isinstance(node, ast.Assign))
        made = (target for node in given if _mentions(node.value, own) for target in node.targets)
        held = own | {target.id for target in made if isinstance(target, ast.Name)}
        for node in ast.walk(function):
            if isinstance(node, ast.Call):
                called = _called(node)
                for keyword in node.keywords:
                    if keyword.arg and called[:1].isupper() and _is(keyword.value, held):
                        yield called, keyword.arg
            elif isinstance(node, ast.Assign) and _is(node.value, held):
                attributes = (target for target in node.targets if isinstance(target, ast.Attribute))
                yield from ((camel(ast.unparse(each.value)), each.attr) for each in attributes)


def _mentions(value: ast.expr, held: set[str]) -> bool:
    """Whether it is one of them, or what a function makes of one; no object that holds one."""
    if not isinstance(value, ast.Call) or _called(value)[:1].isupper():
        return _is(value, held)
    given = (*value.args, *(keyword.value for keyword in value.keywords))
    return any(_is(each, held) for each in given)


def _called(call: ast.Call) -> str:
    return ast.unparse(call.func).split(".")[-1]


def _is(value: ast.expr, held: set[str]) -> bool:
    """Whether it is one of them, on one of its branches at least."""
    if isinstance(value, ast.IfExp):
        return _is(value.body, held) or _is(value.orelse, held)
    if isinstance(value, ast.BoolOp):
        return any(_is(each, held) for each in value.values)
    return isinstance(value, ast.Name | ast.Attribute) and ast.unparse(value) in held


def _fields(node: ast.ClassDef, path: str, names: set[str]) -> Iterator[Defined]:
    for member in node.body:
        target = member.target if isinstance(member, ast.AnnAssign) else None
        if isinstance(target, ast.Name) and target.id in names:
            symbol = f"{module_of(path)}.{node.name}.{target.id}"
            yield Defined(source=Source.FIELD, symbol=symbol, site=Site(path, member.lineno))


def _variables(source: Text, name: str) -> Iterator[Defined]:
    """The lines of the engine's list of variables."""
    listed = source.text(ENVIRONMENT) or ""
    for found in re.finditer(rf"^\s+(?:\"{re.escape(name)}\"\s*:|{re.escape(name)}\s*:)", listed, re.M):
        line = listed.count("\n", 0, found.end()) + 1
        yield Defined(source=Source.VARIABLE, symbol=f"vllm.envs.{name}", site=Site(ENVIRONMENT, line))


def camel(name: str) -> str:
    """`self.kernel_config` holds a `KernelConfig`."""
    return "".join(part.capitalize() for part in name.split(".")[-1].split("_"))


def module_of(path: str) -> str:
    """The module that a file is."""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
