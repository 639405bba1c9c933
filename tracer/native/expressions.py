"""Expressions, lowered from tree-sitter's tree to the subset: those of C++ and those of an `#if`."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from .cpp import Apply, Ask, Call, Defined, Expr, Name, Number, Odd, Text
from .syntax import children, field, odd, parsed, text_of
from .values import ARITHMETIC

if TYPE_CHECKING:
    from tree_sitter import Node


def expression(node: Node) -> Expr:
    """Lower an expression of C++ or of an `#if`."""
    kind = node.type
    if kind == "number_literal":
        return literal(text_of(node))
    if kind in ("true", "false"):
        return Number(int(kind == "true"))
    if kind in ("string_literal", "concatenated_string"):
        return text(node)
    if kind == "identifier":
        return Name(text_of(node))
    if kind == "preproc_defined":
        return Defined(text_of(children(node)[0])) if children(node) else odd(node)
    if kind == "parenthesized_expression" and len(children(node)) == 1:
        return expression(children(node)[0])
    if kind in _OPERANDS:
        return _application(node)
    if kind == "call_expression":
        return call_of(node)
    return odd(node)


_OPERANDS = {
    "unary_expression": ("argument",),
    "binary_expression": ("left", "right"),
    "conditional_expression": ("condition", "consequence", "alternative"),
}


_SPELLED = {"and": "&&", "or": "||", "not": "!"}
_WORD = re.compile(r"\b(?:and|or|not)\b")


def _application(node: Node) -> Expr:
    operator = node.child_by_field_name("operator")
    op = "?" if operator is None else _SPELLED.get(text_of(operator), text_of(operator))
    if op not in ARITHMETIC and op not in ("&&", "||", "!", "?"):
        return odd(node)
    operands = [node.child_by_field_name(name) for name in _OPERANDS[node.type]]
    lowered = tuple(expression(operand) for operand in operands if operand is not None)
    return Apply(op, lowered) if len(lowered) == len(operands) else odd(node)


def call_of(node: Node) -> Expr:
    """Lower a call of a function by its name, or of a method."""
    function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    if function is None or arguments is None:
        return odd(node)
    if function.type == "field_expression" and text_of(function.child_by_field_name("operator")) == ".":
        target, name = field(function, "argument"), text_of(field(function, "field"))
        return Ask(expression(target), name, tuple(map(expression, children(arguments))))
    if function.type not in ("identifier", "qualified_identifier"):
        return odd(node)
    name = text_of(function)
    plain = all(part.isidentifier() for part in name.split("::"))
    return Call(name, tuple(map(expression, children(arguments)))) if plain else odd(node)


def text(node: Node) -> Expr:
    """Lower a string literal, or several side by side; one with an escape or a prefix is odd."""
    parts = children(node) if node.type == "concatenated_string" else [node]
    written = [_TEXT.fullmatch(text_of(part)) for part in parts]
    return Text("".join(found[1] for found in written if found)) if all(written) else odd(node)


_TEXT = re.compile(r'"([^"\\\n]*)"')
_NUMBER = re.compile(r"(-?)(0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)[lL]{0,2}")


def literal(text: str) -> Expr:
    """Read an integer literal as C++ does."""
    found = _NUMBER.fullmatch(text.replace("'", ""))
    if not found:
        return Odd(f"the literal {text[:40]}")
    sign, digits = found.groups()
    octal = digits.startswith("0") and digits.isdigit()
    try:
        value = int(digits, 8 if octal else 0)
    except ValueError:
        return Odd(f"the literal {text[:40]}")
    return Number(-value if sign else value)


@lru_cache(4096)
def condition(text: str) -> Expr:
    """Lower the text of an `#if`."""
    root = parsed(f"#if {_WORD.sub(lambda word: _SPELLED[word[0]], text)}\n#endif\n")
    head = root.named_children[0].child_by_field_name("condition") if root.named_children else None
    try:
        if head is not None and not root.has_error and len(root.named_children) == 1:
            return expression(head)
    except RecursionError:
        pass
    return Odd(f"the condition {text[:60]!r}")
