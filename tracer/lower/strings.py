"""Lower string expressions: plain, formatted, and any mix of both that implicit concatenation makes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

import libcst as cst

from ..tree import Const, Format, FString, Node
from .literals import fstring_text, string
from .walk import Handler, Walk, source


def _simple(walk: Walk, node: cst.SimpleString) -> Const:
    lowered = Const(walk.line, string(node.value))
    walk.line += node.value.count("\n")
    return lowered


def _formatted(walk: Walk, node: cst.FormattedString) -> Node:
    return _merged(walk.line, list(_parts(walk, node.parts, node.start)))


def _concatenated(walk: Walk, node: cst.ConcatenatedString) -> Node:
    return _merged(walk.line, [part for piece in _pieces(walk, node) for part in _flat(piece)])


def _pieces(walk: Walk, node: cst.ConcatenatedString) -> Iterator[Node]:
    rest: cst.BaseExpression = node
    while isinstance(rest, cst.ConcatenatedString):
        yield walk.expression(rest.left)
        walk.space(rest.whitespace_between)
        rest = rest.right
    yield walk.expression(rest)


def _flat(piece: Node) -> tuple[Node, ...]:
    return piece.parts if isinstance(piece, FString) else (piece,)


def _parts(walk: Walk, parts: Sequence[cst.BaseFormattedStringContent], start: str) -> Iterator[Node]:
    for part in parts:
        if isinstance(part, cst.FormattedStringText):
            yield Const(walk.line, fstring_text(part.value, start))
            walk.line += part.value.count("\n")
        else:
            assert isinstance(part, cst.FormattedStringExpression), part
            yield from _field(walk, part, start)


def _field(walk: Walk, node: cst.FormattedStringExpression, start: str) -> Iterator[Node]:
    line = walk.line
    conversion = node.conversion or ""
    if node.equal is not None:
        yield Const(line, _echo(node, node.equal))
        if node.format_spec is None:
            conversion = conversion or "r"
    walk.space(node.whitespace_before_expression)
    value = walk.expression(node.expression)
    walk.token(node.equal)
    walk.space(node.whitespace_after_expression)
    spec = None
    if node.format_spec is not None:
        spec = _merged(walk.line, list(_parts(walk, node.format_spec, start)))
    yield Format(line, value, conversion, spec)


def _echo(node: cst.FormattedStringExpression, equal: cst.AssignEqual) -> str:
    """The text that `{x = }` shows before the value: the source up to and including the sign's blanks."""
    return "".join(map(source, (node.whitespace_before_expression, node.expression, equal)))


def _merged(line: int, parts: Sequence[Node]) -> Node:
    """One node of many parts: neighbouring texts joined, empty ones gone; a `Const` without any field."""
    blobs = [part.value for part in parts if isinstance(part, Const) and isinstance(part.value, bytes)]
    if blobs:
        return Const(line, b"".join(blobs))
    if all(map(_is_text, parts)):
        return Const(line, _text(parts))
    runs = groupby(parts, _is_text)
    return FString(line, tuple(part for is_text, run in runs for part in (_joined(run) if is_text else run)))


def _is_text(part: Node) -> bool:
    return isinstance(part, Const)


def _joined(parts: Iterable[Node]) -> Iterator[Const]:
    """Texts in a row as one, on the line of the first that says anything."""
    texts = [part for part in parts if isinstance(part, Const) and part.value]
    if texts:
        yield Const(texts[0].line, _text(texts))


def _text(parts: Iterable[Node]) -> str:
    return "".join(str(part.value) for part in parts if isinstance(part, Const))


HANDLERS: dict[type[cst.CSTNode], Handler] = {
    cst.SimpleString: _simple,
    cst.FormattedString: _formatted,
    cst.ConcatenatedString: _concatenated,
}
