"""One pass over a libcst tree in source order: where it stands, and which handler takes the next node.

libcst nodes carry no positions, and its PositionProvider renders the whole tree again to find them, at twice
the cost of parsing. Every newline of the source lies in some whitespace or string of the tree, so a handler
that visits its node's tokens in order and reports their whitespace here always knows the current line, for a
tenth of that cost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import libcst as cst

from ..tree import Node, Unsupported

Handler = Callable[["Walk", Any], Node]

# What the callers of `unsupported` have already passed, or pass afterwards: not part of the node's own text.
_OUTSIDE: tuple[tuple[type[cst.CSTNode], dict[str, Any]], ...] = (
    (cst.BaseExpression, {"lpar": (), "rpar": ()}),
    (cst.BaseCompoundStatement, {"leading_lines": ()}),
    (cst.BaseSmallStatement, {"semicolon": cst.MaybeSentinel.DEFAULT}),
)


class Walk:
    """The state of one lowering: the line of the next token, and whether the function around it yields."""

    __slots__ = ("handlers", "line", "opened", "yields")

    def __init__(self, handlers: Mapping[type[cst.CSTNode], Handler], line: int) -> None:
        self.handlers = handlers
        self.line = line
        self.opened = line
        """Line of the parenthesis opened last: where a tuple or a generator expression begins."""
        self.yields = False
        """Whether a `yield` was met in the function being lowered."""

    def expression(self, node: cst.BaseExpression) -> Node:
        """Lower an expression with the parentheses around it, which leave no node."""
        for opening in node.lpar:
            self.opened = self.line
            self.space(opening.whitespace_after)
        lowered = self.handlers.get(type(node), unsupported)(self, node)
        for closing in node.rpar:
            self.space(closing.whitespace_before)
        return lowered

    def optional(self, node: cst.BaseExpression | None) -> Node | None:
        """Lower an expression that may be absent."""
        return None if node is None else self.expression(node)

    def statement(self, node: cst.CSTNode) -> Node:
        """Lower one simple or compound statement, its leading lines already passed."""
        return self.handlers.get(type(node), unsupported)(self, node)

    def space(self, space: object) -> None:
        """Pass whitespace between two tokens; absent whitespace (None, a sentinel) is nothing."""
        kind = type(space)
        if kind is cst.SimpleWhitespace:
            if "\n" in space.value:  # type: ignore[attr-defined]  # told apart by `kind`, twice as fast as isinstance
                self.line += space.value.count("\n")  # type: ignore[attr-defined]
        elif kind is cst.ParenthesizedWhitespace:
            self.newline(space.first_line)  # type: ignore[attr-defined]
            self.lines(space.empty_lines)  # type: ignore[attr-defined]
            self.space(space.last_line)  # type: ignore[attr-defined]

    def token(self, token: Any) -> None:
        """Pass a one-token node such as a comma, an operator or a dot; None and a sentinel are nothing."""
        if token is not None and token is not cst.MaybeSentinel.DEFAULT:
            self.space(token.whitespace_before)
            self.space(token.whitespace_after)

    def newline(self, trailing: cst.TrailingWhitespace) -> None:
        """Pass the end of a line."""
        self.space(trailing.whitespace)
        self.line += 1

    def lines(self, lines: Iterable[cst.EmptyLine]) -> None:
        """Pass lines that hold nothing but blanks and comments."""
        for line in lines:
            self.space(line.whitespace)
            self.line += 1

    def opaque(self, node: cst.CSTNode | None) -> None:
        """Pass a node that has no place in our tree, whatever it holds."""
        if node is not None:
            self.line += source(node).count("\n")


def source(node: cst.CSTNode) -> str:
    """The text of a node, as it was written."""
    return cst.Module([]).code_for_node(node)


def unsupported(walk: Walk, node: cst.CSTNode) -> Unsupported:
    """Keep what has no handler as its kind, and stay right about lines and generators."""
    line = walk.line
    outside = next((fields for kind, fields in _OUTSIDE if isinstance(node, kind)), {})
    walk.opaque(node.with_changes(**outside))
    walk.yields = walk.yields or _yields(node)
    return Unsupported(line, type(node).__name__)


def _yields(node: cst.CSTNode) -> bool:
    if isinstance(node, cst.FunctionDef | cst.ClassDef | cst.Lambda):
        return False
    return isinstance(node, cst.Yield) or any(map(_yields, node.children))
