"""The small tree that engine source is lowered to: what the evaluator walks, and nothing else.

Every node keeps the 1-based line of its first character in the file it came from. Comments, formatting and
annotations of locals are gone; what the evaluator has no meaning for is kept as `Unsupported` with its kind.
Written down (tracer.kept), a node is an array that begins with the name of its class.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Union

from msgspec import Struct


class Node(Struct, frozen=True, gc=False, array_like=True, tag=True):
    line: int


# --- expressions


class Const(Node, frozen=True, gc=False):
    """A literal: None, bool, int, float, complex, str, bytes or Ellipsis."""

    value: object


class Name(Node, frozen=True, gc=False):
    id: str


class Attr(Node, frozen=True, gc=False):
    value: Part
    name: str


class Index(Node, frozen=True, gc=False):
    """`value[key]`; several subscripts are one `Tuple` key."""

    value: Part
    key: Part


class Slice(Node, frozen=True, gc=False):
    lower: Part | None
    upper: Part | None
    step: Part | None


class Arg(Struct, frozen=True, gc=False, array_like=True):
    """One argument of a call: `star` is 0, 1 for `*value` or 2 for `**value`."""

    value: Part
    name: str | None = None
    star: int = 0


class Call(Node, frozen=True, gc=False):
    func: Part
    args: tuple[Arg, ...]


class Unary(Node, frozen=True, gc=False):
    """`op` is one of `not - + ~`."""

    op: str
    value: Part


class Binary(Node, frozen=True, gc=False):
    """`op` is one of `+ - * / // % ** @ & | ^ << >>`."""

    op: str
    left: Part
    right: Part


class Bool(Node, frozen=True, gc=False):
    """`op` is `and` or `or`; two or more values, short-circuit from the left."""

    op: str
    values: tuple[Part, ...]


class Compare(Node, frozen=True, gc=False):
    """`left ops[0] rights[0] ops[1] rights[1] ...`; ops: `== != < <= > >= is`, `is not`, `in`, `not in`."""

    left: Part
    ops: tuple[str, ...]
    rights: tuple[Part, ...]


class IfExp(Node, frozen=True, gc=False):
    test: Part
    body: Part
    orelse: Part


class Star(Node, frozen=True, gc=False):
    """`*value` inside a display, a target or a subscript."""

    value: Part


class Display(Node, frozen=True, gc=False):
    """A `tuple`, `list` or `set` display (`kind`), elements possibly `Star`."""

    kind: str
    items: tuple[Part, ...]


class DictDisplay(Node, frozen=True, gc=False):
    """Pairs in order; a key of None is `**value`."""

    items: tuple[tuple[Part | None, Part], ...]


class Lambda(Node, frozen=True, gc=False):
    params: Params
    body: Part


class Clause(Struct, frozen=True, gc=False, array_like=True):
    """One `for target in iter if tests...` of a comprehension."""

    target: Part
    iter: Part
    tests: tuple[Part, ...]
    is_async: bool = False


class Comprehension(Node, frozen=True, gc=False):
    """`kind` is `list`, `set`, `dict` or `generator`; `value` only for `dict`."""

    kind: str
    item: Part
    value: Part | None
    fors: tuple[Clause, ...]


class Format(Node, frozen=True, gc=False):
    """One replacement field of an f-string: `{value!conversion:spec}`.

    `conversion` is empty, `s`, `r` or `a`; `spec` is a `Const` or, with fields of its own, an `FString`.
    """

    value: Part
    conversion: str
    spec: Part | None


class FString(Node, frozen=True, gc=False):
    """Parts are `Const` strings and at least one `Format`; implicit concatenation is merged into one.

    An f-string without fields is a `Const`.
    """

    parts: tuple[Part, ...]


class Walrus(Node, frozen=True, gc=False):
    target: Part
    value: Part


class Yield(Node, frozen=True, gc=False):
    """`yield value`, or `yield from value` when `from_`."""

    value: Part | None
    from_: bool


class Await(Node, frozen=True, gc=False):
    value: Part


class Unsupported(Node, frozen=True, gc=False):
    """Anything else, as expression or statement: `kind` is libcst's class name."""

    kind: str


