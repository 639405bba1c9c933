"""How expressions of C++ spell names: qualified, with template arguments, by address, one of two."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from ..syntax import children, text_of

if TYPE_CHECKING:
    from tree_sitter import Node


class Given(Struct, frozen=True):
    """What an argument names: functions, kernels, types or a literal; nothing where it is computed."""

    names: tuple[str, ...] = ()


NAMES = ("identifier", "qualified_identifier", "template_function", "type_identifier", "template_type")
_LITERALS = ("true", "false", "null", "nullptr", "number_literal")
CASTS = ("static_cast", "reinterpret_cast", "const_cast", "dynamic_cast")


def named(node: Node) -> tuple[str, tuple[Given, ...]]:
    """A name without template arguments, and those of its last part."""
    here, parts = node, []
    while here.type in ("qualified_identifier", "dependent_type", "dependent_name"):
        if here.type == "qualified_identifier":
            scope = here.child_by_field_name("scope")
            parts.append(_bare(scope) if scope is not None else "")
            inner = here.child_by_field_name("name")
        else:
            inner = next(iter(here.named_children), None)
        if inner is None:
            break
        here = inner
    parts.append(_bare(here))
    arguments = here.child_by_field_name("arguments")
    listed = children(arguments) if arguments is not None and "template" in here.type else []
    return "::".join(part for part in parts if part), tuple(Given(tuple(designated(item))) for item in listed)


def _bare(node: Node) -> str:
    name = node.child_by_field_name("name")
    inner = name if name is not None and "template" in node.type else node
    return "".join(text_of(inner).split())


def template_lists(node: Node) -> Iterator[Node]:
    """The template arguments of a name, not those inside of other expressions."""
    pending = [node]
    while pending:
        here = pending.pop()
        for child in here.named_children:
            if child.type == "template_argument_list":
                yield child
            elif child.type in _WRAPPED:
                pending.append(child)


_WRAPPED = (
    "qualified_identifier", "template_function", "template_type", "template_method", "dependent_type",
    "type_descriptor", "dependent_name", "type_identifier",
)  # fmt: skip


def designated(node: Node) -> Iterator[str]:
    """The names that an expression may stand for, itself or by address, with a choice's both."""
    kind = node.type
    if kind in NAMES or kind in ("template_method", "dependent_type"):
        yield named(node)[0]
    elif kind in _LITERALS:
        yield text_of(node)
    elif kind in ("pointer_expression", "parenthesized_expression", "type_descriptor", "cast_expression"):
        for child in children(node):
            if child.type not in ("type_qualifier", "abstract_pointer_declarator"):
                yield from designated(child)
    elif kind == "conditional_expression":
        for name in ("consequence", "alternative"):
            arm = node.child_by_field_name(name)
            if arm is not None:
                yield from designated(arm)
    elif kind == "call_expression":
        function = node.child_by_field_name("function")
        plain, templates = named(function) if function is not None else ("", ())
        if plain.rpartition("::")[2] in CASTS:
            for given in templates:
                yield from given.names
        elif plain:
            yield f"{plain}()"


def declared_name(node: Node | None) -> str:
    here = node
    while here is not None and here.type not in ("identifier", "qualified_identifier"):
        here = here.child_by_field_name("declarator") or next(
            (child for child in here.named_children if child.type in _DECLARED), None
        )
    return text_of(here) if here is not None and here.type == "identifier" else ""


_DECLARED = (
    "identifier", "pointer_declarator", "reference_declarator", "function_declarator",
    "parenthesized_declarator", "array_declarator",
)  # fmt: skip


def strings(node: Node) -> Iterator[Node]:
    pending = [node]
    while pending:
        here = pending.pop()
        if here.type == "string_content":
            yield here
        pending.extend(reversed(here.named_children))
