"""tree-sitter's tree of C++ and CUDA text, and the few ways in which it is asked."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from .cpp import Odd

if TYPE_CHECKING:
    from tree_sitter import Node, Parser


@cache
def _parser() -> Parser:
    import tree_sitter_cuda
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_cuda.language()))


def parsed(text: str) -> Node:
    """Parse C++ text; what is wrong with it is marked in the tree."""
    return _parser().parse(text.encode("utf-8", "replace")).root_node


def text_of(node: Node | None) -> str:
    """Give the text that a node was parsed from, empty for none."""
    return node.text.decode("utf-8", "replace") if node is not None and node.text else ""


def children(node: Node) -> list[Node]:
    """List what a node is made of, without comments."""
    return [child for child in node.named_children if child.type not in ("comment", "\n")]


def field(node: Node, name: str) -> Node:
    """Give a field; a node without it is its own, and lowers to something odd."""
    return node.child_by_field_name(name) or node


def odd(node: Node) -> Odd:
    """Say that a node lies outside of the subset, and where."""
    return Odd(f"{node.type.replace('_', ' ')} in line {node.start_point[0] + 1}", tuple(_names(node)))


def _names(node: Node) -> Iterator[str]:
    """The names that stand below a node."""
    for below in within(node):
        if below.type == "identifier":
            yield text_of(below)


def within(node: Node) -> Iterator[Node]:
    """A node and all below it."""
    pending = [node]
    while pending:
        here = pending.pop()
        yield here
        pending.extend(here.named_children)
