"""Conditions of C++ as predicates: comparisons in their own terms, the rest by its words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from ....report.about import SHAPE
from ....report.predicate import AllOf, AnyOf, Compare, Leaf, Opaque, Predicate, leaves
from ....report.settle import flat, negated
from ..syntax import children, text_of

if TYPE_CHECKING:
    from tree_sitter import Node


class Checked(Struct, frozen=True):
    """What a check has made sure of: told where it turns out to ask for what the scenario may know."""

    item: Predicate


class Ended(Struct, frozen=True):
    """What holds behind an `if` that does nothing but end the function."""

    item: Predicate


Guard = Predicate | Checked | Ended
Guards = tuple[Guard, ...]
"""What must hold together."""

LONGEST = 160
"""Characters of a condition that are kept."""

CAPABILITY = "capability"
MAJOR = "capability // 10"

_TURNED = {"==": "==", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}
"""Comparisons, and what each is with its sides changed."""
_NUMBER = re.compile(r"-?\d[\w.']*")


def words(node: Node | None) -> str:
    """The text of an expression on one line, not too long."""
    text = " ".join(text_of(node).split()) if node is not None else ""
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def condition(node: Node | None, subject: str | None = None) -> Predicate:
    """A condition; with a subject, that it equals what the node says."""
    if node is None:
        return Opaque(f"{subject} is none of the other cases" if subject else "a condition")
    if subject is not None:
        return Compare(subject, "==", dtype_of(words(node)))
    kind = node.type
    if kind == "parenthesized_expression" and len(children(node)) == 1:
        return condition(children(node)[0])
    operator = text_of(node.child_by_field_name("operator"))
    if kind == "unary_expression" and operator in ("!", "not"):
        return negated(condition(node.child_by_field_name("argument")))
    if kind == "binary_expression":
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if operator in ("&&", "||", "and", "or"):
            parts = (condition(left), condition(right))
            return AllOf(flat(AllOf, parts)) if operator in ("&&", "and") else AnyOf(flat(AnyOf, parts))
        if operator in _TURNED:
            return _compared(words(left), operator, words(right))
    return Opaque(words(node))


def _compared(left: str, operator: str, right: str) -> Compare:
    """A comparison, the number at its right."""
    if _NUMBER.fullmatch(left) and not _NUMBER.fullmatch(right):
        left, operator, right = right, _TURNED[operator], left
    return Compare(left, operator, dtype_of(right))


DTYPES = {
    "Float": "float32",
    "Double": "float64",
    "Half": "float16",
    "BFloat16": "bfloat16",
    "Byte": "uint8",
    "Char": "int8",
    "Short": "int16",
    "Int": "int32",
    "Long": "int64",
    "Bool": "bool",
}
"""What C++ calls the dtypes whose names differ from Python's but for capitals."""
_TYPE = re.compile(r"(?:\w+::)*ScalarType::(\w+)|at::k(\w+)|torch::k(\w+)")


def dtype_of(text: str) -> str:
    """A dtype of torch as Python writes it; other words as they are."""
    found = _TYPE.fullmatch(text)
    name = next((part for part in found.groups() if part), "") if found else ""
    return DTYPES.get(name, name[:1].lower() + name[1:]) if name else text


def is_dtype(test: Compare) -> bool:
    """Whether a comparison is of a tensor's dtype."""
    return (
        test.left.endswith("scalar_type()") or test.left.endswith("dtype()") or test.right in DTYPES.values()
    )


def decidable(test: Predicate) -> bool:
    """Whether a condition asks for what the scenario may know: the capability, or a tensor's dtype."""
    return any(map(_is_known, leaves(test)))


def _is_known(leaf: Leaf) -> bool:
    return isinstance(leaf, Compare) and (leaf.left.startswith(CAPABILITY) or is_dtype(leaf))


def of_device_or_tensors(test: Predicate) -> bool:
    """Whether a condition asks for nothing but the capability and dtypes and shapes of tensors."""
    return all(_is_known(leaf) or _is_shape(leaf) for leaf in leaves(test))


def _is_shape(leaf: Leaf) -> bool:
    return isinstance(leaf, Compare) and SHAPE.search(leaf.left) is not None


# A local or a call that may give the capability, or what a device's properties are asked for.
_ASKED = re.compile(r"\w+(?:::\w+)*(?:\(\))?|.*major.*")


def may_ask(test: Predicate) -> bool:
    """Whether a condition may turn out to be decidable, once it is known what its names stand for."""
    return any(_is_known(leaf) or _by_number(leaf) for leaf in leaves(test))


def _by_number(leaf: Leaf) -> bool:
    return isinstance(leaf, Compare) and leaf.right.isdigit() and _ASKED.fullmatch(leaf.left) is not None


def either(tests: list[Predicate]) -> Predicate:
    """Any of these."""
    return tests[0] if len(tests) == 1 else AnyOf(flat(AnyOf, tuple(tests)))
