"""The places of a module that read a name: an attribute of an object that has it, or of the environment."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from ...report.predicate import Site
from ...report.readers import Reader, Role
from ..sources import Source as Text
from .names import ENVIRONMENT, Named, module_of

Parents = Mapping[ast.AST, ast.AST]
Function = ast.FunctionDef | ast.AsyncFunctionDef
LOGGED = frozenset({"debug", "info", "warning", "error", "exception", "critical", "log", "print"})
ENVIRON = ("os.environ", "os.getenv", "environ", "getenv")
FILLED = "add_cli_args"
BOOLEAN = ast.BoolOp | ast.Compare


def readers(source: Text, named: Named) -> list[Reader]:
    """Every place of the engine that reads the name, but the list of variables itself; what only mentions it,
    and may read it in a way that is not seen here, is not sure.
    """
    words = "|".join(map(re.escape, named.fields or (named.name,)))
    near = re.compile(
        rf"(?<!\w)(?:{words})\b" if not named.fields else rf"\.(?:{words})\b|[\"'](?:{words})[\"']"
    )
    found: list[Reader] = []
    for path in source.files(f"{source.engine}/", ".py"):
        text = source.text(path) or ""
        if path != ENVIRONMENT and near.search(text) and any(map(near.search, _lines(text))):
            found += _reads(path, text, named)
    return sorted(found, key=lambda reader: reader.site) + list(_outside(source, named))


def _lines(text: str) -> Iterator[str]:
    """Those that import no module of a name."""
    return (
        line for line in text.splitlines() if not re.match(r"\s*(?:from [\w.]+ import\b|import )[^(]*$", line)
    )


def _outside(source: Text, named: Named) -> Iterator[Reader]:
    """Files that are no Python of the engine and mention a variable."""
    for path in () if named.fields else source.files():
        if not path.startswith(f"{source.engine}/") and named.name.encode() in (source.read(path) or b""):
            yield Reader(function=path, site=Site(path, 1), role=Role.PASSES, sure=False)


def _reads(path: str, text: str, named: Named) -> Iterator[Reader]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return  # nothing that the engine itself could import
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    brought = any(isinstance(node, ast.ImportFrom) and _brings(node, named) for node in ast.walk(tree))
    for node in ast.walk(tree):
        found = _of_field(node, named, parents) if named.fields else _of_environment(node, named, brought)
        sure = False if found is None and _told_by_text(node, named, parents) else found
        if sure is not None and isinstance(node, ast.expr) and not _declares(node, parents, named):
            around = ".".join((module_of(path), *_around(node, parents)))
            yield Reader(function=around, site=Site(path, node.lineno), role=_role(node, parents), sure=sure)


def _brings(node: ast.ImportFrom, named: Named) -> bool:
    return (node.module or "").endswith("envs") and any(each.name == named.name for each in node.names)


def _of_environment(node: ast.AST, named: Named, brought: bool) -> bool | None:
    """Whether it reads the variable: of the engine's table of them, or of the environment itself; False where
    its name stands as a text that something else may look up.
    """
    match node:
        case ast.Attribute(value=value, attr=attr, ctx=ast.Load()) if attr == named.name:
            return ast.unparse(value).split(".")[-1] == "envs"
        case ast.Name(id=name, ctx=ast.Load()) if name == named.name:
            return brought or None
        case ast.Call(func=func, args=[ast.Constant(value=value), *_]) if value == named.name:
            called = ast.unparse(func)
            return True if called.startswith(ENVIRON) or called.endswith("envs.is_set") else None
        case ast.Subscript(value=value, slice=ast.Constant(value=key), ctx=ast.Load()) if key == named.name:
            return True if ast.unparse(value) in ENVIRON else None
        case ast.Compare(left=ast.Constant(value=key), comparators=[value]) if key == named.name:
            return True if ast.unparse(value) in ENVIRON else None
    return None


def _told_by_text(node: ast.AST, named: Named, parents: Parents) -> bool:
    """Whether the variable's name stands as a text, in no call that reads it."""
    if not (isinstance(node, ast.Constant) and node.value == named.name and not named.fields):
        return False
    return _of_environment(parents[node], named, False) is None


