"""Lowering, against an independent oracle: the same tree made from `ast`, lines included."""

from __future__ import annotations

import ast
import gc
import io
import sys
import tokenize
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from msgspec import Struct

from qtrace.tracer import tree
from qtrace.tracer.index import SourceSyntaxError
from qtrace.tracer.lower import lower_block

SAMPLE = Path(__file__).parent.parent / "data" / "lower" / "constructs.py.txt"

# --- the oracle

OPERATORS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.MatMult: "@", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
    ast.Not: "not", ast.USub: "-", ast.UAdd: "+", ast.Invert: "~", ast.And: "and", ast.Or: "or",
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Is: "is",
    ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip


def oracle(text: str) -> tree.Block:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return block(ast.parse(text).body)


def block(nodes: Sequence[ast.stmt]) -> tree.Block:
    return tuple(one(node) for node in nodes if not is_docstring(node))


def is_docstring(node: ast.stmt) -> bool:
    if not isinstance(node, ast.Expr):
        return False
    value = one(node.value)
    return isinstance(value, tree.Const) and isinstance(value.value, str)


def one(node: ast.AST) -> Any:
    return ORACLE[type(node)](node)


def maybe(node: ast.AST | None) -> Any:
    return None if node is None else one(node)


def many(nodes: Sequence[ast.AST]) -> tuple[Any, ...]:
    return tuple(map(one, nodes))


def operator(node: ast.AST) -> str:
    return OPERATORS[type(node)]


def arguments(nodes: Sequence[ast.expr | ast.keyword]) -> tuple[tree.Arg, ...]:
    return tuple(map(argument, sorted(nodes, key=lambda node: (node.lineno, node.col_offset))))


def argument(node: ast.expr | ast.keyword) -> tree.Arg:
    if isinstance(node, ast.keyword):
        return tree.Arg(one(node.value), node.arg, 0 if node.arg else 2)
    if isinstance(node, ast.Starred):
        return tree.Arg(one(node.value), None, 1)
    return tree.Arg(one(node))


def parameters(node: ast.arguments) -> tree.Params:
    positional = [*node.posonlyargs, *node.args]
    defaults = [*[None] * (len(positional) - len(node.defaults)), *node.defaults]
    kinds = ["pos"] * len(node.posonlyargs) + ["any"] * len(node.args)
    items = [parameter(*each) for each in zip(positional, kinds, defaults, strict=True)]
    items += [parameter(node.vararg, "star", None)] if node.vararg else []
    items += [
        parameter(arg, "kw", value) for arg, value in zip(node.kwonlyargs, node.kw_defaults, strict=True)
    ]
    items += [parameter(node.kwarg, "kwargs", None)] if node.kwarg else []
    return tree.Params(tuple(items))


def parameter(node: ast.arg, kind: str, default: ast.expr | None) -> tree.Param:
    return tree.Param(node.arg, kind, maybe(default), maybe(node.annotation))


def fors(nodes: Sequence[ast.comprehension]) -> tuple[tree.Clause, ...]:
    return tuple(
        tree.Clause(one(each.target), one(each.iter), many(each.ifs), bool(each.is_async)) for each in nodes
    )


def joined(node: ast.JoinedStr) -> tree.Node:
    parts = tuple(part for part in many(node.values) if part != tree.Const(part.line, ""))
    if any(isinstance(part, tree.Format) for part in parts):
        return tree.FString(node.lineno, parts)
    return tree.Const(node.lineno, "".join(part.value for part in parts))


def formatted(node: ast.FormattedValue) -> tree.Format:
    conversion = chr(node.conversion) if node.conversion > 0 else ""
    return tree.Format(node.lineno, one(node.value), conversion, maybe(node.format_spec))


def function(node: ast.FunctionDef | ast.AsyncFunctionDef) -> tree.FunctionDef:
    return tree.FunctionDef(
        node.lineno,
        node.name,
        parameters(node.args),
        block(node.body),
        many(node.decorator_list),
        maybe(node.returns),
        isinstance(node, ast.AsyncFunctionDef),
        any(map(yields, node.body)),
    )


def yields(node: ast.AST) -> bool:
    """Whether running this runs a `yield` of the function around it."""
    if isinstance(node, ast.Yield | ast.YieldFrom):
        return True
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        now: list[ast.AST | None] = [*node.args.defaults, *node.args.kw_defaults]
        now += getattr(node, "decorator_list", [])
        return any(yields(each) for each in now if each is not None)
    return any(map(yields, ast.iter_child_nodes(node)))


def unsupported(kind: str) -> Callable[[ast.AST], tree.Unsupported]:
    return lambda node: tree.Unsupported(node.lineno, kind)  # type: ignore[attr-defined]


