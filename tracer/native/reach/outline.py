"""What a file of C++ or CUDA defines and declares: functions, kernels, classes and aliases."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct

from ..syntax import children, parsed, text_of

if TYPE_CHECKING:
    from tree_sitter import Node


class Kind(StrEnum):
    """What a name stands for."""

    KERNEL = "kernel"
    """A `__global__` function."""
    FUNCTION = "function"
    CLASS = "class"
    ALIAS = "alias"


class Parameter(Struct, frozen=True):
    """One parameter of a function."""

    name: str
    type: str


class Definition(Struct, frozen=True):
    """One definition, or where `body` is None one declaration."""

    kind: Kind
    name: str
    scope: tuple[str, ...]
    """The namespaces and classes around it; the nameless namespace is ''."""
    path: str
    line: int
    params: tuple[Parameter, ...] = ()
    least: int = 0
    """How many arguments a call has to give."""
    most: int | None = None
    """How many it may give; None for any number."""
    templates: tuple[str, ...] = ()
    """The names of its template parameters."""
    body: tuple[int, int] | None = None
    """Where its text begins and ends in the file as compiled; a class's is what it holds."""
    bases: tuple[str, ...] = ()
    hidden: bool = False
    """Whether it is seen in its own file alone."""

    @property
    def qualified(self) -> str:
        """Its name with all that is around it, as a profiler prints it."""
        return "::".join((*(part for part in self.scope if part), self.name))


def outline(path: str, text: str) -> tuple[Definition, ...]:
    """List what a file's compiled text defines and declares; bodies of functions are not entered."""
    found = list(_Outline(path).of(parsed(text), (), ()))
    return tuple(sorted(found, key=lambda d: (d.line, d.name)))


_SCOPES = ("translation_unit", "declaration_list", "linkage_specification", "field_declaration_list", "ERROR")
_CLASSES = ("struct_specifier", "class_specifier", "union_specifier")
_DECLARATIONS = ("declaration", "field_declaration", "friend_declaration")


class _Outline:
    def __init__(self, path: str) -> None:
        self.path = path

    def of(self, node: Node, scope: tuple[str, ...], templates: tuple[str, ...]) -> Iterator[Definition]:
        kind = node.type
        if kind in _SCOPES:
            for child in node.named_children:
                yield from self.of(child, scope, ())
        elif kind == "namespace_definition":
            name = text_of(node.child_by_field_name("name"))
            inner = (*scope, *(name.split("::") if name else ("",)))
            body = node.child_by_field_name("body")
            if body is not None:
                yield from self.of(body, inner, ())
        elif kind == "template_declaration":
            names = tuple(_template_names(node.child_by_field_name("parameters")))
            for child in node.named_children:
                if child.type != "template_parameter_list":
                    yield from self.of(child, scope, names)
        elif kind == "function_definition":
            yield from self.function(node, scope, templates, node.child_by_field_name("body"))
        elif kind in _CLASSES:
            yield from self.klass(node, scope, templates)
        elif kind == "alias_declaration":
            yield self.alias(node, scope, templates)
        elif kind in _DECLARATIONS:
            for child in node.named_children:
                if child.type in _CLASSES:
                    yield from self.klass(child, scope, templates)
            yield from self.function(node, scope, templates, _braces(node))

    def klass(self, node: Node, scope: tuple[str, ...], templates: tuple[str, ...]) -> Iterator[Definition]:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is None or body is None:
            return
        plain = _plain(text_of(name))
        bases = tuple(
            text_of(base)
            for clause in node.named_children
            if clause.type == "base_class_clause"
            for base in children(clause)
        )
        yield Definition(
            Kind.CLASS,
            plain,
            scope,
            self.path,
            node.start_point[0] + 1,
            templates=templates,
            body=(body.start_byte, body.end_byte),
            bases=bases,
            hidden=True,
        )
        yield from self.of(body, (*scope, plain), ())

    def alias(self, node: Node, scope: tuple[str, ...], templates: tuple[str, ...]) -> Definition:
        span = node.child_by_field_name("type") or node
        return Definition(
            Kind.ALIAS,
            text_of(node.child_by_field_name("name")),
            scope,
            self.path,
            node.start_point[0] + 1,
            templates=templates,
            body=(span.start_byte, span.end_byte),
            hidden=True,
        )

    def function(
        self, node: Node, scope: tuple[str, ...], templates: tuple[str, ...], body: Node | None
    ) -> Iterator[Definition]:
        declarator = _declarator(node)
        name = declarator.child_by_field_name("declarator") if declarator is not None else None
        if declarator is None or name is None:
            return
        parts = _plain(text_of(name)).split("::")
        listed = declarator.child_by_field_name("parameters")
        given = [] if listed is None else children(listed)
        params = tuple(map(_parameter, given))
        optional = sum(p.type in ("optional_parameter_declaration", *_PACKS) for p in given)
        open_ended = any(p.type in _PACKS for p in given)
        begin = node.start_byte
        head_end = declarator.start_byte
        head = (node.text or b"")[: head_end - begin].decode("ascii", "replace")
        yield Definition(
            Kind.KERNEL if any(word in head for word in GLOBAL) else Kind.FUNCTION,
            parts[-1],
            (*scope, *parts[:-1]),
            self.path,
            declarator.start_point[0] + 1,
            params,
            len(given) - optional,
            None if open_ended else len(given),
            templates,
            None if body is None else (body.start_byte, body.end_byte),
            hidden="" in scope or ("static" in head.split() and not _in_class(node)),
        )