def _of_field(node: ast.AST, named: Named, parents: Parents) -> bool | None:
    """Whether the attribute is certainly the field: by the class around it, a declared type, or the name of
    the object; False where it is an attribute of that name of something else.
    """
    match node:
        case ast.Attribute(value=value, attr=attr, ctx=ast.Load()) if attr in named.fields:
            return _owned(value, node, named.fields[attr], parents)
        case ast.Call(func=ast.Name(id="getattr"), args=[value, ast.Constant(value=str(attr)), *_]):
            return _owned(value, node, named.fields[attr], parents) if attr in named.fields else None
    return None


def _owned(value: ast.expr, node: ast.AST, owners: frozenset[str], parents: Parents) -> bool:
    last = ast.unparse(value).split(".")[-1]
    if last == "self":
        return any(isinstance(up, ast.ClassDef) and _is_owner(up, owners) for up in _up(node, parents))
    if last in set(map(snake, owners)):
        return True
    functions = (up for up in _up(node, parents) if isinstance(up, ast.FunctionDef | ast.AsyncFunctionDef))
    function = next(functions, None)
    return function is not None and isinstance(value, ast.Name) and _typed(function, value.id, owners)


def _is_owner(cls: ast.ClassDef, owners: frozenset[str]) -> bool:
    """Whether the class is one, or names one as its base."""
    return bool(owners & {cls.name, *(ast.unparse(base).split(".")[-1] for base in cls.bases)})


def _typed(function: Function, name: str, owners: frozenset[str]) -> bool:
    """Whether a parameter is declared as an owner, or a local name is given an object that is called so."""
    arguments = function.args
    for arg in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        if arg.arg == name and arg.annotation is not None:
            return bool(owners & set(re.findall(r"\w+", ast.unparse(arg.annotation))))
    for node in ast.walk(function):
        named = isinstance(node, ast.Assign) and any(_is_name(target, name) for target in node.targets)
        if named and isinstance(node, ast.Assign):
            return ast.unparse(node.value).split(".")[-1] in set(map(snake, owners))
    return False


def _is_name(target: ast.expr, name: str) -> bool:
    return isinstance(target, ast.Name) and target.id == name


def snake(name: str) -> str:
    """`ModelConfig` is `model_config`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _declares(node: ast.AST, parents: Parents, named: Named) -> bool:
    """Whether it stands where options and fields take their help and default from: in the body of a class,
    or where the parser is filled.
    """
    around = (
        up
        for up in _up(node, parents)
        if isinstance(up, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    )
    first = next(around, None)
    return (
        bool(named.fields) and first is not None and (isinstance(first, ast.ClassDef) or first.name == FILLED)
    )


def _up(node: ast.AST, parents: Parents) -> Iterator[ast.AST]:
    while node in parents:
        node = parents[node]
        yield node


def _around(node: ast.AST, parents: Parents) -> list[str]:
    """The names of the classes and functions around it, the outermost first."""
    kinds = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return [up.name for up in _up(node, parents) if isinstance(up, kinds)][::-1]


def _role(node: ast.AST, parents: Parents) -> Role:
    """What becomes of the value in its statement."""
    child, boolean = node, False
    for up in _up(node, parents):
        if isinstance(up, ast.Call) and _logs(up):
            return Role.LOGS
        if isinstance(up, ast.Assert) or (isinstance(up, ast.If) and up.test is child and _only_raises(up)):
            return Role.CHECKS
        if _tests(up, child):
            return Role.DECIDES
        boolean = (
            boolean or isinstance(up, BOOLEAN) or (isinstance(up, ast.UnaryOp) and isinstance(up.op, ast.Not))
        )
        if isinstance(up, ast.stmt):
            break
        child = up
    return Role.DECIDES if boolean else Role.PASSES


def _only_raises(test: ast.If) -> bool:
    return not test.orelse and all(isinstance(each, ast.Raise) for each in test.body)


def _logs(call: ast.Call) -> bool:
    return ast.unparse(call.func).split(".")[-1].removesuffix("_once") in LOGGED


def _tests(up: ast.AST, child: ast.AST) -> bool:
    """Whether `child` is the condition of what is around it."""
    if isinstance(up, ast.comprehension):
        return child in up.ifs
    return isinstance(up, ast.If | ast.While | ast.IfExp) and up.test is child