def with_(node: ast.With | ast.AsyncWith) -> tree.With:
    items = tuple((one(item.context_expr), maybe(item.optional_vars)) for item in node.items)
    return tree.With(node.lineno, items, block(node.body), isinstance(node, ast.AsyncWith))


def for_(node: ast.For | ast.AsyncFor) -> tree.For:
    is_async = isinstance(node, ast.AsyncFor)
    return tree.For(
        node.lineno, one(node.target), one(node.iter), block(node.body), block(node.orelse), is_async
    )


def try_(node: ast.Try) -> tree.Try:
    handlers = tuple(
        tree.Handler(maybe(each.type), each.name, block(each.body), each.lineno) for each in node.handlers
    )
    return tree.Try(node.lineno, block(node.body), handlers, block(node.orelse), block(node.finalbody))


def aliases(nodes: Sequence[ast.alias]) -> tuple[tree.Alias, ...]:
    return tuple(tree.Alias(each.name, each.asname) for each in nodes)


ORACLE: dict[type[ast.AST], Callable[[Any], Any]] = {
    ast.Constant: lambda n: tree.Const(n.lineno, n.value),
    ast.Name: lambda n: tree.Name(n.lineno, n.id),
    ast.Attribute: lambda n: tree.Attr(n.lineno, one(n.value), n.attr),
    ast.Subscript: lambda n: tree.Index(n.lineno, one(n.value), one(n.slice)),
    ast.Slice: lambda n: tree.Slice(n.lineno, maybe(n.lower), maybe(n.upper), maybe(n.step)),
    ast.Call: lambda n: tree.Call(n.lineno, one(n.func), arguments([*n.args, *n.keywords])),
    ast.UnaryOp: lambda n: tree.Unary(n.lineno, operator(n.op), one(n.operand)),
    ast.BinOp: lambda n: tree.Binary(n.lineno, operator(n.op), one(n.left), one(n.right)),
    ast.BoolOp: lambda n: tree.Bool(n.lineno, operator(n.op), many(n.values)),
    ast.Compare: lambda n: tree.Compare(
        n.lineno, one(n.left), tuple(map(operator, n.ops)), many(n.comparators)
    ),
    ast.IfExp: lambda n: tree.IfExp(n.lineno, one(n.test), one(n.body), one(n.orelse)),
    ast.Starred: lambda n: tree.Star(n.lineno, one(n.value)),
    ast.Tuple: lambda n: tree.Display(n.lineno, "tuple", many(n.elts)),
    ast.List: lambda n: tree.Display(n.lineno, "list", many(n.elts)),
    ast.Set: lambda n: tree.Display(n.lineno, "set", many(n.elts)),
    ast.Dict: lambda n: tree.DictDisplay(
        n.lineno, tuple((maybe(key), one(value)) for key, value in zip(n.keys, n.values, strict=True))
    ),
    ast.Lambda: lambda n: tree.Lambda(n.lineno, parameters(n.args), one(n.body)),
    ast.ListComp: lambda n: tree.Comprehension(n.lineno, "list", one(n.elt), None, fors(n.generators)),
    ast.SetComp: lambda n: tree.Comprehension(n.lineno, "set", one(n.elt), None, fors(n.generators)),
    ast.GeneratorExp: lambda n: tree.Comprehension(
        n.lineno, "generator", one(n.elt), None, fors(n.generators)
    ),
    ast.DictComp: lambda n: tree.Comprehension(
        n.lineno, "dict", one(n.key), one(n.value), fors(n.generators)
    ),
    ast.JoinedStr: joined,
    ast.FormattedValue: formatted,
    ast.NamedExpr: lambda n: tree.Walrus(n.lineno, one(n.target), one(n.value)),
    ast.Yield: lambda n: tree.Yield(n.lineno, maybe(n.value), False),
    ast.YieldFrom: lambda n: tree.Yield(n.lineno, one(n.value), True),
    ast.Await: lambda n: tree.Await(n.lineno, one(n.value)),
    ast.Expr: lambda n: tree.ExprStmt(n.lineno, one(n.value)),
    ast.Assign: lambda n: tree.Assign(n.lineno, many(n.targets), one(n.value)),
    ast.AnnAssign: lambda n: tree.AnnAssign(n.lineno, one(n.target), one(n.annotation), maybe(n.value)),
    ast.AugAssign: lambda n: tree.AugAssign(n.lineno, one(n.target), operator(n.op), one(n.value)),
    ast.Return: lambda n: tree.Return(n.lineno, maybe(n.value)),
    ast.Raise: lambda n: tree.Raise(n.lineno, maybe(n.exc), maybe(n.cause)),
    ast.Assert: lambda n: tree.Assert(n.lineno, one(n.test), maybe(n.msg)),
    ast.Delete: lambda n: tree.Delete(n.lineno, many(n.targets)),
    ast.Pass: lambda n: tree.Pass(n.lineno),
    ast.Break: lambda n: tree.Break(n.lineno),
    ast.Continue: lambda n: tree.Continue(n.lineno),
    ast.Global: lambda n: tree.Global(n.lineno, "global", tuple(n.names)),
    ast.Nonlocal: lambda n: tree.Global(n.lineno, "nonlocal", tuple(n.names)),
    ast.Import: lambda n: tree.Import(n.lineno, aliases(n.names)),
    ast.ImportFrom: lambda n: tree.ImportFrom(n.lineno, n.module or "", n.level, aliases(n.names)),
    ast.If: lambda n: tree.If(n.lineno, one(n.test), block(n.body), block(n.orelse)),
    ast.For: for_,
    ast.AsyncFor: for_,
    ast.While: lambda n: tree.While(n.lineno, one(n.test), block(n.body), block(n.orelse)),
    ast.Try: try_,
    ast.TryStar: unsupported("TryStar"),
    ast.With: with_,
    ast.AsyncWith: with_,
    ast.Match: unsupported("Match"),
    ast.FunctionDef: function,
    ast.AsyncFunctionDef: function,
    ast.ClassDef: lambda n: tree.ClassDef(
        n.lineno, n.name, arguments([*n.bases, *n.keywords]), block(n.body), many(n.decorator_list)
    ),
}

