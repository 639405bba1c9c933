"""The small tree that engine source is lowered to: what the evaluator walks, and nothing else.

Every node keeps the 1-based line of its first character in the file it came from. Comments, formatting and
annotations of locals are gone; what the evaluator has no meaning for is kept as `Unsupported` with its kind.
"""

from __future__ import annotations

from msgspec import Struct


class Node(Struct, frozen=True, gc=False):
    line: int


# --- expressions


class Const(Node, frozen=True, gc=False):
    """A literal: None, bool, int, float, complex, str, bytes or Ellipsis."""

    value: object


class Name(Node, frozen=True, gc=False):
    id: str


class Attr(Node, frozen=True, gc=False):
    value: Node
    name: str


class Index(Node, frozen=True, gc=False):
    """`value[key]`; several subscripts are one `Tuple` key."""

    value: Node
    key: Node


class Slice(Node, frozen=True, gc=False):
    lower: Node | None
    upper: Node | None
    step: Node | None


class Arg(Struct, frozen=True, gc=False):
    """One argument of a call: `star` is 0, 1 for `*value` or 2 for `**value`."""

    value: Node
    name: str | None = None
    star: int = 0


class Call(Node, frozen=True, gc=False):
    func: Node
    args: tuple[Arg, ...]


class Unary(Node, frozen=True, gc=False):
    """`op` is one of `not - + ~`."""

    op: str
    value: Node


class Binary(Node, frozen=True, gc=False):
    """`op` is one of `+ - * / // % ** @ & | ^ << >>`."""

    op: str
    left: Node
    right: Node


class Bool(Node, frozen=True, gc=False):
    """`op` is `and` or `or`; two or more values, short-circuit from the left."""

    op: str
    values: tuple[Node, ...]


class Compare(Node, frozen=True, gc=False):
    """`left ops[0] rights[0] ops[1] rights[1] ...`; ops: `== != < <= > >= is`, `is not`, `in`, `not in`."""

    left: Node
    ops: tuple[str, ...]
    rights: tuple[Node, ...]


class IfExp(Node, frozen=True, gc=False):
    test: Node
    body: Node
    orelse: Node


class Star(Node, frozen=True, gc=False):
    """`*value` inside a display, a target or a subscript."""

    value: Node


class Display(Node, frozen=True, gc=False):
    """A `tuple`, `list` or `set` display (`kind`), elements possibly `Star`."""

    kind: str
    items: tuple[Node, ...]


class DictDisplay(Node, frozen=True, gc=False):
    """Pairs in order; a key of None is `**value`."""

    items: tuple[tuple[Node | None, Node], ...]


class Lambda(Node, frozen=True, gc=False):
    params: Params
    body: Node


class Clause(Struct, frozen=True, gc=False):
    """One `for target in iter if tests...` of a comprehension."""

    target: Node
    iter: Node
    tests: tuple[Node, ...]
    is_async: bool = False


class Comprehension(Node, frozen=True, gc=False):
    """`kind` is `list`, `set`, `dict` or `generator`; `value` only for `dict`."""

    kind: str
    item: Node
    value: Node | None
    fors: tuple[Clause, ...]


class Format(Node, frozen=True, gc=False):
    """One replacement field of an f-string: `{value!conversion:spec}`.

    `conversion` is empty, `s`, `r` or `a`; `spec` is a `Const` or, with fields of its own, an `FString`.
    """

    value: Node
    conversion: str
    spec: Node | None


class FString(Node, frozen=True, gc=False):
    """Parts are `Const` strings and at least one `Format`; implicit concatenation is merged into one.

    An f-string without fields is a `Const`.
    """

    parts: tuple[Node, ...]


class Walrus(Node, frozen=True, gc=False):
    target: Node
    value: Node


class Yield(Node, frozen=True, gc=False):
    """`yield value`, or `yield from value` when `from_`."""

    value: Node | None
    from_: bool


class Await(Node, frozen=True, gc=False):
    value: Node


class Unsupported(Node, frozen=True, gc=False):
    """Anything else, as expression or statement: `kind` is libcst's class name."""

    kind: str


# --- statements


class Param(Struct, frozen=True, gc=False):
    """One parameter; `kind` is `pos` (positional only), `any`, `star` (`*args`), `kw` or `kwargs`."""

    name: str
    kind: str
    default: Node | None = None
    annotation: Node | None = None


class Params(Struct, frozen=True, gc=False):
    items: tuple[Param, ...]


class ExprStmt(Node, frozen=True, gc=False):
    value: Node


class Assign(Node, frozen=True, gc=False):
    """`targets[0] = targets[1] = ... = value`."""

    targets: tuple[Node, ...]
    value: Node


class AnnAssign(Node, frozen=True, gc=False):
    target: Node
    annotation: Node
    value: Node | None


class AugAssign(Node, frozen=True, gc=False):
    """`target op= value`; `op` as in `Binary`, without the `=`."""

    target: Node
    op: str
    value: Node


class Return(Node, frozen=True, gc=False):
    value: Node | None


class Raise(Node, frozen=True, gc=False):
    exc: Node | None
    cause: Node | None


class Assert(Node, frozen=True, gc=False):
    test: Node
    message: Node | None


class Delete(Node, frozen=True, gc=False):
    targets: tuple[Node, ...]


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


class Alias(Struct, frozen=True, gc=False):
    name: str
    asname: str | None = None


class Import(Node, frozen=True, gc=False):
    aliases: tuple[Alias, ...]


class ImportFrom(Node, frozen=True, gc=False):
    """`from <level dots><module> import aliases`; one alias named `*` is a star import."""

    module: str
    level: int
    aliases: tuple[Alias, ...]


Block = tuple[Node, ...]


class If(Node, frozen=True, gc=False):
    test: Node
    body: Block
    orelse: Block


class For(Node, frozen=True, gc=False):
    target: Node
    iter: Node
    body: Block
    orelse: Block
    is_async: bool = False


class While(Node, frozen=True, gc=False):
    test: Node
    body: Block
    orelse: Block


class Handler(Struct, frozen=True, gc=False):
    type: Node | None
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

    items: tuple[tuple[Node, Node | None], ...]
    body: Block
    is_async: bool = False


class FunctionDef(Node, frozen=True, gc=False):
    """`is_generator` when its own body (not a nested one) yields; `returns` is the annotation."""

    name: str
    params: Params
    body: Block
    decorators: tuple[Node, ...]
    returns: Node | None
    is_async: bool = False
    is_generator: bool = False


class ClassDef(Node, frozen=True, gc=False):
    """Keyword arguments of the bases (`metaclass=`) are `Arg`s with a name."""

    name: str
    bases: tuple[Arg, ...]
    body: Block
    decorators: tuple[Node, ...]