GLOBAL = ("__global__", "CUTLASS_GLOBAL")
"""What makes a function a kernel: CUDA's word, and the macro of CUTLASS that stands for it."""
_PACKS = ("variadic_parameter_declaration", "variadic_parameter")


def _in_class(node: Node) -> bool:
    return node.parent is not None and node.parent.type == "field_declaration_list"


def _braces(node: Node) -> Node | None:
    """The `{}` of a function that the grammar takes for a variable with an initial value."""
    declarator = node.child_by_field_name("declarator")
    value = declarator.child_by_field_name("value") if declarator is not None else None
    return value if value is not None and value.type == "initializer_list" else None


def _declarator(node: Node) -> Node | None:
    """The function declarator of a definition or declaration, behind what is returned by pointer."""
    here = node.child_by_field_name("declarator")
    while here is not None and here.type in ("pointer_declarator", "reference_declarator", "init_declarator"):
        here = here.child_by_field_name("declarator") or next(
            (child for child in here.named_children if child.type.endswith("declarator")), None
        )
    return here if here is not None and here.type == "function_declarator" else None


def _parameter(node: Node) -> Parameter:
    inner = node.child_by_field_name("declarator")
    while inner is not None and inner.type not in ("identifier", "function_declarator"):
        inner = inner.child_by_field_name("declarator") or next(iter(inner.named_children), None)
    if inner is not None and inner.type == "function_declarator":
        found = [n for n in _below(inner) if n.type == "identifier"]
        inner = found[0] if found else None
    return Parameter(text_of(inner), _plain(text_of(node.child_by_field_name("type"))))


def _below(node: Node) -> Iterator[Node]:
    pending = [node]
    while pending:
        here = pending.pop()
        yield here
        pending.extend(reversed(here.named_children))


def _template_names(node: Node | None) -> Iterator[str]:
    for child in [] if node is None else children(node):
        names = [n for n in _below(child) if n.type in ("identifier", "type_identifier")]
        declared = child.child_by_field_name("declarator") or child.child_by_field_name("name")
        if child.type == "template_template_parameter_declaration":
            yield text_of(names[-1]) if names else ""
        elif declared is not None:
            inner = [n for n in _below(declared) if n.type in ("identifier", "type_identifier")]
            yield text_of(inner[0]) if inner else text_of(declared)
        else:
            yield text_of(names[-1]) if names else ""


def _plain(text: str) -> str:
    """A name without template arguments and blanks."""
    out: list[str] = []
    depth = 0
    for sign in text:
        depth += (sign == "<") - (sign == ">")
        if not depth and sign != ">" and not sign.isspace():
            out.append(sign)
    return "".join(out)
