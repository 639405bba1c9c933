"""How an engine names the files with tuned configurations: read from the f-strings that make the names."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator

from ..sources import Source
from .marks import dotted
from .straight import Find, Function

_SUFFIX = ".json"
_KEY = re.compile(r"([A-Za-z_]\w*)=\Z")
_FIELDS = 8
_BARE = 2
"""How many fields may stand without a `name=` before them: each more of them multiplies the ways to match."""


class Naming:
    """One rule that makes names, and the function that opens what is named so."""

    def __init__(self, file: NamingFile, maker: Function, text: ast.JoinedStr, opener: Function) -> None:
        self.file, self.maker, self.text, self.opener = file, maker, text, opener
        self.symbol = f"{file.module}.{opener.name}"
        self._groups: list[str] = []
        self.pattern = re.compile(self._pattern(text, 0), re.S)
        self.fields = tuple(dict.fromkeys(self._groups))
        self.parameters = tuple(each.arg for each in (*opener.args.args, *opener.args.kwonlyargs))

    @property
    def is_plain(self) -> bool:
        """Whether the rule is about names as `E=16,N=1536.json`, which can be taken apart."""
        wild = len(re.findall(r"(?:\(\?P<\w+>)?\[\^=\]", self.pattern.pattern))
        named = len(re.findall(r"=\(\?P<", self.pattern.pattern))
        return 0 < wild <= _FIELDS and wild - named <= _BARE

    def made(self, value: ast.expr) -> ast.expr | None:
        """The part of an assigned value that is such a name, if one is."""
        for node in ast.walk(value):
            if node is self.text:
                return self.text
            asks = self.maker is not self.opener and isinstance(node, ast.Call)
            if asks and isinstance(node, ast.Call) and dotted(node.func) == self.maker.name:
                return node
        return None

    def matched(self, name: str) -> dict[str, int | str] | None:
        """The fields of a file name, or None where the rule does not make it."""
        found = self.pattern.fullmatch(name) if len(name) < 400 else None
        if found is None:
            return None
        given = {key: value for key, value in found.groupdict().items() if value is not None}
        return {key: int(value) if value.isdecimal() else value for key, value in given.items()}

    # --- the pattern of a rule

    def _pattern(self, node: ast.expr, depth: int) -> str:
        match node:
            case ast.JoinedStr(values=parts):
                before = [None, *parts]
                return "".join(self._part(*pair, depth) for pair in zip(before, parts, strict=False))
            case ast.FormattedValue():
                return "[^=]+?"
            case ast.Constant(value=str(text)):
                return re.escape(text)
            case ast.IfExp(body=body, orelse=orelse):
                return f"(?:{self._pattern(body, depth)}|{self._pattern(orelse, depth)})"
            case ast.Call(func=ast.Attribute(value=inner, attr="replace")):
                return self._pattern(inner, depth)
        return "[^=]*?"

    def _part(self, before: ast.expr | None, node: ast.expr, depth: int) -> str:
        """A part of an f-string; a field is called what the text before it says: `E=` of `E={experts}`."""
        if not (isinstance(node, ast.FormattedValue) and isinstance(node.value, ast.Name)):
            return self._pattern(node, depth)
        said = _KEY.search(str(before.value)) if isinstance(before, ast.Constant) else None
        return self._field(node.value.id, said[1] if said else node.value.id, depth)

    def _field(self, variable: str, name: str, depth: int) -> str:
        value = _assigned(self.maker, variable)
        if depth < 4 and _is_text(value):
            assert value is not None
            return self._pattern(value, depth + 1)
        if name in self._groups:
            return f"(?P={name})"
        self._groups.append(name)
        return f"(?P<{name}>[^=]+?)"


class NamingFile:
    """A module that makes such names, with its functions."""

    def __init__(self, source: Source, path: str) -> None:
        self.source, self.path = source, path
        self.module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        self.tree = _tree(source.text(path) or "")
        self.functions = {n.name: n for n in ast.walk(self.tree) if isinstance(n, ast.FunctionDef)}

    def namings(self) -> Iterator[Naming]:
        """The rules of this file."""
        for maker in self.functions.values():
            for node in _inside(maker):
                if isinstance(node, ast.JoinedStr) and _ends(node):
                    naming = Naming(self, maker, node, self._opener(maker))
                    if naming.is_plain:
                        yield naming

    def folders(self) -> Iterator[str]:
        """Folders below this file's own that its paths lead to."""
        here = self.path.rpartition("/")[0]
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call) and dotted(node.func).endswith("path.join"):
                names = [each.value for each in node.args if isinstance(each, ast.Constant)]
                yield "/".join((here, *map(str, names)))

    def calling(self, name: str) -> Iterator[str]:
        """The functions that call another of that name."""
        for function in self.functions.values():
            nodes = _inside(function)
            if any(isinstance(node, ast.Call) and dotted(node.func) == name for node in nodes):
                yield function.name

    def find(self, name: str) -> tuple[Function, Find] | None:
        """A function by its name here, or in the module that it is imported from."""
        if name in self.functions:
            return self.functions[name], self.find
        for node in ast.walk(self.tree):
            for each in node.names if isinstance(node, ast.ImportFrom) and node.module else ():
                if (each.asname or each.name) == name:
                    assert isinstance(node, ast.ImportFrom) and node.module
                    return self._brought(node.module, each.name)
        return None

    def _brought(self, module: str, name: str) -> tuple[Function, Find] | None:
        path = self.source.module_path(module)
        if path is None or path == self.path:
            return None
        there = NamingFile(self.source, path)
        return (there.functions[name], there.find) if name in there.functions else None

    def _opener(self, maker: Function) -> Function:
        """The function that opens what is named: the one that makes the name, or one that asks it to."""
        if any(isinstance(node, ast.Call) and dotted(node.func) == "open" for node in _inside(maker)):
            return maker
        for function in self.functions.values():
            for node in _inside(function):
                if isinstance(node, ast.Call) and dotted(node.func) == maker.name and function is not maker:
                    return function
        return maker


def _tree(text: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a stranger's invalid escape sequences are not our news
        try:
            return ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return ast.Module([], [])


def _ends(node: ast.JoinedStr) -> bool:
    last = node.values[-1] if node.values else None
    is_path = isinstance(last, ast.Constant) and str(last.value).endswith(_SUFFIX)
    return is_path and sum(isinstance(each, ast.FormattedValue) for each in node.values) > 1


def _inside(function: Function) -> Iterator[ast.AST]:
    """What stands in a function, and in none within it."""
    pending: list[ast.AST] = list(function.body)
    while pending:
        node = pending.pop(0)
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            yield node
            pending += ast.iter_child_nodes(node)


def _assigned(function: Function, name: str) -> ast.expr | None:
    for node in _inside(function):
        if isinstance(node, ast.Assign) and dotted(node.targets[0]) == name:
            return node.value
    return None


def _is_text(node: ast.expr | None) -> bool:
    """Whether an expression is a text that is written down, or one of two."""
    match node:
        case ast.JoinedStr() | ast.Constant(value=str()):
            return True
        case ast.IfExp(body=body, orelse=orelse):
            return _is_text(body) and _is_text(orelse)
        case ast.Call(func=ast.Attribute(value=inner, attr="replace")):
            return _is_text(inner)
    return False
