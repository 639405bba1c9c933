"""Functions and their statements, lowered from tree-sitter's tree to the subset of C++ that is read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from .cpp import Apply, Call, Check, Defined, Expr, Function, If, Let, Number, Odd, Return, Statement, Stop
from .expressions import call_of, expression
from .syntax import children, field, odd, text_of, within

if TYPE_CHECKING:
    from tree_sitter import Node


def templates(root: Node) -> frozenset[str]:
    """The names of function templates: which overload a call means is then not known."""
    found: set[str] = set()
    pending = [(root, False)]
    while pending:
        node, inside = pending.pop()
        if inside and node.type == "function_declarator":
            found.add(text_of(node.child_by_field_name("declarator")).rsplit("::", 1)[-1])
        elif node.type != "compound_statement":  # of bodies nothing counts
            inside = inside or node.type == "template_declaration"
            pending.extend((below, inside) for below in node.named_children)
    return frozenset(found)


def definitions(root: Node, path: str) -> Iterator[tuple[str, Function]]:
    """Find the free functions of a file; bodies and classes are not entered."""
    pending = [root]
    while pending:
        node = pending.pop()
        if node.type == "function_definition":
            if found := _function(node, path):
                yield found
        elif node.type not in ("class_specifier", "struct_specifier", "template_declaration"):
            pending.extend(node.named_children)


def _function(node: Node, path: str) -> tuple[str, Function] | None:
    declarator, body = node.child_by_field_name("declarator"), node.child_by_field_name("body")
    if declarator is None or body is None or declarator.type != "function_declarator":
        return None
    name = text_of(declarator.child_by_field_name("declarator")).rsplit("::", 1)[-1]
    params = tuple(map(_parameter, children(field(declarator, "parameters"))))
    line = node.start_point[0] + 1
    lowered = (Stop(f"a syntax error in {path}:{line}"),) if node.has_error else statements(children(body))
    return name, Function(_kind(node, _STORAGE), params, lowered, path, line)


def _parameter(param: Node) -> tuple[str, str]:
    """Give a parameter's name and kind; a number that is passed by reference is of another kind."""
    inner, kind = param.child_by_field_name("declarator"), _kind(param)
    if inner is not None and inner.type == "reference_declarator" and len(children(inner)) == 1:
        inner, kind = children(inner)[0], kind if kind in ("tensor", "text") else "other"
    plain = param.type == "parameter_declaration" and inner is not None and inner.type == "identifier"
    return (text_of(inner), kind if plain else "other")


_KINDS = {
    "bool": "bool",
    "int": "int32",
    "int32_t": "int32",
    "std::int32_t": "int32",
    "int64_t": "int64",
    "std::int64_t": "int64",
    "long": "int64",
    "long long": "int64",
    "auto": "auto",
    "std::string": "text",
    "std::string_view": "text",
    "c10::string_view": "text",
    "at::Tensor": "tensor",
    "torch::Tensor": "tensor",
    "torch::stable::Tensor": "tensor",
}
CHECKS = {
    "TORCH_CHECK": "RuntimeError",
    "STD_TORCH_CHECK": "RuntimeError",
    "TORCH_CHECK_VALUE": "ValueError",
    "TORCH_CHECK_TYPE": "TypeError",
    "TORCH_CHECK_INDEX": "IndexError",
    "TORCH_CHECK_NOT_IMPLEMENTED": "NotImplementedError",
}
"""Macros that raise in Python where their first argument is false, and what they raise."""
_STORAGE = ("const", "constexpr", "inline", "static")


def _kind(node: Node, storage: tuple[str, ...] = ("const", "constexpr")) -> str:
    """Name the type of a declaration; a specifier that could change the meaning makes it `other`."""
    for child in node.children:
        if child.type in ("type_qualifier", "storage_class_specifier") and text_of(child) not in storage:
            return "other"
    return _KINDS.get(" ".join(text_of(node.child_by_field_name("type")).split()), "other")


def statements(nodes: Iterable[Node]) -> tuple[Statement, ...]:
    """Lower the statements of a block."""
    return tuple(lowered for node in nodes for lowered in _statement(node))