if sys.version_info >= (3, 12):
    ORACLE[ast.TypeAlias] = unsupported("TypeAlias")

# Before 3.12 `ast` gives the pieces of an f-string the line of the whole, or a wrong one.
FSTRING_LINES = sys.version_info >= (3, 12)


def flat(value: Any, depth: str = "", lines: bool = True) -> list[str]:
    """One text line for each node and plain value, so that a difference shows where it is; 1 is not True."""
    if isinstance(value, tuple):
        return [line for place, each in enumerate(value) for line in flat(each, f"{depth}/{place}", lines)]
    if not isinstance(value, Struct):
        return [f"{depth} {value!r}"]
    shown = [
        f"{depth} {type(value).__name__}" + (f" @{value.line}" if lines and hasattr(value, "line") else "")
    ]
    lines = lines and (FSTRING_LINES or not isinstance(value, tree.FString))
    for name in value.__struct_fields__:
        if name != "line":
            shown += flat(getattr(value, name), f"{depth}.{name}", lines)
    return shown


# --- against the oracle


def test_every_construct_equals_what_ast_says() -> None:
    text = SAMPLE.read_text("utf-8")
    assert flat(lower_block(text, 1)) == flat(oracle(text))


def simple_statements(text: str) -> Iterator[str]:
    """Each simple statement of a text on one line, without those with f-strings: they cannot be spread."""
    for node in ast.walk(ast.parse(text)):
        spreads = not any(isinstance(each, ast.JoinedStr) for each in ast.walk(node))
        if isinstance(node, ast.stmt) and not hasattr(node, "body") and spreads:
            yield ast.unparse(node).replace("\n", "\\n")


with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    SIMPLE = sorted(set(simple_statements(SAMPLE.read_text("utf-8"))))
ANYWHERE = st.sampled_from([" ", " ", " \\\n", "\\\n\t"])
IN_BRACKETS = st.sampled_from([" ", "\n", "  # a note\n", "\n\n\n  ", " \\\n ", "\n# one\n  # two\n"])


@settings(max_examples=300)
@given(st.sampled_from(SIMPLE), st.data())
def test_lines_are_right_however_a_statement_is_spread(statement: str, data: st.DataObject) -> None:
    tokens = [each.string for each in tokenize.generate_tokens(io.StringIO(statement).readline)]
    text, depth = "", 0
    for token in filter(str.strip, tokens):
        depth += (token in ("(", "[", "{")) - (token in (")", "]", "}"))
        # libcst 1.9 fails on a newline between `async` and `for`
        text += token + data.draw(IN_BRACKETS if depth and token != "async" else ANYWHERE)
    text += ";"
    assert flat(lower_block(text, 1)) == flat(oracle(text))


@given(
    st.one_of(st.text(), st.binary(), st.integers(min_value=0), st.floats(min_value=0, allow_infinity=False))
)
def test_a_literal_means_what_python_means(value: object) -> None:
    assert lower_block(f"x = {value!r}", 1)[0] == tree.Assign(1, (tree.Name(1, "x"),), tree.Const(1, value))


