"""Index a module: where each statement and class member stands, and which names it binds or changes.

Only positions and names, from the standard library's `ast`, so that a name can be looked up without lowering
the module; `lower` then reads the few statements that matter.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from .effects import Effects
from .tree import Block, ClassDef

_INDENTED = re.compile(r"(?:[ \t\f]*(?:#[^\n]*)?\n)*(?:[ \t]*\f)*[ \t]+[^\s#]")


class SourceSyntaxError(ValueError):
    """The source cannot be read as Python, at this line of its file."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(f"line {line}: {message}")
        self.line = line
        self.message = message


class Statement(Struct, frozen=True, array_like=True, tag=True):
    """One statement of a module or class body; several that share a line (`a = 1; b = 2`) are one.

    Lines are 1-based and inclusive, decorators included. `binds` are the names it may bind, declare or delete
    in the body around it, `mutates` those whose object it may change (`X += 1` mutates X and binds nothing).
    `stars` are star imports: (module, level).
    """

    first_line: int
    last_line: int
    kind: str
    """`def`, `class`, `import`, `assign`, `compound`, `expr` or `other`."""
    binds: frozenset[str]
    mutates: frozenset[str]
    stars: tuple[tuple[str, int], ...] = ()


class ClassIndex(Statement, frozen=True, kw_only=True):
    """A class statement with the statements of its body, its members.

    `names` leads from a name to the members that bind or change it, in order; `inline` says that the body
    begins on the header's last line (`class A: pass`).
    """

    name: str
    body_line: int
    inline: bool
    members: tuple[AnyStatement, ...]
    names: dict[str, tuple[int, ...]]


AnyStatement = Statement | ClassIndex


class ModuleIndex(Struct, frozen=True, array_like=True):
    """The statements of a module, and for each name those that bind or change it, in textual order."""

    statements: tuple[AnyStatement, ...]
    names: dict[str, tuple[int, ...]]


def index_module(text: str) -> ModuleIndex:
    """Index a whole module; raises `SourceSyntaxError`."""
    text = normalised(text)
    statements = _Indexer(text, 1).statements(_parsed(text, 1).body)
    return ModuleIndex(statements, _names(statements))


def index_class(text: str, first_line: int, last_line: int) -> ClassIndex:
    """Index the class on these lines of a module, at whatever depth it stands; raises `SourceSyntaxError`."""
    segment, extra = framed(_segment(text, first_line, last_line))
    origin = first_line - extra
    body = _parsed(segment, origin).body
    if extra and isinstance(body[0], ast.If):
        body = body[0].body
    found = _Indexer(segment, origin).statements(body[:1])
    if not found or not isinstance(found[0], ClassIndex):
        raise SourceSyntaxError(first_line, "no class statement begins here")
    return found[0]


def class_header(text: str, found: ClassIndex) -> ClassDef:
    """Lower a class without its members: decorators, bases and keywords, over an empty body."""
    from .lower import lower_block  # libcst takes longer to import than most modules take to index

    if found.inline:
        return replace(_inline_class(text, found), body=())
    body = _segment(text, found.body_line, found.body_line)
    indent = body[: len(body) - len(body.lstrip())]
    header = _segment(text, found.first_line, found.body_line - 1)
    (lowered,) = lower_block(f"{header}{indent}pass\n", found.first_line)
    assert isinstance(lowered, ClassDef), lowered
    return replace(lowered, body=())


def statement_block(text: str, statement: Statement) -> Block:
    """Lower one statement of a module: as many nodes as share its lines."""
    from .lower import lower_block  # see class_header

    return lower_block(_segment(text, statement.first_line, statement.last_line), statement.first_line)


def member_block(text: str, found: ClassIndex, member: Statement) -> Block:
    """Lower one member of a class."""
    return _inline_class(text, found).body if found.inline else statement_block(text, member)


def _inline_class(text: str, found: ClassIndex) -> ClassDef:
    (lowered,) = statement_block(text, found)
    assert isinstance(lowered, ClassDef), lowered
    return lowered


# --- text


def normalised(text: str) -> str:
    """Source as Python counts its lines: no byte order mark, newlines only, the last line closed."""
    text = text.removeprefix("\ufeff")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text if text.endswith("\n") else f"{text}\n"


