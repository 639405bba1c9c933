"""The subset of C++ that host functions are read in, as small nodes; what lies outside is `Odd` or `Stop`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct


class Expr(Struct, frozen=True, gc=False):
    pass


class Number(Expr, frozen=True, gc=False):
    value: int


class Name(Expr, frozen=True, gc=False):
    id: str


class Defined(Expr, frozen=True, gc=False):
    """`defined X`"""

    id: str


class Apply(Expr, frozen=True, gc=False):
    op: str
    args: tuple[Expr, ...]


class Call(Expr, frozen=True, gc=False):
    name: str
    args: tuple[Expr, ...]


class Text(Expr, frozen=True, gc=False):
    """A string literal."""

    value: str


class Ask(Expr, frozen=True, gc=False):
    """`target.name(args)`: a tensor asked for its size and the like."""

    target: Expr
    name: str
    args: tuple[Expr, ...]


class Odd(Expr, frozen=True, gc=False):
    """Outside of the subset: the kind of construct, and where."""

    what: str
    names: tuple[str, ...] = ()
    """What it mentions, and so may write."""


class Statement(Struct, frozen=True, gc=False):
    pass


class Return(Statement, frozen=True, gc=False):
    value: Expr
    line: int


class If(Statement, frozen=True, gc=False):
    test: Expr
    then: tuple[Statement, ...]
    other: tuple[Statement, ...]
    directive: bool = False
    """An `#if`: names that are not defined count 0."""


class Let(Statement, frozen=True, gc=False):
    """`int x = value;`, or `x = value;` where the kind is empty."""

    name: str
    kind: str
    value: Expr


class Check(Statement, frozen=True, gc=False):
    """`TORCH_CHECK(test, words...)`: raises where the test is false."""

    macro: str
    test: Expr
    text: str
    """The test as it is written."""
    words: tuple[Expr, ...]
    line: int


class Stop(Statement, frozen=True, gc=False):
    """A statement outside of the subset: whatever comes after it is open."""

    what: str


class Function(Struct, frozen=True):
    """One definition: parameters and locals by kind, `bool`, `int32`, `int64`, `auto`, `text`, `tensor` or
    `other`.
    """

    kind: str
    params: tuple[tuple[str, str], ...]
    body: tuple[Statement, ...]
    path: str
    line: int


def parts(node: Any) -> Iterator[Any]:
    """List every statement and expression under a node or a sequence of them."""
    if isinstance(node, tuple | list):
        for item in node:
            yield from parts(item)
    elif isinstance(node, Expr | Statement):
        yield node
        yield from parts([getattr(node, name) for name in node.__struct_fields__])
