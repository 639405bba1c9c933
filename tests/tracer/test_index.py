"""The index: which lines, which names, and that its lines cut a module into pieces that make the whole."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest
from msgspec.structs import replace

from qtrace.tracer import tree
from qtrace.tracer.index import (
    ClassIndex,
    SourceSyntaxError,
    Statement,
    class_header,
    index_class,
    index_module,
    member_block,
    statement_block,
)
from qtrace.tracer.lower import lower_block

SAMPLE = Path(__file__).parent.parent / "data" / "lower" / "constructs.py.txt"


def only(text: str) -> Statement:
    (statement,) = index_module(dedent(text)).statements
    return statement


def only_class(text: str) -> ClassIndex:
    found = only(text)
    assert isinstance(found, ClassIndex)
    return found


# --- names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("x = y = f(z)", "x y"),
        ("x, (y, *z), [a.b, c[d]] = e", "x y z"),
        ("x: int = 1", "x"),
        ("x: int", "x"),
        ("import a.b, c.d as e", "a e"),
        ("from .m import x, y as z", "x z"),
        ("from m import *", ""),
        ("def f(a, b=(x := 1)): local = 1", "f x"),
        ("async def f(): local = 1", "f"),
        ("@(d := decorate)\nclass C(x := B): member = 1", "C d x"),
        ("for x, y in z: w = 1\nelse: v = 1", "x y w v"),
        ("while x := f(): pass", "x"),
        ("with a as b, c as (d, e.f): g = 1", "b d g"),
        ("try: a = 1\nexcept E as b: c = 1\nelse: d = 1\nfinally: e = 1", "a b c d e"),
        ("if x:\n  for y in z:\n    try: import w\n    except E: w = None", "y w"),
        ("if x:\n  def f(): a = 1\n  class C: b = 1\nelif y: c = 1\nelse: d = 1", "f C c d"),
        ("match x:\n  case [a, *b]: c = 1\n  case {'k': d, **e}: pass\n  case f: pass", "a b c d e f"),
        ("x = [y for y in z if (w := y)]", "x w"),
        ("x = lambda a: (b := a)", "x"),
        ("del x, y.z", "x"),
        ("x += 1", ""),
        ("f(x)", ""),
    ],
)
def test_a_statement_binds(text: str, names: str) -> None:
    assert only(text).binds == frozenset(names.split())


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("x.a = 1", "x"),
        ("x.a.b = x2[1].c[2] = 1", "x x2"),
        ("x[y] = z", "x"),
        ("x[:] = z", "x"),
        ("x += y", "x"),
        ("x.a[1] += y", "x"),
        ("del x[1], y.z, w", "x y"),
        ("x.append(y)", "x y"),
        ("x.a.b['c'].update(y)", "x y"),
        ("x.setdefault(k, []).append(v)", "v x"),
        ("y = x.pop('a')", "x"),
        ("register(x, *y, k=z, **w)", "x y z w"),
        ("y = register(x)", ""),
        ("register('name')(x)", "x"),
        ("await register(x)", "x"),
        ("for x.a in y: z.append(1)", "x z"),
        ("with f() as x[0]: pass", "x"),
        ("if y:\n  try: x[1] = 2\n  finally: z.add(1)", "x z"),
        ("@x.register\ndef f(a=y.pop()): z.append(1)", "x y"),
        ("@x.register('name')\nclass C: pass", "x"),
        ("@register(x)\ndef f(): pass", "x"),
        ("@register\ndef f(): pass", ""),
        ("class C(x.get()):\n  y.append(1)\n  own = {}\n  own[1] = 2\n  def m(self): z.append(1)", "x y"),
        ("class C:\n  @property\n  def p(self): pass\n  @p.setter\n  def p(self, v): pass", ""),
        ("x = [y.strip() for y in z.items() if w.add(y)]", "z w"),
        ("x = lambda: y.append(1)", ""),
        ("x = y[1] + z.a", ""),
    ],
)
def test_a_statement_mutates(text: str, names: str) -> None:
    assert only(text).mutates == frozenset(names.split())


def test_star_imports_are_kept_wherever_they_stand() -> None:
    text = "try:\n    from ..a.b import *\nexcept E:\n    from c import *\nfrom . import *"
    first, second = index_module(text).statements
    assert first.stars == (("a.b", 2), ("c", 0))
    assert second.stars == (("", 1),)


def test_a_name_leads_to_its_statements_in_order() -> None:
    names = index_module("R = {}\ndef f(): pass\nR['a'] = f\nif x: R.update(y)\nR = dict(R)").names
    assert names["R"] == (0, 2, 3, 4)
    assert names["f"] == (1,)
    assert "x" not in names


# --- lines


def test_lines_and_kinds_of_statements() -> None:
    text = '''\
    """Doc
    string."""

    import a
    @d(
        1)
    # note
    @e
    def f():
        pass
    # note
    X = [
        1,
    ]
    X += 1
    class C: pass
    if X:
        pass
    else:
        pass
    f()
    assert f
    '''
    shown = [(s.first_line, s.last_line, s.kind) for s in index_module(dedent(text)).statements]
    assert shown == [
        (1, 2, "expr"),
        (4, 4, "import"),
        (5, 10, "def"),
        (12, 14, "assign"),
        (15, 15, "assign"),
        (16, 16, "class"),
        (17, 20, "compound"),
        (21, 21, "expr"),
        (22, 22, "other"),
    ]


def test_a_decorator_that_begins_on_the_line_after_its_sign_is_not_cut() -> None:
    assert only("@(\n    d)\ndef f(): pass").first_line == 1


def test_statements_that_share_a_line_are_one() -> None:
    first, second, third = index_module("a = 1; b = (\n2); c.d = 3\ne = 4\nimport f; f.g = 5").statements
    assert (first.first_line, first.last_line, first.kind) == (1, 2, "assign")
    assert first.binds == {"a", "b"} and first.mutates == {"c"}
    assert (second.first_line, third.first_line, third.kind) == (3, 4, "other")


@pytest.mark.parametrize("start", ["\ufeff", "\f", "\ufeff\f"])
def test_marks_and_form_feeds_move_no_line(start: str) -> None:
    text = f"{start}a = 1\n\f\nb = '''\f'''\n\fc = 3"
    statements = index_module(text).statements
    assert [each.first_line for each in statements] == [1, 3, 4]
    assert [node for each in statements for node in statement_block(text, each)] == [
        tree.Assign(1, (tree.Name(1, "a"),), tree.Const(1, 1)),
        tree.Assign(3, (tree.Name(3, "b"),), tree.Const(3, "\f")),
        tree.Assign(4, (tree.Name(4, "c"),), tree.Const(4, 3)),
    ]


@pytest.mark.parametrize("newline", ["\r\n", "\r"])
def test_newlines_of_other_systems_count_as_python_counts_them(newline: str) -> None:
    text = "a = '''\n\n'''\n\nclass C:\n    x = 1\n"
    assert index_module(text.replace("\n", newline)) == index_module(text)


# --- classes


CLASS = """\
import a