@given(
    st.text(alphabet="\\\\'\"abxuUN01789{}\n\té", max_size=12),
    st.sampled_from(["", "b", "r", "f", "rb", "fR"]),
)
def test_escapes_mean_what_python_means(body: str, prefix: str) -> None:
    token = f"{prefix}'''{body}'''"
    try:
        expected = oracle(f"x = {token}")
    except (SyntaxError, ValueError):
        return
    if "{" not in body.replace("{{", ""):
        assert flat(lower_block(f"x = {token}", 1)) == flat(expected)


# --- segments


def test_an_indented_segment_keeps_its_strings_and_its_lines() -> None:
    segment = "    def f(self):\n        return '''\n    two''', (\n            x)\n"
    (function,) = lower_block(segment, 41)
    assert isinstance(function, tree.FunctionDef)
    assert function.line == 41
    (returned,) = function.body
    assert returned == tree.Return(
        42, tree.Display(42, "tuple", (tree.Const(42, "\n    two"), tree.Name(44, "x")))
    )


@pytest.mark.parametrize("lead", ["\n\n", "# at the margin\n", "    # indented\n\n", "\f\n", "  \f\n# x\n"])
def test_lines_before_the_first_statement_count(lead: str) -> None:
    place = 10 + lead.count("\n")
    assert lower_block(f"{lead}    x\n    y", 10) == (
        tree.ExprStmt(place, tree.Name(place, "x")),
        tree.ExprStmt(place + 1, tree.Name(place + 1, "y")),
    )


def test_newlines_of_other_systems_and_a_byte_order_mark_change_nothing() -> None:
    text = "x = (\n1)\n\nif y:\n    z = '''a\nb'''\n"
    assert lower_block("\ufeff" + text.replace("\n", "\r\n"), 1) == lower_block(text, 1)
    assert lower_block(text.replace("\n", "\r"), 1) == lower_block(text, 1)


def test_a_decorated_definition_stands_where_its_keyword_is() -> None:
    (first, second) = lower_block("@a\n# note\n@b(\n1)\n\ndef f(): pass\n@c\nclass D: pass", 1)
    assert (first.line, second.line) == (6, 8)


def test_nothing_is_lowered_to_nothing() -> None:
    assert lower_block("", 1) == ()
    assert lower_block("    \n\t\n", 1) == ()
    assert lower_block('# only a comment\n\n"only a docstring"\n', 1) == ()


# --- what the tree has no node for


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("match x:\n    case 1:\n        pass\n    # note\n\n    case _: pass\n", "Match"),
        ("try:\n    pass\nexcept* (\n  A): pass\n", "TryStar"),
        ("type X = list[\n    int]; pass\n", "TypeAlias"),
    ],
)
def test_an_unsupported_statement_keeps_its_kind_and_the_lines_after_it(text: str, kind: str) -> None:
    lowered = lower_block(f"\n{text}x", 1)
    last = text.count("\n") + 2
    assert lowered[0] == tree.Unsupported(2, kind)
    assert lowered[-1] == tree.ExprStmt(last, tree.Name(last, "x"))


def test_a_yield_inside_an_unsupported_statement_makes_a_generator() -> None:
    (inside,) = lower_block("def f():\n    match x:\n        case 1:\n            yield", 1)
    (nested,) = lower_block("def f():\n    match x:\n        case 1:\n            def g(): yield", 1)
    assert isinstance(inside, tree.FunctionDef) and inside.is_generator
    assert isinstance(nested, tree.FunctionDef) and not nested.is_generator


def test_syntax_newer_than_this_python_is_read() -> None:
    (lowered,) = lower_block("def f[T: int, *Ts](x: T) -> str:\n    return f'{x['a']}'\n", 1)
    assert isinstance(lowered, tree.FunctionDef)
    key = tree.Index(2, tree.Name(2, "x"), tree.Const(2, "a"))
    assert lowered.body == (tree.Return(2, tree.FString(2, (tree.Format(2, key, "", None),))),)


# --- refusals


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("x =\n", 7),
        ("x\ny = = 1\nz\n", 8),
        ("  x\n  y z\n", 8),
        ("    \\\n    x = 1\n", 8),
        ("[x async\n for x in y]", 7),
    ],
)
def test_what_cannot_be_read_names_its_line(text: str, line: int) -> None:
    with pytest.raises(SourceSyntaxError) as caught:
        lower_block(text, 7)
    assert caught.value.line == line


def test_a_line_that_libcst_loses_is_refused_rather_than_miscounted() -> None:
    with pytest.raises(SourceSyntaxError, match="lost 1 line"):
        lower_block("\\\nx = 1\ny = 2\n", 1)


def test_the_garbage_collector_is_left_as_it_was() -> None:
    assert gc.isenabled()
    with pytest.raises(SourceSyntaxError):
        lower_block("x =", 1)
    assert gc.isenabled()