# --- statements


class Param(Struct, frozen=True, gc=False, array_like=True):
    """One parameter; `kind` is `pos` (positional only), `any`, `star` (`*args`), `kw` or `kwargs`."""

    name: str
    kind: str
    default: Part | None = None
    annotation: Part | None = None


class Params(Struct, frozen=True, gc=False, array_like=True):
    items: tuple[Param, ...]


class ExprStmt(Node, frozen=True, gc=False):
    value: Part


class Assign(Node, frozen=True, gc=False):
    """`targets[0] = targets[1] = ... = value`."""

    targets: tuple[Part, ...]
    value: Part


class AnnAssign(Node, frozen=True, gc=False):
    target: Part
    annotation: Part
    value: Part | None


class AugAssign(Node, frozen=True, gc=False):
    """`target op= value`; `op` as in `Binary`, without the `=`."""

    target: Part
    op: str
    value: Part


class Return(Node, frozen=True, gc=False):
    value: Part | None


class Raise(Node, frozen=True, gc=False):
    exc: Part | None
    cause: Part | None


class Assert(Node, frozen=True, gc=False):
    test: Part
    message: Part | None


class Delete(Node, frozen=True, gc=False):
    targets: tuple[Part, ...]


class Pass(Node, frozen=True, gc=False):
    pass


class Break(Node, frozen=True, gc=False):
    pass


class Continue(Node, frozen=True, gc=False):
    pass


class Global(Node, frozen=True, gc=False):
    """`global` or `nonlocal` (`kind`)."""

    kind: str
    names: tuple[str, ...]


class Alias(Struct, frozen=True, gc=False, array_like=True):
    name: str
    asname: str | None = None


class Import(Node, frozen=True, gc=False):
    aliases: tuple[Alias, ...]


class ImportFrom(Node, frozen=True, gc=False):
    """`from <level dots><module> import aliases`; one alias named `*` is a star import."""

    module: str
    level: int
    aliases: tuple[Alias, ...]


class If(Node, frozen=True, gc=False):
    test: Part
    body: Block
    orelse: Block


class For(Node, frozen=True, gc=False):
    target: Part
    iter: Part
    body: Block
    orelse: Block
    is_async: bool = False


class While(Node, frozen=True, gc=False):
    test: Part
    body: Block
    orelse: Block


class Handler(Struct, frozen=True, gc=False, array_like=True):
    type: Part | None
    name: str | None
    body: Block
    line: int


class Try(Node, frozen=True, gc=False):
    body: Block
    handlers: tuple[Handler, ...]
    orelse: Block
    finalbody: Block


class With(Node, frozen=True, gc=False):
    """Items are (context expression, target or None)."""

    items: tuple[tuple[Part, Part | None], ...]
    body: Block
    is_async: bool = False


class FunctionDef(Node, frozen=True, gc=False):
    """`is_generator` when its own body (not a nested one) yields; `returns` is the annotation."""

    name: str
    params: Params
    body: Block
    decorators: tuple[Part, ...]
    returns: Part | None
    is_async: bool = False
    is_generator: bool = False


class ClassDef(Node, frozen=True, gc=False):
    """Keyword arguments of the bases (`metaclass=`) are `Arg`s with a name."""

    name: str
    bases: tuple[Arg, ...]
    body: Block
    decorators: tuple[Part, ...]


# --- what may stand where a node is wanted: to a reader any node, to msgspec the closed list that it decodes

if TYPE_CHECKING:
    Part = Node
else:
    Part = Union[tuple(Node.__subclasses__())]  # noqa: UP007 - of a list that is counted here

Block = tuple[Part, ...]


def nodes(node: Any) -> Iterator[Any]:
    """Every node below, in textual order, nested functions included."""
    yield node
    for part in parts(node):
        yield from nodes(part)


def parts(node: Any) -> Iterator[Any]:
    """The nodes right below one, in textual order."""
    for name in node.__struct_fields__:
        held = getattr(node, name)
        for item in held if isinstance(held, tuple) else (held,):
            for inner in item if isinstance(item, tuple) else (item,):
                if isinstance(inner, Struct):
                    yield inner
