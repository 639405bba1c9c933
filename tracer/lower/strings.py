"""Lower string expressions: plain, formatted, and any mix of both that implicit concatenation makes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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
    """One node of many parts: neighbouring texts joined, empty ones gone; a `Const` when nothing is formatted."""
    if isinstance(parts[0] if parts else None, Const) and isinstance(parts[0].value, bytes):  # type: ignore[attr-defined]
        return Const(line, b"".join(part.value for part in parts))  # type: ignore[attr-defined]
    merged: list[Node] = []
    for part in parts:
        last = merged[-1] if merged else None
        if isinstance(part, Const) and isinstance(last, Const):
            merged[-1] = Const(last.line, f"{last.value}{part.value}")
        elif not (isinstance(part, Const) and part.value == ""):
            merged.append(part)
    if any(isinstance(part, Format) for part in merged):
        return FString(line, tuple(merged))
    return Const(line, "".join(str(part.value) for part in merged if isinstance(part, Const)))


HANDLERS: dict[type[cst.CSTNode], Handler] = {
    cst.SimpleString: _simple,
    cst.FormattedString: _formatted,
    cst.ConcatenatedString: _concatenated,
}