@register("c")
class C(
    B, metaclass=M
):
    '''Doc.'''

    # note
    x: int = 1
    y, z = 1, 2

    @property
    def p(self): return 1

    @p.setter
    def p(self, value):
        self.x = value

    class Inner(D):
        w = 1

    if a: q = 1
    z.append(3)
"""


def test_members_of_a_class() -> None:
    found = index_module(CLASS).statements[1]
    assert isinstance(found, ClassIndex)
    assert (found.name, found.first_line, found.last_line, found.inline) == ("C", 3, 24, False)
    assert [(m.first_line, m.last_line, m.kind, sorted(m.binds)) for m in found.members] == [
        (7, 7, "expr", []),
        (10, 10, "assign", ["x"]),
        (11, 11, "assign", ["y", "z"]),
        (13, 14, "def", ["p"]),
        (16, 18, "def", ["p"]),
        (20, 21, "class", ["Inner"]),
        (23, 23, "compound", ["q"]),
        (24, 24, "expr", []),
    ]
    assert found.names["p"] == (3, 4)
    assert found.names["z"] == (2, 7)
    inner = found.members[5]
    assert isinstance(inner, ClassIndex)
    assert inner.names == {"w": (0,)}


def test_a_class_header_is_lowered_without_its_body() -> None:
    found = index_module(CLASS).statements[1]
    assert isinstance(found, ClassIndex)
    assert class_header(CLASS, found) == tree.ClassDef(
        4,
        "C",
        (tree.Arg(tree.Name(5, "B")), tree.Arg(tree.Name(5, "M"), "metaclass")),
        (),
        (tree.Call(3, tree.Name(3, "register"), (tree.Arg(tree.Const(3, "c")),)),),
    )


def test_a_member_is_lowered_by_itself() -> None:
    found = index_module(CLASS).statements[1]
    assert isinstance(found, ClassIndex)
    (setter,) = member_block(CLASS, found, found.members[4])
    assert isinstance(setter, tree.FunctionDef)
    assert (setter.line, setter.name, len(setter.decorators)) == (17, "p", 1)


@pytest.mark.parametrize("text", ["class C(B): x = 1; y = 2\n", "class C(\n    B,\n): x = 1; y = (\n2)\n"])
def test_a_body_on_the_line_of_its_header(text: str) -> None:
    found = only_class(text)
    assert found.inline
    assert class_header(text, found).body == ()
    (member,) = found.members
    assert member.binds == {"x", "y"}
    assert len(member_block(text, found, member)) == 2


@pytest.mark.parametrize("indent", ["  ", "\t"])
def test_a_class_inside_other_statements_is_indexed_on_demand(indent: str) -> None:
    text = (
        f"if a:\n{indent}@d\n{indent}class C(B):\n{indent * 2}x = '''\n'''\n\n{indent * 2}def f(self): pass\n"
    )
    found = index_class(text, 2, 7)
    assert [(m.first_line, m.last_line) for m in found.members] == [(4, 5), (7, 7)]
    assert class_header(text, found).decorators == (tree.Name(2, "d"),)
    (method,) = member_block(text, found, found.members[1])
    assert method.line == 7


def test_lines_that_hold_no_class_are_refused() -> None:
    with pytest.raises(SourceSyntaxError, match="line 2: no class"):
        index_class("x = 1\ny = 2\n", 2, 2)


# --- the whole


def rebuilt(text: str, found: ClassIndex) -> tree.ClassDef:
    body: list[tree.Node] = []
    for member in found.members:
        if isinstance(member, ClassIndex):
            body.append(rebuilt(text, member))
        else:
            body += member_block(text, found, member)
    return replace(class_header(text, found), body=tuple(body))


def test_the_pieces_of_a_module_lower_to_the_whole() -> None:
    text = SAMPLE.read_text("utf-8")
    pieces: list[tree.Node] = []
    for statement in index_module(text).statements:
        if isinstance(statement, ClassIndex):
            pieces.append(rebuilt(text, statement))
        else:
            pieces += statement_block(text, statement)
    assert repr(tuple(pieces)) == repr(lower_block(text, 1))


@pytest.mark.parametrize(
    ("text", "line"),
    [("x = 1\ny = = 2\n", 2), ("x = 1\n  y\n", 2), ("a\x00b", 1), ("x = '''\n\n", 1), ("(" * 500, 1)],
)
def test_what_is_not_python_names_its_line(text: str, line: int) -> None:
    with pytest.raises(SourceSyntaxError) as caught:
        index_module(text)
    assert caught.value.line == line
    assert str(caught.value).startswith(f"line {line}: ")


def test_a_strangers_invalid_escapes_warn_nobody() -> None:
    assert only("x = '\\d'").binds == {"x"}


def test_indexing_does_not_import_libcst() -> None:
    code = "import sys, qtrace.tracer.index as i; i.index_module('x = 1'); print('libcst' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "False"