def framed(text: str) -> tuple[str, int]:
    """Make a segment parseable: an indented one goes under `if True:`; also how many lines that added.

    Dedenting instead would cut into multi-line strings.
    """
    text = normalised(text)
    return (f"if True:\n{text}", 1) if _INDENTED.match(text) else (text, 0)


def _segment(text: str, first_line: int, last_line: int) -> str:
    return "\n".join(lines_of(text)[first_line - 1 : last_line]) + "\n"


@lru_cache(
    maxsize=16
)  # a walk cuts many segments out of few modules, and splitting one costs as much as lowering
def lines_of(text: str) -> list[str]:
    """The lines of a text."""
    return normalised(text).split("\n")


def _parsed(text: str, first_line: int) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a stranger's invalid escape sequences are not our news
            return ast.parse(text)
    except SyntaxError as error:
        raise SourceSyntaxError(first_line + (error.lineno or 1) - 1, error.msg) from error
    except (ValueError, RecursionError, MemoryError) as error:  # null bytes, lone surrogates; too deep
        raise SourceSyntaxError(first_line, str(error) or "nested too deeply") from error


# --- statements


_KINDS: dict[type[ast.stmt], str] = {
    ast.FunctionDef: "def",
    ast.AsyncFunctionDef: "def",
    ast.ClassDef: "class",
    ast.Import: "import",
    ast.ImportFrom: "import",
    ast.Assign: "assign",
    ast.AnnAssign: "assign",
    ast.AugAssign: "assign",
    ast.Expr: "expr",
    **dict.fromkeys(
        (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.TryStar, ast.Match),
        "compound",
    ),
}


class _Indexer:
    """Turns the statements of one text, whose first line is `origin`, into index entries."""

    def __init__(self, text: str, origin: int) -> None:
        self.lines = lines_of(text)
        self.shift = origin - 1

    def statements(self, body: Sequence[ast.stmt]) -> tuple[Statement, ...]:
        return tuple(map(self.statement, self.groups(body)))

    def groups(self, body: Sequence[ast.stmt]) -> Iterator[list[ast.stmt]]:
        """Statements that share a line go together: lines are what segments are cut by."""
        group: list[ast.stmt] = []
        for node in body:
            if group and node.lineno > _last_line(group[-1]):
                yield group
                group = []
            group.append(node)
        if group:
            yield group

    def statement(self, group: list[ast.stmt]) -> Statement:
        first, last = self.first_line(group[0]) + self.shift, _last_line(group[-1]) + self.shift
        if isinstance(group[0], ast.ClassDef):
            return self.class_(group[0], first, last)
        kinds = {_KINDS.get(type(node), "other") for node in group}
        effects = Effects(group)
        return Statement(first, last, kinds.pop() if len(kinds) == 1 else "other", *effects.frozen())

    def class_(self, node: ast.ClassDef, first_line: int, last_line: int) -> ClassIndex:
        members = self.statements(node.body)
        header = Effects(())
        header.class_header(node)
        own = frozenset[str]().union(*(member.binds for member in members))
        changed = frozenset[str]().union(*(member.mutates for member in members))
        return ClassIndex(
            first_line,
            last_line,
            "class",
            frozenset(header.binds),
            frozenset(header.mutates) | (changed - own),
            name=node.name,
            body_line=members[0].first_line,
            inline=self.is_inline(node.body[0]),
            members=members,
            names=_names(members),
        )

    def first_line(self, node: ast.stmt) -> int:
        decorators: list[ast.expr] = getattr(node, "decorator_list", [])
        line = min([node.lineno, *(decorator.lineno for decorator in decorators)])
        while decorators and not self.lines[line - 1].lstrip().startswith("@"):
            line -= 1  # `@(` on a line of its own
        return line

    def is_inline(self, first: ast.stmt) -> bool:
        before = self.lines[first.lineno - 1].encode()[: first.col_offset].strip()
        return bool(before) and not before.startswith(b"@")


def _last_line(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno


def _names(statements: Iterable[Statement]) -> dict[str, tuple[int, ...]]:
    places: dict[str, list[int]] = {}
    for place, statement in enumerate(statements):
        for name in statement.binds | statement.mutates:
            places.setdefault(name, []).append(place)
    return {name: tuple(found) for name, found in places.items()}