def _statement(node: Node) -> Iterator[Statement]:
    kind = node.type
    if kind in ("declaration", "expression_statement") and _may_leave(node):
        yield Stop(odd(node).what)
        return
    if kind == "compound_statement":
        # Always true, so that what it declares ends with it.
        yield If(Number(1), statements(children(node)), ())
    elif kind == "return_statement":
        value = children(node)
        yield Return(expression(value[0]) if len(value) == 1 else odd(node), node.start_point[0] + 1)
    elif kind == "if_statement":
        yield _branch(node)
    elif kind in ("preproc_if", "preproc_ifdef", "preproc_elif", "preproc_elifdef"):
        yield _directive(node)
    elif kind == "declaration":
        yield from _declaration(node)
    elif kind == "expression_statement":
        yield from _effect(node)
    else:
        yield Stop(odd(node).what)


def _may_leave(node: Node) -> bool:
    """Whether statements stand inside of an expression, which may return; a lambda's may run at any time."""
    return any(below.type in ("compound_statement", "lambda_expression") for below in within(node))


def _branch(node: Node) -> Statement:
    clause = field(node, "condition")
    if clause.child_by_field_name("initializer") is not None or _may_leave(clause):
        return Stop(odd(clause).what)
    other = node.child_by_field_name("alternative")
    return If(
        expression(field(clause, "value")),
        statements([field(node, "consequence")]),
        statements(children(other)) if other is not None else (),
    )


def _directive(node: Node) -> Statement:
    head = node.child_by_field_name("condition") or node.child_by_field_name("name")
    other = node.child_by_field_name("alternative")
    if head is None:
        return Stop(odd(node).what)
    test: Expr = expression(head)
    if node.child_by_field_name("name") is not None:
        test = Defined(text_of(head))
        if node.children[0].type in ("#ifndef", "#elifndef"):
            test = Apply("!", (test,))
    then = [part for part in children(node) if part not in (head, other)]
    if other is not None and other.type == "preproc_else":
        return If(test, statements(then), statements(children(other)), directive=True)
    return If(test, statements(then), statements([other] if other else []), directive=True)


def _declaration(node: Node) -> Iterator[Statement]:
    kind = _kind(node)
    for declarator in node.children_by_field_name("declarator"):
        if declarator.type == "identifier":
            yield Let(text_of(declarator), kind, Odd(f"{text_of(declarator)} before it is set"))
            continue
        name, value = declarator.child_by_field_name("declarator"), declarator.child_by_field_name("value")
        if name is None or value is None or name.type != "identifier":
            yield Stop(odd(declarator).what)
        else:
            yield Let(text_of(name), kind, expression(value))


def _effect(node: Node) -> Iterator[Statement]:
    """Lower `x = value;` and `query(&x);`; a call that is made for anything else ends what is known."""
    parts = children(node)
    if not parts:
        return
    inner = parts[0]
    if (check := _check(inner)) is not None:
        yield check
        return
    if inner.type == "assignment_expression" and text_of(inner.child_by_field_name("operator")) == "=":
        target = field(inner, "left")
        if target.type == "identifier":
            yield Let(text_of(target), "", expression(field(inner, "right")))
            return
    arguments = children(field(inner, "arguments")) if inner.type == "call_expression" else []
    call = call_of(inner) if arguments else None
    if isinstance(call, Call) and len(arguments) == 1 and arguments[0].type == "pointer_expression":
        target = field(arguments[0], "argument")
        if target.type == "identifier" and text_of(arguments[0]).startswith("&"):
            yield Let(text_of(target), "", Call(call.name, ()))
            return
    yield Stop(odd(inner).what)


def _check(node: Node) -> Check | None:
    """Lower `TORCH_CHECK(test, words...)`, and the other macros that raise where their test is false."""
    if node.type != "call_expression" or text_of(field(node, "function")) not in CHECKS:
        return None
    given = children(field(node, "arguments"))
    if not given:
        return None
    words = tuple(map(expression, given[1:]))
    written = " ".join(text_of(given[0]).split())
    return Check(
        text_of(field(node, "function")), expression(given[0]), written, words, node.start_point[0] + 1
    )
